import { assert, describe, it } from "@effect/vitest"
import * as LineKey from "@reprise/ingress/LineKey"
import { Effect, Fiber, Redacted, Stream } from "effect"
import { inspect } from "node:util"
import { type Answer, client, clients, json, serve } from "./scripted.ts"

const main = { session: "s1", sub: "" }
const line = LineKey.lineAt(1, Buffer.from('{"uuid":"u1","n":1.0}'))
const stored = json({ head: "u1", seq: 1, duplicate: false }, 201, {
  "x-last-uuid": "u1",
  "x-last-seq": "1",
  "x-writer-epoch": "0",
  "x-backend-id": "b1"
})

describe.each(Object.entries(clients))("over %s", (_, client) => {
  /** A client of one server that gives these answers, one after the other, the last one for ever. */
  const scripted = Effect.fnUntraced(function* (...answers: ReadonlyArray<Answer>) {
    let at = 0
    const server = yield* serve(() => answers[Math.min(at++, answers.length - 1)]!)
    return { ...(yield* client([server.url])), ...server }
  })

  describe("addresses", () => {
    const refused = Effect.fnUntraced(function* (...urls: ReadonlyArray<string>) {
      return (yield* Effect.flip(client(urls))).message
    })

    it.effect("plain http stays on this machine, unless it is allowed", () =>
      Effect.gen(function* () {
        assert.include(yield* refused("http://ingress.example"), "Take https")
        assert.include(yield* refused("https://a.example", "http://127.0.0.1.example/x"), "Take https")
        for (const url of [
          "http://127.0.0.1:4780",
          "http://localhost",
          "http://[::1]:1/",
          "https://ingress.example/base/"
        ])
          assert.deepStrictEqual((yield* client([url])).urls, [url.replace(/\/$/, "")])
        yield* client(["http://ingress.example"], { allowPlainHttp: true })
        const printed = ["https://a.example/v1/session_ingress", "https://a.example/b/v1/session_ingress/session/s1"]
        assert.deepStrictEqual((yield* client(printed)).urls, ["https://a.example", "https://a.example/b"])
      })
    )

    it.effect("what is none says so", () =>
      Effect.gen(function* () {
        assert.include(yield* refused(), "no address at all")
        assert.include(yield* refused("ingress.example"), "no URL of HTTP")
        assert.include(yield* refused("ftp://ingress.example"), "no URL of HTTP")
        assert.include(yield* refused("https://user:pass@ingress.example"), "a password in it")
      })
    )

    it.live("one that does not answer, or has no store, is left for the next, which is stayed with", () =>
      Effect.gen(function* () {
        const away = yield* serve(() => ({ status: 503 }))
        const broken = yield* serve(() => ({ break: true }))
        const good = yield* serve(() => stored)
        const { append } = yield* client(["http://127.0.0.1:1", away.url, broken.url, good.url])
        for (let i = 0; i < 3; i++) yield* append(main, { lines: [line] })
        assert.deepStrictEqual([away.asked.length, broken.asked.length, good.asked.length], [1, 1, 3])
        good.close()
        assert.strictEqual((yield* Effect.flip(append(main, { lines: [line] })))._tag, "Unreachable")
        assert.deepStrictEqual([away.asked.length, broken.asked.length], [2, 2])
      })
    )

    it.live("a server that does not answer is not waited for", () =>
      Effect.gen(function* () {
        const { url } = yield* serve(() => ({ hang: true }))
        const { append } = yield* client([url], { timeout: "100 millis" })
        const error = yield* Effect.flip(append(main, { lines: [line] }))
        assert.strictEqual(error._tag, "Unreachable")
        assert.include(error.message, "it took too long")
      })
    )

    it.live("nobody is there: what was found is said", () =>
      Effect.gen(function* () {
        const { append } = yield* client(["http://127.0.0.1:1"])
        const { message } = yield* Effect.flip(append(main, { lines: [line] }))
        assert.match(message, /expected an answer of http:\/\/127\.0\.0\.1:1, found none: (ECONNREFUSED|\w+)/)
      })
    )
  })

  describe("tokens", () => {
    it.live("one that is refused is asked for again, once", () =>
      Effect.gen(function* () {
        const { asked, url } = yield* serve(({ headers }) =>
          headers.authorization === "Bearer t2" ? stored : json({}, 401)
        )
        let count = 0
        const token = Effect.sync(() => Redacted.make(`t${++count}`))
        const { append } = yield* client([url], { token })
        yield* append(main, { lines: [line] })
        yield* append(main, { lines: [line] })
        assert.deepStrictEqual(
          [asked.map((one) => one.headers.authorization), count],
          [["Bearer t1", "Bearer t2", "Bearer t2"], 2]
        )
      })
    )

    it.live("one that stays refused is an error, which does not hold it", () =>
      Effect.gen(function* () {
        const { append, asked } = yield* scripted(json({ error: { type: "unauthorized", message: "no" } }, 401))
        const error = yield* Effect.flip(append(main, { lines: [line] }))
        assert.strictEqual(error._tag, "Unauthorized")
        assert.strictEqual(asked.length, 2)
        assert.notInclude(inspect(error, { depth: Infinity }), "sli_secret")
        const broken = yield* scripted({ break: true })
        const unreachable = yield* Effect.flip(broken.append(main, { lines: [line] }))
        assert.notInclude(inspect(unreachable, { depth: Infinity }), "sli_secret")
      })
    )
  })

  describe("appending", () => {
    it.live("lines go as they were written, compressed when they are long, with all that the protocol asks for", () =>
      Effect.gen(function* () {
        const { append, asked } = yield* scripted(stored)
        const count = Array.from({ length: 1000 }, (_, i) => i).join(" ")
        const long = LineKey.lineAt(2, Buffer.from(`{"uuid":"u2","text":"${count}"}`))
        const sending = append(
          { session: "s1", sub: "x/a1" },
          { lines: [line, long], lastUuid: "u0", writer: { id: "w", epoch: 3 }, backend: "b1" }
        )
        const [done, { traceId }] = yield* Effect.withSpan(Effect.all([sending, Effect.currentSpan]), "turn")
        assert.deepStrictEqual(done, { head: "u1", seq: 1, backend: "b1", duplicate: false })
        const [{ body, headers, method, url }] = asked as [(typeof asked)[0]]
        assert.deepStrictEqual([method, url], ["PUT", "/v1/session_ingress/session/s1"])
        assert.strictEqual(body, `{"k":"u1","e":{"uuid":"u1","n":1.0}}\n{"k":"u2","e":${long.text}}\n`)
        assert.deepStrictEqual(
          [
            headers["content-type"],
            headers["content-encoding"],
            headers["last-uuid"],
            headers["x-stream"],
            headers["x-writer"],
            headers["x-backend-id"]
          ],
          ["application/x-ndjson", "gzip", "u0", "x/a1", "w;3", "b1"]
        )
        assert.strictEqual((headers.traceparent as string).split("-")[1], traceId.padStart(32, "0"))
        yield* append(main, { lines: [line] })
        const { headers: next } = asked[1]!
        assert.deepStrictEqual(
          ["content-encoding", "last-uuid", "x-stream", "x-writer", "x-backend-id"].filter((name) => name in next),
          []
        )
        // A server would take so much growth for an attack.
        yield* append(main, { lines: [LineKey.lineAt(3, Buffer.from(`{"uuid":"u3","text":"${"x".repeat(99_999)}"}`))] })
        assert.isUndefined(asked[2]!.headers["content-encoding"])
      })
    )

    it.live("of a stream one request is on its way at a time; other streams do not wait for it", () =>
      Effect.gen(function* () {
        let now = 0
        let most = 0
        const { url } = yield* serve(async () => {
          most = Math.max(most, ++now)
          await new Promise((resolve) => setTimeout(resolve, 30))
          now--
          return stored
        })
        const { append, put } = yield* client([url])
        const both = Effect.all([append(main, { lines: [line] }), put("s1", line.text, undefined)], { concurrency: 2 })
        yield* both
        assert.strictEqual(most, 1)
        const other = { session: "s1", sub: "a" }
        yield* Effect.all([both, append(other, { lines: [line] })], { concurrency: 2 })
        assert.strictEqual(most, 2)
      })
    )

    it.live("one that is interrupted while it waits lets the next one go", () =>
      Effect.gen(function* () {
        const answers: Array<Answer> = [{ hang: true }, stored]
        const { url } = yield* serve(() => answers.shift() ?? stored)
        const { append } = yield* client([url])
        const first = yield* Effect.forkChild(append(main, { lines: [line] }))
        const second = yield* Effect.forkChild(append(main, { lines: [line] }))
        yield* Effect.sleep("50 millis")
        yield* Fiber.interrupt(first)
        assert.strictEqual((yield* Fiber.join(second)).seq, 1)
      })
    )

    it.live("in the compat profile the answer is where the log ends", () =>
      Effect.gen(function* () {
        const { asked, put } = yield* scripted(json({}, 200), { status: 201 }, json({}, 409, { "x-last-uuid": "u9" }), {
          status: 409,
          body: "no"
        })
        assert.deepStrictEqual(yield* put("s1", line.text, undefined), { _tag: "Stored" })
        assert.deepStrictEqual(yield* put("s1", line.text, "u0"), { _tag: "Stored" })
        assert.deepStrictEqual(yield* put("s1", line.text, "u0"), { _tag: "Refused", head: "u9" })
        assert.deepStrictEqual(yield* put("s1", line.text, "u0"), { _tag: "Refused", head: undefined })
        assert.deepStrictEqual(
          asked.map(({ body, headers }) => [body, headers["last-uuid"], headers["content-type"]]),
          [undefined, "u0", "u0", "u0"].map((last) => [line.text, last, "application/json"])
        )
      })
    )

    const failures: ReadonlyArray<readonly [answer: Answer, tag: string, retryAfter?: number]> = [
      [json({ error: { type: "head-mismatch", message: "" }, lastUuid: "u5", seq: 5 }, 409), "HeadMismatch"],
      [json({ error: { type: "stale-epoch", message: "" }, epoch: 4 }, 403), "StaleEpoch"],
      [json({ error: { type: "key-reused", message: "" }, keys: ["u1"] }, 422), "KeyReused"],
      [json({ error: { type: "deleted", message: "" } }, 410), "Deleted"],
      [json({ error: { type: "too-large", message: "" }, what: "line", limit: 9 }, 413), "TooLarge"],
      [json({ error: { type: "unavailable", message: "" }, retryAfter: 7 }, 503), "Unavailable", 7],
      [{ status: 503, headers: { "retry-after": "5" } }, "Unavailable", 5],
      [{ status: 429, headers: { "retry-after": "6" } }, "TooManyRequests", 6],
      [{ status: 429, headers: { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" } }, "TooManyRequests", 1],
      [{ status: 502, body: "<html>bad gateway</html>" }, "Unavailable", 0],
      [{ status: 400, body: "what?" }, "BadRequest"],
      [{ status: 404 }, "NotFound"],
      [{ status: 410 }, "Deleted"],
      [{ status: 413, body: "nginx" }, "TooLarge"],
      [{ status: 403, body: "forbidden by a wall" }, "UnexpectedAnswer"],
      [{ status: 418 }, "UnexpectedAnswer"]
    ]
    for (const [answer, tag, retryAfter] of failures)
      it.live(`${answer.status} ${String(answer.body ?? "").slice(0, 30)} is ${tag}`, () =>
        Effect.gen(function* () {
          const { append } = yield* scripted(answer)
          const error = yield* Effect.flip(append(main, { lines: [line] }))
          assert.strictEqual(error._tag, tag)
          if (retryAfter !== undefined)
            assert.strictEqual((error as { readonly retryAfter?: number }).retryAfter, retryAfter)
        })
      )
  })

  describe("reading", () => {
    const page = (body: ReadonlyArray<string>, seq: number): Answer => ({
      headers: { "content-type": "application/x-ndjson", "x-last-seq": String(seq) },
      body: body.map((text) => `${text}\n`).join("")
    })
    const lines = ['{"k":"u1","e":{"uuid":"u1","n":1.0}}', '{"k":"~x","b":"dG9ybg=="}', '{"k":"u2","e":{"uuid":"u2"}}']
    const more = '{"c":"c1","end":false}'
    const end = '{"c":"c2","end":true}'

    it.live("lines come page after page, to the end", () =>
      Effect.gen(function* () {
        const { asked, lines: read } = yield* scripted(page([...lines.slice(0, 2), more], 3), page([lines[2]!, end], 3))
        const all = yield* Stream.runCollect(read({ session: "s1", sub: "x/a" }))
        assert.deepStrictEqual(
          all.map(({ text }) => text),
          ['{"uuid":"u1","n":1.0}', "dG9ybg==", '{"uuid":"u2"}']
        )
        assert.deepStrictEqual(
          asked.map(({ url }) => url),
          ["stream=x%2Fa", "stream=x%2Fa&after=c1"].map((query) => `/v1/session_ingress/session/s1?${query}`)
        )
        assert.strictEqual(asked[0]!.headers.accept, "application/x-ndjson")
      })
    )

    const broken: ReadonlyArray<readonly [what: string, answers: ReadonlyArray<Answer>, tag: string]> = [
      ["without its checkpoint", [page(lines, 3)], "NotALog"],
      ["with fewer lines than the remote has", [page([lines[0]!, end], 3)], "NotALog"],
      ["that leads nowhere", [page([more], 3)], "NotALog"],
      ["of another kind", [json({ loglines: [] })], "NotALog"],
      ["that is cut", [{ ...page(lines.slice(0, 2), 3), break: true }], "Unreachable"],
      ["whose second part fails", [page([lines[0]!, more], 3), { status: 401 }], "Unauthorized"],
      ["whose second part is gone", [page([lines[0]!, more], 3), { status: 404 }], "NotFound"],
      ["with garbage in it", [page([lines[0]!, '{"k":', end], 3)], "NotALog"]
    ]
    for (const [what, answers, tag] of broken)
      it.live(`a page ${what} is no log`, () =>
        Effect.gen(function* () {
          const { lines: read } = yield* scripted(...answers)
          assert.strictEqual((yield* Effect.flip(Stream.runDrain(read(main))))._tag, tag)
        })
      )

    it.live("an answer that stops half way is not waited for", () =>
      Effect.gen(function* () {
        const { url } = yield* serve(() => ({ hang: true }))
        const { loglines } = yield* client([url], { timeout: "100 millis" })
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(loglines("s1"))))._tag, "Unreachable")
      })
    )

    it.live("streams, claims, sessions and deletion", () =>
      Effect.gen(function* () {
        const info = { head: null, seq: 0, bytes: 0, updatedAt: 0 }
        const session = { session: "s1", epoch: 0, head: null, seq: 1, bytes: 1, updatedAt: 1, summary: { title: "t" } }
        const backend = { "x-backend-id": "b1" }
        const remote = yield* scripted(
          json({ epoch: 2, streams: [{ stream: "../x", ...info }] }, 200, backend),
          json({ epoch: 3, head: "u1", seq: 4 }, 200, backend),
          json({ sessions: [session], next_cursor: "c" }),
          json({ sessions: [{ ...session, session: "s2" }], next_cursor: null }),
          { status: 204 },
          json({ epoch: "no" })
        )
        assert.deepStrictEqual(yield* remote.streams("s1"), {
          epoch: 2,
          streams: [{ stream: "../x", bytes: 0, updatedAt: 0, head: undefined, seq: 0, backend: "b1" }]
        })
        assert.deepStrictEqual(yield* remote.claim("s1", "w"), { epoch: 3, head: "u1", seq: 4, backend: "b1" })
        const all = yield* Stream.runCollect(remote.sessions("-work"))
        assert.deepStrictEqual(
          all.map((one) => one.session),
          ["s1", "s2"]
        )
        yield* remote.remove("s1")
        assert.strictEqual((yield* Effect.flip(remote.claim("s1", "w")))._tag, "UnexpectedAnswer")
        assert.deepStrictEqual(
          remote.asked.map(({ method, url }) => `${method} ${url.replace("/v1/session_ingress", "")}`),
          [
            "GET /session/s1/streams",
            "POST /session/s1/writers",
            "GET /sessions?project=-work",
            "GET /sessions?project=-work&cursor=c",
            "DELETE /session/s1",
            "POST /session/s1/writers"
          ]
        )
      })
    )
  })
})

