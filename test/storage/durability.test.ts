/** What the policies of the writer promise, and what a program that exits can do. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import { lines, log, numbers, textOf, withFiles, withWriter } from "./writers.ts"

describe("durability", () => {
  it.effect("os does not ask the disk; appendDurable does", () =>
    withWriter({}, ({ append, appendDurable, flush }, { operations }) =>
      Effect.gen(function* () {
        yield* append(log, { type: "n", n: 0 })
        yield* flush()
        assert.deepStrictEqual(yield* operations, ["append"])
        yield* appendDurable(log, { type: "n", n: 1 })
        assert.deepStrictEqual(yield* operations, ["append", "sync"])
        yield* append(log, { type: "n", n: 2 })
        yield* flush()
        assert.deepStrictEqual(yield* operations, ["append"])
      })
    )
  )

  it.effect("fsync-interval asks the disk each interval, and on flush", () =>
    withWriter({ durability: "fsync-interval", interval: "1 second" }, ({ append, flush }, { operations }) =>
      Effect.gen(function* () {
        yield* append(log, { type: "n", n: 0 })
        yield* TestClock.adjust("999 millis")
        assert.deepStrictEqual(yield* operations, ["append"])
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual(yield* operations, ["sync"])
        yield* append(log, { type: "n", n: 1 })
        yield* flush()
        assert.deepStrictEqual(yield* operations, ["append", "sync"])
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(yield* operations, [])
      })
    )
  )

  it.effect("what cannot be JSON fails typed, and none of its array is accepted", () =>
    withWriter({}, ({ append, appendAll, flush }) =>
      Effect.gen(function* () {
        const bad = { type: "n", n: 1n }
        assert.strictEqual((yield* Effect.flip(append(log, bad)))._tag, "NotJson")
        yield* append(log, { type: "n", n: 0 })
        assert.strictEqual((yield* Effect.flip(appendAll(log, [...numbers(1, 3), bad])))._tag, "NotJson")
        yield* appendAll(log, numbers(1, 3))
        yield* flush()
        assert.strictEqual(yield* textOf(log), lines(0, 3))
      })
    )
  )
})

describe("flushSync", () => {
  const exitHook = (flush: Effect.Effect<void, unknown>) => Effect.runSync(flush)

  it.effect("writes all before it returns, with what the step offers", () =>
    withFiles(({ appendAll, flushSync }, file) =>
      Effect.gen(function* () {
        yield* appendAll(log, numbers(0, 3))
        const entry = { type: "n", n: 3 }
        exitHook(flushSync((offer) => offer(log, entry, JSON.stringify(entry))))
        assert.strictEqual(fs.readFileSync(file, "utf8"), lines(0, 4))
      })
    )
  )

  it.effect("says what is not written, and loses none of it", () =>
    withWriter({ durability: "fsync" }, ({ appendAll, flush, flushSync }, { plan }) =>
      Effect.gen(function* () {
        yield* plan({ after: 20 }, { operation: "sync" })
        yield* appendAll(log, numbers(0, 3))
        const error = yield* Effect.flip(flushSync())
        assert(error._tag === "FlushError")
        assert.strictEqual(error.queued, 3)
        yield* flush()
        assert.include(yield* textOf(log), lines(1, 3))
      })
    )
  )
})
