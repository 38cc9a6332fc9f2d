/**
 * Promises about many at the same time.
 */
import * as Effect from "effect/Effect"
import * as assert from "node:assert/strict"
import { IngressStore } from "../../IngressStore.ts"
import type { Promises } from "../IngressStoreSuite.ts"
import { append, fails, holds, keys, native, newStream, readAll } from "./lines.ts"

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

/** The promises, by their names. */
export const together: Promises = {
  "of those who append behind one line, one wins": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a"))
    const results = yield* Effect.forEach(numbers(16), (i) => Effect.result(append(stream, native(`n${i}`, "a"))), {
      concurrency: "unbounded"
    })
    const won = results.flatMap((result, i) => (result._tag === "Success" ? [`n${i}`] : []))
    assert.equal(won.length, 1)
    for (const result of results) if (result._tag === "Failure") assert.equal(result.failure._tag, "HeadMismatch")
    yield* holds(stream, `a ${won[0]}`)
  }),

  "the same line at the same time is stored once, and all succeed": Effect.gen(function* () {
    const stream = newStream()
    const answers = yield* Effect.forEach(numbers(16), () => append(stream, native("a b")), {
      concurrency: "unbounded"
    })
    assert.equal(answers.filter(({ duplicate }) => !duplicate).length, 1)
    assert.ok(answers.every(({ seq, uuid }) => seq === 2 && uuid === "b"))
    yield* holds(stream, "a b")
  }),

  "batches at the end stay whole, and each has its place": Effect.gen(function* () {
    const stream = newStream()
    const answers = yield* Effect.forEach(numbers(24), (i) => append(stream, native(`x${i} y${i} z${i}`, "*")), {
      concurrency: 8
    })
    const found = yield* readAll(stream)
    assert.equal(found.length, 72)
    for (const [i, { seq }] of answers.entries()) {
      assert.deepEqual(
        found.slice(seq - 3, seq).map(({ key }) => key),
        [`x${i}`, `y${i}`, `z${i}`]
      )
    }
  }),

  "one that is refused spoils nothing of those beside it": Effect.gen(function* () {
    const streams = numbers(12).map((i) => newStream(`s${i}`))
    for (const stream of streams) yield* append(stream, native("a"))
    yield* Effect.forEach(
      streams,
      (stream, i) =>
        i % 3 === 0
          ? Effect.asVoid(fails(append(stream, native("b", "x")), "HeadMismatch"))
          : i % 3 === 1
            ? Effect.asVoid(fails(append(stream, native("a' b", "a")), "KeyReused"))
            : Effect.asVoid(append(stream, native("b c", "a"))),
      { concurrency: "unbounded" }
    )
    for (const [i, stream] of streams.entries()) assert.equal(yield* keys(stream), i % 3 === 2 ? "a b c" : "a")
  }),

  "agents that begin at the same time make one session": Effect.gen(function* () {
    const stream = newStream()
    const subs = numbers(12).map((i) => `a${i}`)
    yield* Effect.forEach(subs, (sub) => append({ ...stream, sub }, native("x")), { concurrency: "unbounded" })
    const { sessions, streams } = yield* IngressStore
    assert.equal((yield* streams(stream.tenant, stream.session)).length, 13)
    assert.equal((yield* sessions(stream.tenant, { limit: 10 })).length, 1)
  }),

  "a reader beside writers sees no hole and no half of a batch": Effect.gen(function* () {
    const stream = newStream()
    const write = Effect.forEach(numbers(20), (i) => append(stream, native(`p${i} q${i}`, "*")), { concurrency: 4 })
    const look = Effect.forEach(numbers(20), () =>
      Effect.matchEffect(readAll(stream), {
        onFailure: ({ _tag }) => Effect.sync(() => assert.equal(_tag, "NotFound")),
        onSuccess: (all) =>
          Effect.sync(() => {
            assert.equal(all.length % 2, 0)
            for (const [i, { key, seq }] of all.entries()) {
              assert.equal(seq, i + 1)
              if (i % 2 === 1) assert.equal(key, all[i - 1]!.key.replace("p", "q"))
            }
          })
      })
    )
    yield* Effect.all([write, look], { concurrency: 2 })
  })
}