describe("over node:http", () => {
  it.live("one connection is kept, until the scope ends", () =>
    Effect.gen(function* () {
      const { open, url } = yield* serve(() => stored)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { append } = yield* client([url])
          for (let i = 0; i < 3; i++) yield* append(main, { lines: [line] })
          assert.strictEqual(open().all, 1)
        })
      )
      yield* Effect.sleep("50 millis")
      assert.deepStrictEqual(open(), { all: 1, now: 0 })
    })
  )

  it.live("one that is interrupted, or whose answer is not read to its end, gives its connection up", () =>
    Effect.gen(function* () {
      const long: Answer = { body: "x".repeat(3 << 20) }
      const answers: Array<Answer> = [{ hang: true }, { ...long, status: 418 }, long]
      const { open, url } = yield* serve(() => answers.shift()!)
      const { append, loglines } = yield* client([url])
      const waiting = yield* Effect.forkChild(append(main, { lines: [line] }))
      yield* Effect.sleep("50 millis")
      yield* Fiber.interrupt(waiting)
      assert.strictEqual((yield* Effect.flip(append(main, { lines: [line] })))._tag, "UnexpectedAnswer")
      yield* Stream.runDrain(Stream.take(loglines("s1"), 1))
      yield* Effect.sleep("50 millis")
      assert.deepStrictEqual(open(), { all: 3, now: 0 })
    })
  )
})
