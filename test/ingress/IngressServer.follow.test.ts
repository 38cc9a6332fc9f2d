import { assert, layer } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import { append, native, newStream } from "@reprise/ingress/testing/store/lines"
import { Deferred, Effect, Queue, Stream } from "effect"
import * as http from "node:http"
import { ask, serve, Served } from "./serving.ts"

/** What a follower hears, line by line, from the answer's first byte on. */
const hear = (path: string, tenant: string, headers: Record<string, string> = {}) =>
  Stream.unwrap(
    Effect.map(Served, ({ token, url }) =>
      Stream.callback<string, Error>((queue) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const all = { authorization: `Bearer ${token(tenant)}`, ...headers }
            const request = http.get(`${url}${path}`, { headers: all, agent: false }, (response) => {
              Queue.offerUnsafe(queue, `status ${response.statusCode}`)
              let rest = ""
              response.setEncoding("utf8")
              response.on("data", (part: string) => {
                const lines = (rest + part).split("\n")
                rest = lines.pop()!
                for (const line of lines) Queue.offerUnsafe(queue, line)
              })
              response.on("end", () => Queue.endUnsafe(queue))
              response.on("error", () => Queue.endUnsafe(queue))
            })
            request.on("error", () => Queue.endUnsafe(queue))
            return request
          }),
          (request) => Effect.sync(() => request.destroy())
        )
      )
    )
  )

const until = <A>(stream: Stream.Stream<A, Error, Served>, last: (line: A) => boolean) =>
  Stream.runCollect(Stream.takeUntil(stream, last)).pipe(Effect.timeout("10 seconds"), Effect.orDie)
const keyOf = (line: string) => /"k":"([^"]*)"/.exec(line)?.[1]
const keys = (lines: ReadonlyArray<string>) => lines.flatMap((line) => keyOf(line) ?? []).join(" ")

layer(serve(IngressStore.layerMemory, { followers: 2, follow: 3_000 }), { excludeTestServices: true })(
  "following",
  (it) => {
    it.effect("hears what is there, and then what comes, each once and in order", () =>
      Effect.gen(function* () {
        const stream = newStream()
        yield* append(stream, native("a b"))
        const write = Effect.forEach(["c", "d .1", "~2 e"], (names, i) =>
          Effect.delay(append(stream, native(names, ["b", "c", "d"][i])), "20 millis")
        )
        const listen = until(hear("/session/s1?follow=ndjson", stream.tenant), (line) => keyOf(line) === "e")
        const [heard] = yield* Effect.all([listen, write], { concurrency: 2 })
        assert.strictEqual(keys(heard), "a b c d .1 ~2 e")
        assert.strictEqual(heard[0], "status 200")
      })
    )

    it.effect("who has nothing to hear is told at once that it listens", () =>
      Effect.gen(function* () {
        const stream = newStream()
        yield* IngressStore.IngressStore.use(({ claim }) => claim(stream.tenant, "s1", "w"))
        const heard = yield* until(hear("/session/s1?follow=ndjson", stream.tenant), (line) => line.startsWith("{"))
        assert.match(heard[1]!, /^\{"c":"[\w-]+","end":true\}$/)
      })
    )

    it.effect("who comes back with a checkpoint, or the id of an event, misses nothing and hears nothing twice", () =>
      Effect.gen(function* () {
        const stream = newStream()
        yield* append(stream, native("a b c"))
        const first = yield* until(hear("/session/s1?follow=ndjson", stream.tenant), (line) => line.includes('"c":'))
        const cursor = /"c":"([^"]*)"/.exec(first.at(-1)!)![1]!
        yield* append(stream, native("d", "c"))
        const again = hear(`/session/s1?follow=ndjson&after=${cursor}`, stream.tenant)
        assert.strictEqual(keys(yield* until(again, (line) => keyOf(line) === "d")), "d")

        const events = yield* until(
          hear("/session/s1", stream.tenant, { accept: "text/event-stream" }),
          (line) => keyOf(line) === "b"
        )
        assert.match(events[1]!, /^id: [\w-]+$/)
        assert.match(events[2]!, /^data: \{"k":"a"/)
        const id = events.findLast((line) => line.startsWith("id: "))!.slice(4)
        const rest = hear("/session/s1?follow=sse", stream.tenant, { "last-event-id": id })
        assert.strictEqual(keys(yield* until(rest, (line) => keyOf(line) === "d")), "c d")
      })
    )

    it.effect("ends by itself after its time, between two lines", () =>
      Effect.gen(function* () {
        const stream = newStream()
        yield* append(stream, native("a"))
        const began = Date.now()
        const heard = yield* until(hear("/session/s1?follow=ndjson", stream.tenant), () => false)
        assert.isTrue(Date.now() - began >= 2_600)
        assert.match(heard.at(-1)!, /^\{"c":/)
      })
    )

    it.effect("a session has so many followers and no more; who left makes room", () =>
      Effect.gen(function* () {
        const stream = newStream()
        yield* append(stream, native("a"))
        const isAnswered = (line: string) => line.startsWith("status")
        const follow = hear("/session/s1?follow=ndjson", stream.tenant)
        yield* Effect.scoped(
          Effect.gen(function* () {
            for (const _ of [1, 2]) {
              const answered = yield* Deferred.make<void>()
              const tell = (line: string) => (isAnswered(line) ? Deferred.succeed(answered, undefined) : Effect.void)
              yield* Effect.forkScoped(Stream.runForEach(follow, tell))
              yield* Deferred.await(answered)
            }
            const refused = yield* ask("GET", "/session/s1?follow=sse", { token: `${stream.tenant}~admin` })
            assert.deepStrictEqual([refused.status, refused.json.error.type], [429, "too-many-requests"])
            assert.strictEqual(refused.headers.get("retry-after"), "10")
          })
        )
        yield* Effect.repeat(Effect.delay(until(follow, isAnswered), "10 millis"), {
          until: ([status]) => status === "status 200"
        })
      })
    )

    it.effect("a session that is not there, or gone, is not followed", () =>
      Effect.gen(function* () {
        const stream = newStream()
        const status = Effect.map(
          until(hear("/session/s1?follow=ndjson", stream.tenant), (line) => line.startsWith("status")),
          ([first]) => first
        )
        assert.strictEqual(yield* status, "status 404")
        yield* append(stream, native("a"))
        yield* IngressStore.IngressStore.use(({ remove }) => remove(stream.tenant, "s1"))
        assert.strictEqual(yield* status, "status 410")
      })
    )
  }
)
