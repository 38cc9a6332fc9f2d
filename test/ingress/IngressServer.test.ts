import { assert, layer } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import * as zlib from "node:zlib"
import { type Answer, ask, serve, Served } from "./serving.ts"

const json = { "content-type": "application/json" }
const ndjson = { "content-type": "application/x-ndjson" }
const entry = (uuid: string, more: object = {}) => JSON.stringify({ uuid, type: "user", ...more })
const line = (uuid: string, more?: object) => `{"k":"${uuid}","e":${entry(uuid, more)}}\n`

/** Somebody with a tenant of their own, and a session of it. */
const somebody = (...scopes: ReadonlyArray<string>) =>
  Effect.map(Served, ({ token }) => {
    const tenant = randomUUID()
    const mine = token(tenant, ...scopes)
    const with_ = (headers: object, last?: string) => ({ ...headers, ...(last !== undefined && { "last-uuid": last }) })
    return {
      tenant,
      put: (text: string, last?: string, path = "/session/s1") =>
        ask("PUT", path, { token: mine, body: text, headers: with_(json, last) }),
      batch: (text: string | Uint8Array, headers: object = {}, path = "/session/s1") =>
        ask("PUT", path, { token: mine, body: text, headers: { ...ndjson, ...headers } }),
      get: (path = "/session/s1", headers = {}) => ask("GET", path, { token: mine, headers }),
      ask: (method: string, path: string, body?: string) =>
        ask(method, path, { token: mine, headers: json, ...(body !== undefined && { body }) })
    }
  })

const is = (answer: Answer, status: number, type: string) =>
  assert.deepStrictEqual([answer.status, answer.json?.error?.type], [status, type], answer.text)

