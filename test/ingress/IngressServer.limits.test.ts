import { assert, describe, it } from "@effect/vitest"
import { Unavailable } from "@reprise/ingress/IngressError"
import * as IngressStore from "@reprise/ingress/IngressStore"
import { Deferred, Effect, Exit, Fiber, Layer, Logger, References, Scope } from "effect"
import type { HttpServer } from "effect/http"
import * as net from "node:net"
import * as zlib from "node:zlib"
import { ask, serve, Served } from "./serving.ts"

const json = { "content-type": "application/json" }
const ndjson = { "content-type": "application/x-ndjson" }
const token = "t1~admin"
const line = (key: string, text = "") => `{"k":"${key}","e":{"uuid":"${key}","text":"${text}"}}\n`
const put = (body: string | Uint8Array, headers: Record<string, string> = ndjson, id = "s1") =>
  ask("PUT", `/session/${id}`, { token, body, headers })

/** A store in memory whose appends wait until they are let go. */
const held = Effect.gen(function* () {
  const go = yield* Deferred.make<void>()
  const store = Layer.effect(
    IngressStore.IngressStore,
    Effect.map(IngressStore.IngressStore, (store) => ({
      ...store,
      append: (...args: Parameters<typeof store.append>) => Effect.andThen(Deferred.await(go), store.append(...args))
    }))
  ).pipe(Layer.provide(IngressStore.layerMemory))
  return { store, go: Deferred.succeed(go, undefined) }
})

describe("limits", () => {
  it.live("what is too large is refused with the limit, and nothing of it is stored", () =>
    Effect.gen(function* () {
      const is = (answer: { readonly status: number; readonly json: any }, what: string, limit: number) =>
        assert.deepStrictEqual([answer.status, answer.json?.what, answer.json?.limit], [413, what, limit])
      is(yield* put(line("a", "x".repeat(200))), "line", 150)
      is(yield* put(JSON.stringify({ uuid: "a", text: "x".repeat(200) }), json), "line", 150)
      is(yield* put(Array.from({ length: 5 }, (_, i) => line(`n${i}`)).join("")), "lines", 4)
      is(yield* put(line("a", "x".repeat(1_100))), "batch", 1_000)
      const bomb = zlib.gzipSync(Buffer.alloc(10_000_000, 0x20))
      is(yield* put(bomb.subarray(0, 900), { ...ndjson, "content-encoding": "gzip" }), "batch", 1_000)
      const small = zlib.gzipSync(line("a", "x".repeat(900)))
      is(yield* put(small, { ...ndjson, "content-encoding": "gzip" }), "ratio", 10)
      assert.strictEqual((yield* ask("GET", "/session/s1", { token })).status, 404)
      assert.strictEqual((yield* put(line("a", "x".repeat(100)))).status, 201)
    }).pipe(Effect.provide(serve(IngressStore.layerMemory, { line: 150, batch: 1_000, lines: 4, ratio: 10 })))
  )

  it.live("a body that says nothing of its length is no larger than others", () =>
    Effect.gen(function* () {
      const { port } = yield* Served
      const heard = yield* Effect.callback<string>((resume) => {
        const head = `PUT /v1/session_ingress/session/s1 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n`
        const socket = net.connect(port, "127.0.0.1", () => {
          socket.write(`${head}content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n`)
          for (let i = 0; i < 20; i++) socket.write(`400\r\n${"x".repeat(1024)}\r\n`)
        })
        let text = ""
        socket.on("data", (part) => {
          text += part.toString()
          if (text.includes("}")) socket.destroy()
        })
        socket.on("error", () => {})
        socket.on("close", () => resume(Effect.succeed(text)))
      })
      assert.match(heard, /^HTTP\/1.1 413 [^]*"too-large"/)
    }).pipe(Effect.provide(serve(IngressStore.layerMemory, { batch: 4_000 })))
  )

  it.live("a tenant that asks too often waits, and others do not wait for it", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.forEach(Array.from({ length: 8 }), () => ask("GET", "/sessions", { token }))
      const refused = answers.filter(({ status }) => status === 429)
      assert.isTrue(refused.length >= 2, `${refused.length} of 8`)
      assert.strictEqual(refused[0]!.json.error.type, "too-many-requests")
      assert.isTrue(Number(refused[0]!.headers.get("retry-after")) >= 1)
      assert.strictEqual((yield* ask("GET", "/sessions", { token: "t2~admin" })).status, 200)
    }).pipe(Effect.provide(serve(IngressStore.layerMemory, { burst: 4, rate: 0.5 })))
  )

  it.live("when too much waits for the store, more is sent away, and what waits is answered", () =>
    Effect.gen(function* () {
      const { go, store } = yield* held
      yield* Effect.gen(function* () {
        const waiting = yield* Effect.forEach(["a", "b"], (id) => Effect.forkChild(put(line("x"), ndjson, id)))
        yield* Effect.sleep("100 millis")
        const refused = yield* put(line("x"), ndjson, "c")
        assert.deepStrictEqual([refused.status, refused.json.error.type], [503, "unavailable"])
        assert.strictEqual(refused.headers.get("retry-after"), "1")
        yield* go
        for (const fiber of waiting) assert.strictEqual((yield* Fiber.join(fiber)).status, 201)
        assert.strictEqual((yield* put(line("x"), ndjson, "c")).status, 201)
      }).pipe(Effect.provide(serve(store, { queue: 2, patience: 50 })))
    })
  )
})

