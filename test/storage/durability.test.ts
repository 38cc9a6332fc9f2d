/** What the policies of the writer promise, and what a program that exits can do. */
import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Fiber, Layer } from "effect"
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

  it.effect("a writer with nothing else to do asks the disk in the turn of whoever waits for it", () =>
    withWriter({ durability: "fsync" }, ({ appendDurable }, { operations }) =>
      Effect.gen(function* () {
        for (let n = 0; n < 3; n++) {
          yield* Effect.yieldNow
          const waiting = yield* Effect.forkChild(appendDurable(log, { type: "n", n }), { startImmediately: true })
          assert.deepStrictEqual(yield* operations, ["append", "sync"])
          yield* Fiber.join(waiting)
        }
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

  it.effect("what is no entry fails typed, whatever the compiler was told, and says what it is", () =>
    withWriter({}, ({ append, appendAll, appendDurable, flush }) =>
      Effect.gen(function* () {
        const found: { readonly [found: string]: unknown } = {
          null: null,
          undefined: undefined,
          "a string": "x",
          "a number": 1,
          "an array": [{ type: "n" }],
          "an object without one": { n: 1, type: 1 }
        }
        for (const [what, value] of Object.entries(found)) {
          const entry = value as Entry.Unknown
          const doors = [append(log, entry), appendAll(log, [...numbers(1, 3), entry]), appendDurable(log, entry)]
          for (const door of doors) {
            const error = yield* Effect.flip(door)
            assert(error._tag === "NotEntry")
            assert.strictEqual(error.found, what)
            assert.include(error.message, "an object with a string `type`")
          }
        }
        yield* append(log, { type: "n", n: 0 })
        yield* flush()
        assert.strictEqual(yield* textOf(log), lines(0, 1))
      })
    )
  )
})

describe("Transcript.appendDurable", () => {
  const session = { sessionId: "00000000-0000-4000-8000-000000000001", cwd: "/w", version: "2.1.0" }
  const faulty = FaultyEntryLog.layer.pipe(Layer.provide(EntryLog.layerMemory))
  const opened = <A, E>(
    use: (
      transcript: Transcript.Transcript,
      faults: FaultyEntryLog.Faults["Service"]
    ) => Effect.Effect<A, E, EntryLog.EntryLog>
  ) =>
    Effect.gen(function* () {
      return yield* use(yield* Transcript.open(session), yield* FaultyEntryLog.Faults)
    }).pipe(Effect.scoped, Effect.provide(SessionWriter.layer.pipe(Layer.provideMerge(faulty))))

  it.effect("returns when the disk has the entry and all that was accepted before it", () =>
    opened((transcript, { operations }) =>
      Effect.gen(function* () {
        yield* transcript.append(Message.user("one"))
        const { _tag, uuid } = yield* transcript.appendDurable(Message.user("two"), { uuid: "u2" })
        assert.deepStrictEqual([_tag, uuid, yield* operations], ["Accepted", "u2", ["append", "sync"]])
        assert.strictEqual(yield* transcript.tail, "u2")
      })
    )
  )

  it.effect("asks the disk about an entry that is there already", () =>
    opened((transcript, { operations }) =>
      Effect.gen(function* () {
        yield* transcript.append(Message.user("one"), { uuid: "u1" })
        yield* transcript.flush
        yield* operations
        assert.strictEqual((yield* transcript.appendDurable(Message.user("one"), { uuid: "u1" }))._tag, "AlreadyThere")
        assert.include(yield* operations, "sync")
      })
    )
  )

  it.effect("of what waits for a prompt says that it waits, and then the disk has both", () =>
    opened((transcript, { operations }) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* transcript.appendDurable(Message.localCommand("x")))._tag, "Pending")
        assert.deepStrictEqual(yield* operations, [])
        yield* transcript.appendDurable(Message.user("one"))
        assert.deepStrictEqual(yield* operations, ["append", "sync"])
      })
    )
  )

  it.effect("fails when the disk does, and the entry is accepted all the same", () =>
    opened((transcript, faults) =>
      Effect.gen(function* () {
        yield* transcript.append(Message.user("one"))
        yield* transcript.flush
        yield* faults.plan({ operation: "sync", reason: "InputOutput" })
        const error = yield* Effect.flip(transcript.appendDurable(Message.user("two"), { uuid: "u2" }))
        assert.strictEqual(error._tag, "FlushError")
        assert.strictEqual(yield* transcript.tail, "u2")
        yield* faults.operations
        yield* transcript.flush
        // The bytes again, since the system may have dropped them.
        assert.deepStrictEqual(yield* faults.operations, ["rewrite", "sync"])
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