layer(serve(IngressStore.layerMemory), { excludeTestServices: true })("IngressServer", (it) => {
  it.effect("the compat profile: one entry a PUT, and its uuid is its key", () =>
    Effect.gen(function* () {
      const { get, put } = yield* somebody()
      const first = yield* put(entry("a"))
      assert.deepStrictEqual([first.status, first.json], [201, { head: "a", seq: 1, duplicate: false }])
      assert.strictEqual(first.headers.get("x-last-uuid"), "a")
      const again = yield* put(entry("a"), "x")
      assert.deepStrictEqual([again.status, again.json.duplicate], [200, true])
      const moved = yield* put(entry("c"), "x")
      is(moved, 409, "head-mismatch")
      assert.strictEqual(moved.headers.get("x-last-uuid"), "a")
      assert.strictEqual((yield* put(entry("b"), "a")).status, 201)
      const other = yield* put(entry("a", { other: true }), "b")
      assert.deepStrictEqual([other.status, other.headers.get("x-entry-mismatch")], [200, "a"])
      assert.deepStrictEqual((yield* get()).json, { loglines: [JSON.parse(entry("a")), JSON.parse(entry("b"))] })
    })
  )

  it.effect("an entry keeps its text, but for breaks between its tokens", () =>
    Effect.gen(function* () {
      const { get, put } = yield* somebody()
      const text = String.raw`{"uuid":"a","n":1.0,"s":"\/\u00e9é\n"}`
      yield* put(text)
      yield* put('{\n  "uuid": "b",\r\n  "n": 1.0\n}\n', "a")
      assert.strictEqual((yield* get()).text, `{"loglines":[${text},{   "uuid": "b",   "n": 1.0 }]}\n`)
    })
  )

  it.effect("the native profile: a batch of lines, behind a head, from a writer with an epoch", () =>
    Effect.gen(function* () {
      const { ask, batch, get } = yield* somebody()
      const claimed = yield* ask("POST", "/session/s1/writers", '{"writerId":"w1"}')
      assert.deepStrictEqual(claimed.json, { epoch: 1, head: null, seq: 0 })
      const answer = yield* batch(`${line("a")}{"k":"o:1","e":{"type":"tag","tag":"x"}}\n{"k":"o:2","b":"e3Rvcm4="}`, {
        "x-writer": "w1;1"
      })
      assert.deepStrictEqual([answer.status, answer.json], [201, { head: "a", seq: 3, duplicate: false }])
      assert.strictEqual(answer.headers.get("x-writer-epoch"), "1")
      const stale = yield* batch(line("b"), { "last-uuid": "a" })
      is(stale, 403, "stale-epoch")
      assert.deepStrictEqual([stale.json.epoch, stale.headers.get("x-writer-epoch")], [1, "1"])
      is(yield* batch(line("a", { other: true }), { "last-uuid": "a", "x-writer": "w1;1" }), 422, "key-reused")
      const page = yield* get("/session/s1", { accept: "application/x-ndjson" })
      assert.match(
        page.text,
        /^\{"k":"a".*\n\{"k":"o:1".*\n\{"k":"o:2","b":"e3Rvcm4="\}\n\{"c":"[\w-]+","end":true\}\n$/
      )
    })
  )

  it.effect("both profiles share a session; what is no entry is not among the loglines", () =>
    Effect.gen(function* () {
      const { batch, get, put } = yield* somebody()
      yield* put(entry("a"))
      yield* batch(`${line("b")}{"k":"o:1","b":"e3Rvcm4="}\n`, { "last-uuid": "a" })
      yield* put(entry("c"), "b")
      assert.deepStrictEqual(
        (yield* get()).json.loglines.map(({ uuid }: { readonly uuid: string }) => uuid),
        ["a", "b", "c"]
      )
    })
  )

  it.effect("streams of agents are asked for by a header, or where reading by the query", () =>
    Effect.gen(function* () {
      const { batch, get } = yield* somebody()
      yield* batch(line("a"))
      yield* batch(line("b"), { "x-stream": "x/a1" })
      assert.strictEqual((yield* get("/session/s1?stream=x/a1")).json.loglines[0].uuid, "b")
      assert.strictEqual((yield* get("/session/s1", { "x-stream": "x/a1" })).json.loglines[0].uuid, "b")
      const { epoch, streams } = (yield* get("/session/s1/streams")).json
      assert.strictEqual(epoch, 0)
      assert.deepStrictEqual(
        streams.map(({ head, seq, stream }: any) => [stream, head, seq]),
        [
          ["", "a", 1],
          ["x/a1", "b", 1]
        ]
      )
    })
  )

  it.effect("pages are read by cursors, as lines and as JSON", () =>
    Effect.gen(function* () {
      const { batch, get } = yield* somebody()
      yield* batch([..."abcde"].map((uuid) => line(uuid)).join(""))
      const first = yield* get("/session/s1?limit=2")
      assert.deepStrictEqual([first.json.loglines.length, first.json.has_more], [2, true])
      const next = yield* get(`/session/s1?limit=2&after=${first.json.next_cursor}`, { accept: "application/x-ndjson" })
      assert.match(next.text, /^\{"k":"c".*\n\{"k":"d".*\n\{"c":"[\w-]+","end":false\}\n$/)
      const cursor = next.headers.get("x-cursor")
      const last = yield* get(`/session/s1?after=${cursor}`)
      assert.deepStrictEqual([last.json.loglines.length, last.json.has_more], [1, false])
      assert.deepStrictEqual([last.headers.get("x-end"), last.headers.get("x-last-uuid")], ["true", "e"])
      for (const after of ["x", "YjEgNA"]) is(yield* get(`/session/s1?after=${after}`), 400, "bad-request")
      for (const limit of ["0", "-1", "x", "1e3"]) is(yield* get(`/session/s1?limit=${limit}`), 400, "bad-request")
    })
  )

  it.effect("after the last compaction there is what is wanted of it", () =>
    Effect.gen(function* () {
      const { batch, get } = yield* somebody()
      const boundary = { type: "system", subtype: "compact_boundary", compactMetadata: {} }
      yield* batch(`${line("a")}{"k":"o:1","e":{"type":"tag","tag":"x"}}\n${line("b", boundary)}${line("c")}`)
      const { loglines } = (yield* get("/session/s1?after_last_compact=true")).json
      assert.deepStrictEqual(
        loglines.map((one: any) => one.uuid ?? one.tag),
        ["x", "b", "c"]
      )
      assert.strictEqual((yield* get("/session/s1?after_last_compact=false")).json.loglines.length, 4)
    })
  )

  it.effect("HEAD says where a stream ends, and in which store", () =>
    Effect.gen(function* () {
      const { ask, put } = yield* somebody()
      assert.strictEqual((yield* ask("HEAD", "/session/s1")).status, 404)
      yield* put(entry("a"))
      const { headers, status, text } = yield* ask("HEAD", "/session/s1")
      assert.deepStrictEqual([status, text], [200, ""])
      const { backendId } = yield* IngressStore.IngressStore
      assert.deepStrictEqual(
        ["x-last-uuid", "x-last-seq", "x-writer-epoch", "x-backend-id"].map((name) => headers.get(name)),
        ["a", "1", "0", backendId]
      )
    })
  )

  it.effect("who knows the stream from another store appends nothing", () =>
    Effect.gen(function* () {
      const { batch, get } = yield* somebody()
      const { backendId } = yield* IngressStore.IngressStore
      const refused = yield* batch(line("a"), { "x-backend-id": "another" })
      is(refused, 409, "head-mismatch")
      assert.deepStrictEqual([refused.json.seq, refused.json.backend], [0, backendId])
      is(yield* get(), 404, "not-found")
      assert.strictEqual((yield* batch(line("a"), { "x-backend-id": backendId })).status, 201)
      is(yield* batch(line("b"), { "last-uuid": "*", "x-backend-id": "another" }), 409, "head-mismatch")
    })
  )

  it.effect("a deleted session is gone, for ever", () =>
    Effect.gen(function* () {
      const { ask, get, put } = yield* somebody()
      is(yield* ask("DELETE", "/session/s1"), 404, "not-found")
      yield* put(entry("a"))
      assert.strictEqual((yield* ask("DELETE", "/session/s1")).status, 204)
      is(yield* get(), 410, "deleted")
      is(yield* put(entry("b"), "a"), 410, "deleted")
      is(yield* ask("POST", "/session/s1/writers", '{"writerId":"w"}'), 410, "deleted")
    })
  )

  it.effect("sessions are listed with what is said in them, page by page", () =>
    Effect.gen(function* () {
      const { get, put } = yield* somebody()
      for (const id of ["s1", "s2", "s3"])
        yield* put(
          entry("a", { cwd: "/w", message: { role: "user", content: `in ${id}` } }),
          undefined,
          `/session/${id}`
        )
      const first = (yield* get("/sessions?limit=2&project=-w")).json
      assert.deepStrictEqual(
        first.sessions.map(({ head, session, summary }: any) => [session, head, summary.title]),
        [
          ["s1", "a", "in s1"],
          ["s2", "a", "in s2"]
        ]
      )
      const second = (yield* get(`/sessions?limit=2&cursor=${first.next_cursor}`)).json
      assert.deepStrictEqual([second.sessions.length, second.next_cursor], [1, null])
      assert.deepStrictEqual((yield* get("/sessions?project=-other")).json.sessions, [])
      is(yield* get("/sessions?cursor=x"), 400, "bad-request")
    })
  )

  it.effect("names that are none never get behind the door", () =>
    Effect.gen(function* () {
      const { batch, get, put } = yield* somebody()
      for (const id of ["..%2f..%2fetc", "a%00b", ".hidden", "a%20b", "x".repeat(129), "-a"])
        is(yield* put(entry("a"), undefined, `/session/${id}`), 400, "bad-request")
      for (const sub of ["../x", "a//b", "/a", "a/b/c/d/e", "a.b", "a/"]) {
        is(yield* batch(line("a"), { "x-stream": sub }), 400, "bad-request")
        is(yield* get(`/session/s1?stream=${encodeURIComponent(sub)}`), 400, "bad-request")
      }
      is(yield* get(), 404, "not-found")
      assert.strictEqual((yield* put(entry("a"), undefined, `/session/${"x".repeat(128)}`)).status, 201)
    })
  )

  it.effect("what is no batch is refused, with the line and what was expected", () =>
    Effect.gen(function* () {
      const { batch, get, put } = yield* somebody()
      const bad = yield* batch(`${line("a")}not a line\n`)
      is(bad, 400, "bad-request")
      assert.deepStrictEqual([bad.json.line, /expected \{"k"/.test(bad.json.detail)], [2, true])
      for (const body of ["\n", `${line("a")}\n${line("b")}`, '{"k":"a","e":7}\n', '{"e":{},"k":"a"}\n'])
        is(yield* batch(body), 400, "bad-request")
      is(yield* batch(Uint8Array.of(0x7b, 0xff, 0x7d)), 400, "bad-request")
      for (const body of [
        "",
        "[]",
        "7",
        "{",
        '{"type":"user"}',
        '{"uuid":""}',
        '{"uuid":"*"}',
        `${entry("a")}${entry("b")}`
      ])
        is(yield* put(body), 400, "bad-request")
      for (const writer of ["w1", ";1", "w;x"]) is(yield* batch(line("a"), { "x-writer": writer }), 400, "bad-request")
      is(yield* get(), 404, "not-found")
    })
  )

  it.effect("a compressed batch is the same batch", () =>
    Effect.gen(function* () {
      const { batch, get } = yield* somebody()
      const packed = zlib.gzipSync(line("a") + line("b"))
      assert.strictEqual((yield* batch(packed, { "content-encoding": "gzip" })).status, 201)
      assert.strictEqual((yield* get()).json.loglines.length, 2)
      is(yield* batch(packed.subarray(0, 20), { "content-encoding": "gzip" }), 400, "bad-request")
      is(yield* batch(line("c"), { "content-encoding": "gzip" }), 400, "bad-request")
      is(yield* batch(line("c"), { "content-encoding": "br" }), 400, "bad-request")
    })
  )

  it.effect("without a token there is nothing, and a token opens what its scopes name", () =>
    Effect.gen(function* () {
      for (const path of ["/session/s1", "/session/.x", "/sessions", "/session/s1/streams"])
        is(yield* ask("GET", path), 401, "unauthorized")
      is(yield* ask("GET", "/sessions", { token: "nobody" }), 401, "unauthorized")

      const writer = yield* somebody("append:session/s1")
      assert.strictEqual((yield* writer.put(entry("a"))).status, 201)
      assert.strictEqual((yield* writer.ask("HEAD", "/session/s1")).status, 200)
      is(yield* writer.put(entry("a"), undefined, "/session/s2"), 403, "forbidden")
      is(yield* writer.get(), 403, "forbidden")
      is(yield* writer.get("/sessions"), 403, "forbidden")
      is(yield* writer.ask("DELETE", "/session/s1"), 403, "forbidden")

      const reader = yield* somebody("read", "list")
      is(yield* reader.put(entry("a")), 403, "forbidden")
      is(yield* reader.ask("POST", "/session/s1/writers", '{"writerId":"w"}'), 403, "forbidden")
      is(yield* reader.get(), 404, "not-found")
      assert.strictEqual((yield* reader.get("/sessions")).status, 200)
    })
  )

  it.effect("who runs it needs no token to watch it, and learns of nobody", () =>
    Effect.gen(function* () {
      const { put, tenant } = yield* somebody()
      yield* put(entry("a"))
      assert.strictEqual((yield* ask("GET", "/health")).status, 204)
      assert.strictEqual((yield* ask("GET", "/ready")).status, 204)
      const { text } = yield* ask("GET", "/metrics")
      assert.match(text, /^ingress_appended_lines_total [1-9]/m)
      assert.match(text, /^ingress_requests_total\{.*status="201".*\} [1-9]/m)
      assert.match(text, /^ingress_request_seconds_bucket/m)
      assert.notInclude(text, tenant)
      const document = yield* ask("GET", "/openapi.json")
      assert.include(Object.keys(document.json.paths), "/v1/session_ingress/session/{id}")
      assert.strictEqual((yield* ask("GET", "/nothing")).status, 404)
    })
  )
})
