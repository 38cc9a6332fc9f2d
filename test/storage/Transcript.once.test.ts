/** Each id once, also over a restart; what waits; what closing leaves. */
import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionLock from "@reprise/storage/SessionLock"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Exit, Layer, ManagedRuntime, Scope } from "effect"

const sessionId = "00000000-0000-4000-8000-000000000001"
const options = { sessionId, cwd: "/work", version: "2.1.0" }
const log = EntryLog.session("-work", sessionId)
const faulty = FaultyEntryLog.layer.pipe(Layer.provide(EntryLog.layerMemory))
const memory = SessionWriter.layer.pipe(Layer.provideMerge(faulty))

const session = <A, E, R>(use: (transcript: Transcript.Transcript) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(Transcript.open(options), use))

const outcome = (effect: Effect.Effect<Transcript.Appended | Transcript.Appended["_tag"], Transcript.Failure>) =>
  Effect.match(effect, {
    onFailure: (error) => (error._tag === "AppendError" ? error.reason : error._tag),
    onSuccess: (appended) => (typeof appended === "string" ? appended : appended._tag)
  })

const entry = (uuid: string, more: object = {}) =>
  ({ type: "user", uuid, parentUuid: null, message: { role: "user", content: uuid }, ...more }) as Entry.Known

describe("each id once", () => {
  const ids = Array.from({ length: 5 }, (_, i) => `u${i}`)
  const before = session((transcript) =>
    Effect.gen(function* () {
      for (const uuid of ids) yield* transcript.append(Message.user(uuid), { uuid })
      yield* transcript.compact("summary")
      yield* transcript.append(Message.user("after"), { uuid: "after" })
    })
  )

  it.effect(
    "ids survive a restart, also those before a boundary: equal content is there, other content is an error",
    () =>
      Effect.gen(function* () {
        yield* before
        const { size } = yield* (yield* EntryLog.EntryLog).stat(log)
        yield* session((transcript) =>
          Effect.gen(function* () {
            for (const uuid of [...ids, "after"]) {
              assert.strictEqual(yield* outcome(transcript.append(Message.user(uuid), { uuid })), "AlreadyThere")
              assert.strictEqual(yield* outcome(transcript.append(Message.user("x"), { uuid })), "other-content")
              assert.strictEqual(yield* outcome(transcript.appendEntry(entry(uuid))), "AlreadyThere")
            }
            assert.strictEqual(yield* transcript.tail, "after")
          })
        )
        assert.strictEqual((yield* (yield* EntryLog.EntryLog).stat(log)).size, size)
      }).pipe(Effect.provide(memory))
  )

  it.effect("equal means what it says, not when, where and after what it was said, nor the order of keys", () =>
    session((transcript) =>
      Effect.gen(function* () {
        yield* transcript.append(Message.user("x"), { uuid: "u" })
        const moved = { message: { content: "x", role: "user" }, timestamp: "t", cwd: "/other", parentUuid: "p" }
        assert.strictEqual(yield* outcome(transcript.appendEntry(entry("u", moved))), "AlreadyThere")
        assert.strictEqual(
          yield* outcome(transcript.appendEntry(entry("u", { ...moved, isMeta: true }))),
          "other-content"
        )
        assert.strictEqual(
          yield* outcome(transcript.append(Message.informational("x"), { uuid: "u" })),
          "other-content"
        )
      })
    ).pipe(Effect.provide(memory))
  )

  it.effect("what cannot be written yet is there as well", () =>
    Effect.gen(function* () {
      const faults = yield* FaultyEntryLog.Faults
      yield* session((transcript) =>
        Effect.gen(function* () {
          yield* faults.breakDown({})
          yield* transcript.append(Message.user("x"), { uuid: "u" })
          assert.strictEqual(yield* outcome(transcript.append(Message.user("x"), { uuid: "u" })), "AlreadyThere")
          yield* faults.mend
        })
      )
    }).pipe(Effect.provide(memory))
  )
})

describe("what waits for a prompt", () => {
  const note = Message.informational("note")

  it.effect("is pending, once, and flush passes over it; close tells what is discarded", () =>
    Effect.gen(function* () {
      const transcript = yield* Transcript.open(options)
      assert.strictEqual(yield* outcome(transcript.append(note, { uuid: "n" })), "Pending")
      assert.strictEqual(yield* outcome(transcript.append(note, { uuid: "n" })), "AlreadyThere")
      assert.strictEqual(yield* outcome(transcript.append(Message.informational("x"), { uuid: "n" })), "other-content")
      assert.strictEqual(yield* outcome(transcript.title("T")), "Pending")
      yield* transcript.flush
      assert.strictEqual((yield* Effect.flip((yield* EntryLog.EntryLog).stat(log))).reason, "NotFound")
      const closed = yield* transcript.close
      assert.deepStrictEqual(
        [closed.discarded.map(({ type }) => type), closed.unwritten],
        [["system", "custom-title"], undefined]
      )
      assert.strictEqual(yield* transcript.close, closed)
      assert.strictEqual(yield* outcome(transcript.append(note)), "closed")
    }).pipe(Effect.scoped, Effect.provide(memory))
  )

  it.effect("is written first, in order, when the prompt comes, and then nothing is discarded", () =>
    session((transcript) =>
      Effect.gen(function* () {
        yield* transcript.append(note)
        yield* transcript.append(Message.user("go"))
        assert.deepStrictEqual(yield* transcript.close, { discarded: [], unwritten: undefined })
      })
    ).pipe(Effect.provide(memory))
  )
})

describe("closing", () => {
  it.live("a session that cannot be written is not let go until it is", () =>
    Effect.gen(function* () {
      const faults = yield* FaultyEntryLog.Faults
      const locks = SessionLock.makeMemory()
      yield* Effect.gen(function* () {
        const scope = yield* Scope.make()
        const transcript = yield* Scope.provide(Transcript.open(options), scope)
        yield* transcript.append(Message.user("x"))
        yield* faults.breakDown({})
        const { unwritten } = yield* transcript.close
        assert.strictEqual(unwritten?._tag, "FlushError")
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual((yield* Effect.flip(session(() => Effect.void)))._tag, "SessionLocked")
        yield* faults.mend
        yield* Effect.sleep(1100)
        yield* session((again) => Effect.map(again.tail, (tail) => assert.isNotNull(tail)))
      }).pipe(Effect.provideService(SessionLock.SessionLock, locks))
    }).pipe(Effect.provide(memory))
  )

  it.effect("a session that could not be opened is free again", () =>
    Effect.gen(function* () {
      yield* session((transcript) => transcript.append(Message.user("x")))
      yield* Effect.gen(function* () {
        const error = yield* Effect.flip(Transcript.open({ ...options, parent: "nobody" }))
        assert.strictEqual(error._tag, "AppendError")
        yield* Transcript.open(options)
      }).pipe(Effect.scoped)
    }).pipe(Effect.provide(memory))
  )

  it("flushSync restates and writes before it returns, as an exit hook needs", () => {
    const runtime = ManagedRuntime.make(memory)
    const scope = Scope.makeUnsafe()
    const transcript = runtime.runSync(Scope.provide(Transcript.open(options), scope))
    runtime.runSync(transcript.append(Message.user("x")))
    runtime.runSync(transcript.title("T"))
    runtime.runSync(transcript.flushSync)
    const { size } = runtime.runSync(EntryLog.EntryLog.use((port) => port.stat(log)))
    assert.isAbove(size, 300)
    return runtime.runPromise(Scope.close(scope, Exit.void))
  })
})
