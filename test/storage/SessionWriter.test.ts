import { assert, describe, it } from "@effect/vitest"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"

const a = EntryLog.session("-w", "a")
const b = EntryLog.session("-w", "b")
const faulty = FaultyEntryLog.layer.pipe(Layer.provide(EntryLog.layerMemory))
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ type: "n", n: from + i }))
const flush = (logs?: ReadonlyArray<EntryLog.LogId>) => SessionWriter.SessionWriter.use((writer) => writer.flush(logs))

const textOf = (log: EntryLog.LogId) =>
  Effect.scoped(
    Effect.gen(function* () {
      const port = yield* EntryLog.EntryLog
      const reader = yield* port.reader(log)
      const into = new Uint8Array(reader.size)
      yield* reader.read(0, into)
      return new TextDecoder().decode(into)
    })
  ).pipe(Effect.orElseSucceed(() => ""))

/** The numbers in a log, in order; lines that are no JSON are left out. */
const numbersOf = (log: EntryLog.LogId) =>
  Effect.map(textOf(log), (text) =>
    text.split("\n").flatMap((line): ReadonlyArray<number> => {
      try {
        return [(JSON.parse(line) as { n: number }).n]
      } catch {
        return []
      }
    })
  )
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i)

/** Runs with a writer of its own, which is closed at the end; the log below outlives it. */
const withWriter = <A, E, R>(
  use: Effect.Effect<A, E, R | SessionWriter.SessionWriter>,
  options: SessionWriter.Options = {}
) => Effect.provide(use, SessionWriter.layerWith(options))