describe("a store that fails", () => {
  it.live("is unavailable to clients and readiness, and its reason is logged without any entry", () =>
    Effect.gen(function* () {
      const logged: Array<unknown> = []
      const cause = new Error('insert of {"secret":"entry"} failed', {
        cause: Object.assign(new Error("x"), { code: "EIO" })
      })
      const failing = Effect.fail(new Unavailable({ retryAfter: 1, cause }))
      const store = Layer.effect(
        IngressStore.IngressStore,
        Effect.map(IngressStore.IngressStore, (store) => ({ ...store, append: () => failing, probe: failing }))
      ).pipe(Layer.provide(IngressStore.layerMemory))
      const logger = Logger.make(
        ({ cause, logLevel, message, fiber }) =>
          void logged.push({ cause, logLevel, message, annotations: fiber.getRef(References.CurrentLogAnnotations) })
      )
      yield* Effect.gen(function* () {
        const answer = yield* put(line("a", "secret"))
        assert.deepStrictEqual([answer.status, answer.json.error.type], [503, "unavailable"])
        assert.notInclude(answer.text, "secret")
        const ready = yield* ask("GET", "/ready")
        assert.deepStrictEqual([ready.status, ready.headers.get("retry-after")], [503, "1"])
        assert.strictEqual((yield* ask("GET", "/health")).status, 204)
      }).pipe(Effect.provide(serve(store).pipe(Layer.provide(Logger.layer([logger])))))
      const text = JSON.stringify(logged)
      assert.match(text, /the store is not available.*"reason":"Error: EIO"/)
      assert.notInclude(text, "secret")
      assert.notInclude(text, token)
    })
  )
})

describe("beginning and end", () => {
  it.live("nobody can connect before the store is open, and then everybody is answered", () =>
    Effect.gen(function* () {
      const slow = Layer.effect(IngressStore.IngressStore, Effect.delay(IngressStore.IngressStore, "300 millis")).pipe(
        Layer.provide(IngressStore.layerMemory)
      )
      const port = yield* freePort
      const outcomes: Array<string> = []
      const knock = Effect.promise(() =>
        fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(3_000) }).then(
          ({ status }) => void outcomes.push(String(status)),
          (error) => void outcomes.push(error.cause?.code ?? error.name)
        )
      ).pipe(Effect.andThen(Effect.sleep("5 millis")))
      const knocking = yield* Effect.forkChild(Effect.forever(knock))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(serve(slow, {}, { port }))
          yield* Effect.sleep("200 millis")
          yield* Fiber.interrupt(knocking)
        })
      )
      assert.isEmpty(outcomes.filter((one) => !["ECONNREFUSED", "503", "204"].includes(one)))
      assert.strictEqual(outcomes[0], "ECONNREFUSED")
      assert.strictEqual(outcomes.at(-1), "204")
    })
  )

  it.live("who stops it waits for the requests that are on their way, and sends followers away", () =>
    Effect.gen(function* () {
      const { go, store } = yield* held
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(serve(store), scope)
      const here = <A, E>(effect: Effect.Effect<A, E, Served | HttpServer.HttpServer | IngressStore.IngressStore>) =>
        Effect.provideContext(effect, context)
      yield* here(IngressStore.IngressStore.use(({ claim }) => claim("t1", "s2", "w")))
      const following = yield* Effect.forkChild(here(ask("GET", "/session/s2?follow=ndjson", { token })))
      const putting = yield* Effect.forkChild(here(put(line("a"))))
      yield* Effect.sleep("100 millis")
      const stopped = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* Effect.timeout(Fiber.join(following), "5 seconds")
      yield* go
      const answer = yield* Effect.timeout(Fiber.join(putting), "5 seconds")
      assert.deepStrictEqual([answer.status, answer.headers.get("connection")], [201, "close"])
      yield* Effect.timeout(Fiber.join(stopped), "5 seconds")
      const refused = yield* here(ask("GET", "/health")).pipe(Effect.exit)
      assert.isTrue(Exit.isFailure(refused))
    })
  )
})

/** A port that nobody listens on, as far as one can know. */
const freePort = Effect.callback<number>((resume) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as net.AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})