describe("accepting and writing", () => {
  it.effect("what was accepted is written in order, in few batches, when the scope closes", () =>
    Effect.gen(function* () {
      yield* withWriter(
        Effect.gen(function* () {
          for (const entry of numbers(0, 1000)) yield* SessionWriter.append(a, entry)
          yield* SessionWriter.appendAll(b, numbers(0, 10))
        })
      )
      assert.deepStrictEqual(yield* numbersOf(a), upTo(1000))
      assert.deepStrictEqual(yield* numbersOf(b), upTo(10))
      const faults = yield* FaultyEntryLog.Faults
      assert.isAtMost(yield* faults.appends, 20)
    }).pipe(Effect.provide(faulty))
  )

  it.effect("flush is a barrier: what was accepted before it is in the log", () =>
    withWriter(
      Effect.gen(function* () {
        for (let round = 1; round <= 5; round++) {
          yield* SessionWriter.appendAll(a, numbers(10 * (round - 1), 10 * round))
          yield* flush([a])
          assert.deepStrictEqual(yield* numbersOf(a), upTo(10 * round))
        }
        yield* flush()
        yield* flush([b])
      })
    ).pipe(Effect.provide(faulty))
  )

  const Text = Schema.Array(Schema.String)
  it.effect.prop(
    "the bytes are the lines, whatever their characters and however small the batch",
    [Text, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 64 }))],
    ([texts, batchBytes]) =>
      Effect.gen(function* () {
        yield* withWriter(
          SessionWriter.appendAll(
            a,
            texts.map((text) => ({ type: "t", text }))
          ),
          { batchBytes }
        )
        const expected = texts.map((text) => `${JSON.stringify({ type: "t", text })}\n`).join("")
        assert.strictEqual(yield* textOf(a), expected)
      }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it.effect("an entry is as it was when it was accepted", () =>
    Effect.gen(function* () {
      const entry = { type: "n", n: 0 }
      yield* withWriter(
        Effect.andThen(
          SessionWriter.appendAll(a, [entry]),
          Effect.sync(() => (entry.n = 1))
        )
      )
      assert.deepStrictEqual(yield* numbersOf(a), [0])
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it.effect("a closed writer accepts nothing and says so", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(SessionWriter.layer, scope)
      yield* Scope.close(scope, Exit.void)
      const refused = yield* Effect.flip(Effect.provide(SessionWriter.appendAll(a, numbers(0, 1)), context))
      assert.strictEqual(refused._tag, "SessionWriterClosed")
      assert.strictEqual((yield* Effect.flip(Effect.provide(flush(), context)))._tag, "SessionWriterClosed")
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )
})

describe("committed", () => {
  it.effect("tells every batch, with the bytes that it takes, end to end", () =>
    withWriter(
      Effect.gen(function* () {
        const writer = yield* SessionWriter.SessionWriter
        const ready = yield* Deferred.make<void>()
        const seen: Array<SessionWriter.Committed> = []
        const fiber = yield* writer.committed.pipe(
          Stream.runForEach((batch) => Effect.sync(() => seen.push(batch))),
          (run) => Effect.andThen(Deferred.succeed(ready, undefined), run),
          Effect.forkChild
        )
        yield* Deferred.await(ready)
        yield* Effect.yieldNow
        for (let round = 0; round < 3; round++) {
          yield* SessionWriter.appendAll(a, numbers(10 * round, 10 * (round + 1)))
          yield* flush()
        }
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(
          seen.flatMap(({ entries }) => entries.map((entry) => (entry as { n?: number }).n)),
          upTo(30)
        )
        let end = 0
        for (const { lines, start } of seen) {
          assert.strictEqual(start, end)
          end += lines.length
        }
        assert.strictEqual(Buffer.concat(seen.map(({ lines }) => lines)).toString(), yield* textOf(a))
      })
    ).pipe(Effect.provide(EntryLog.layerMemory))
  )
})

describe("a log that fails", () => {
  it.effect("flush says what is still queued; nothing is lost, nothing twice, order kept", () =>
    Effect.gen(function* () {
      const faults = yield* FaultyEntryLog.Faults
      yield* withWriter(
        Effect.gen(function* () {
          yield* SessionWriter.appendAll(a, numbers(0, 10))
          yield* flush()
          // Each line takes 20 bytes: two whole ones, and a piece of the third.
          yield* faults.plan({ reason: "NoSpace", after: 44 })
          yield* faults.breakDown({ reason: "NoSpace" })
          yield* SessionWriter.appendAll(a, numbers(10, 20))
          const error = yield* Effect.flip(flush())
          assert(error._tag === "FlushError")
          assert.deepStrictEqual([error.queued, error.cause.reason], [8, "NoSpace"])
          yield* SessionWriter.appendAll(a, numbers(20, 30))
          const again = yield* Effect.flip(flush())
          assert(again._tag === "FlushError")
          assert.strictEqual(again.queued, 18)
          yield* faults.mend
          yield* flush()
          assert.deepStrictEqual(yield* numbersOf(a), upTo(30))
          assert.include(yield* textOf(a), '{"ty\n{"type":"n","n":12}\n')
        })
      )
      assert.deepStrictEqual(yield* numbersOf(a), upTo(30))
    }).pipe(Effect.provide(faulty))
  )

  it.effect("is tried again by itself, and delays no other log", () =>
    Effect.gen(function* () {
      const faults = yield* FaultyEntryLog.Faults
      yield* withWriter(
        Effect.gen(function* () {
          yield* faults.breakDown({ reason: "Denied" }, a)
          yield* SessionWriter.appendAll(a, numbers(0, 3))
          yield* SessionWriter.appendAll(b, numbers(0, 3))
          yield* flush([b])
          assert.deepStrictEqual(yield* numbersOf(b), upTo(3))
          yield* faults.mend
          yield* TestClock.adjust("1 second")
          assert.deepStrictEqual(yield* numbersOf(a), upTo(3))
        })
      )
    }).pipe(Effect.provide(faulty))
  )

  const both = Effect.andThen(SessionWriter.appendAll(a, numbers(0, 3)), SessionWriter.appendAll(b, numbers(0, 3)))
  const missing = (error: unknown) => {
    assert(error instanceof SessionWriter.UnwrittenError)
    return error.logs.map(({ cause, lines, queued }) => [queued, cause?.reason, Buffer.from(lines).toString()])
  }
  const unwritten = [[3, "NoSpace", '{"type":"n","n":0}\n{"type":"n","n":1}\n{"type":"n","n":2}\n']]

  it.live("does not keep the scope open for ever; what is missing is handed back, as a defect of the scope", () =>
    Effect.gen(function* () {
      const faults = yield* FaultyEntryLog.Faults
      yield* faults.breakDown({ reason: "NoSpace" }, a)
      const exit = yield* Effect.exit(withWriter(both, { retry: { first: "1 millis", onClose: 3 } }))
      assert(Exit.isFailure(exit))
      assert.deepStrictEqual(missing(Cause.squash(exit.cause)), unwritten)
      assert.deepStrictEqual([yield* numbersOf(a), yield* numbersOf(b)], [[], upTo(3)])
    }).pipe(Effect.provide(faulty))
  )

  it.live("what is missing is a typed error of `close`, and then no defect", () =>
    Effect.gen(function* () {
      const faults = yield* FaultyEntryLog.Faults
      yield* faults.breakDown({ reason: "NoSpace" }, a)
      yield* withWriter(
        Effect.gen(function* () {
          yield* both
          const { close } = yield* SessionWriter.SessionWriter
          assert.deepStrictEqual(missing(yield* Effect.flip(close)), unwritten)
          assert.strictEqual((yield* Effect.flip(both))._tag, "SessionWriterClosed")
        }),
        { retry: { first: "1 millis", onClose: 2 } }
      )
    }).pipe(Effect.provide(faulty))
  )

  it.live("is written when it comes back while the scope closes", () =>
    Effect.gen(function* () {
      const faults = yield* FaultyEntryLog.Faults
      yield* faults.plan({}, {}, { after: 20 })
      yield* withWriter(SessionWriter.appendAll(a, numbers(0, 30)), { retry: { first: "1 millis" } })
      assert.deepStrictEqual(yield* numbersOf(a), upTo(30))
    }).pipe(Effect.provide(faulty))
  )
})

describe("durability fsync", () => {
  it.effect("is committed when the disk has it; until then it is queued", () =>
    Effect.gen(function* () {
      const faults = yield* FaultyEntryLog.Faults
      yield* withWriter(
        Effect.gen(function* () {
          yield* faults.plan({ operation: "sync", reason: "InputOutput" })
          yield* SessionWriter.appendAll(a, numbers(0, 3))
          const error = yield* Effect.flip(flush())
          assert(error._tag === "FlushError")
          assert.deepStrictEqual([error.queued, error.cause.operation], [3, "sync"])
          yield* SessionWriter.appendAll(a, numbers(3, 5))
          yield* flush()
          assert.deepStrictEqual(yield* numbersOf(a), upTo(5))
        }),
        { durability: "fsync" }
      )
    }).pipe(Effect.provide(faulty))
  )
})

describe("back-pressure and interruption", () => {
  it.effect("when too much is unwritten, accepting waits; who is interrupted while waiting has nothing accepted", () =>
    Effect.gen(function* () {
      const faults = yield* FaultyEntryLog.Faults
      yield* withWriter(
        Effect.gen(function* () {
          yield* faults.breakDown({})
          yield* SessionWriter.appendAll(a, numbers(0, 4))
          const interrupted = yield* Effect.forkChild(SessionWriter.appendAll(a, [{ type: "n", n: -1 }]))
          const waiting = yield* Effect.forkChild(SessionWriter.appendAll(a, numbers(4, 6)))
          yield* TestClock.adjust("1 second")
          assert.isUndefined(waiting.pollUnsafe())
          yield* Fiber.interrupt(interrupted)
          yield* faults.mend
          yield* flush()
          yield* Fiber.join(waiting)
          yield* flush()
          assert.deepStrictEqual(yield* numbersOf(a), upTo(6))
        }),
        { capacity: 4 }
      )
    }).pipe(Effect.provide(faulty))
  )

  const Round = Schema.Struct({
    entries: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })),
    yields: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 })),
    fault: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 90 })))
  })

  it.effect.prop(
    "whenever producers, flushes and the scope are interrupted: written = accepted, in order, once",
    [Schema.Array(Round), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 }))],
    ([rounds, capacity]) =>
      Effect.gen(function* () {
        const faults = yield* FaultyEntryLog.Faults
        const accepted: Array<number> = []
        const produce = (entries: number) =>
          SessionWriter.SessionWriter.use((writer) =>
            Effect.gen(function* () {
              for (let i = 0; i < entries; i++) {
                yield* writer.submit((offer) => {
                  const entry = { type: "n", n: accepted.length }
                  accepted.push(entry.n)
                  offer(a, entry, JSON.stringify(entry))
                })
                if (i % 3 === 0) yield* Effect.yieldNow
              }
              yield* writer.flush()
            })
          )
        const session = Effect.gen(function* () {
          for (const { entries, fault, yields } of rounds) {
            if (fault !== undefined) yield* faults.plan({ after: fault })
            const fiber = yield* Effect.forkChild(produce(entries))
            for (let i = 0; i < yields; i++) yield* Effect.yieldNow
            yield* Fiber.interrupt(fiber)
          }
          yield* faults.mend
        })
        const running = yield* Effect.forkChild(withWriter(session, { capacity, batchBytes: 64 }))
        for (let i = 0; i < capacity; i++) yield* Effect.yieldNow
        const stopping = yield* Effect.forkChild(Fiber.interrupt(running))
        yield* faults.mend
        for (let i = 0; i < 20; i++) yield* TestClock.adjust("10 seconds")
        yield* Fiber.await(stopping)
        assert.deepStrictEqual(yield* numbersOf(a), accepted)
      }).pipe(Effect.provide(faulty)),
    { arbitrary: { runs: 200 } }
  )
})
