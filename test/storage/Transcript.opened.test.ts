/**
 * The law of opening: a session whose log is long is opened from the end of it, and behaves as one of which all was read.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as Projection from "@reprise/domain/Projection"
import type * as SessionSource from "@reprise/domain/SessionSource"
import * as Suffix from "@reprise/domain/Suffix"
import * as Damage from "@reprise/domain/testing/Damage"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Written from "@reprise/domain/testing/History"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Arbitrary, Effect, Layer, Stream } from "effect"
import { compacted } from "./compacted.ts"
import { bytesOf } from "./doors.ts"

const options = { arbitrary: { runs: Number(process.env["RUNS"] ?? 60), seed: process.env["SEED"] ?? "opened" } }
const memory = SessionWriter.layer.pipe(Layer.provideMerge(EntryLog.layerMemory))
const where = {
  sessionId: "00000000-0000-4000-8000-000000000001",
  cwd: "/work",
  version: "2.1.332",
  log: EntryLog.at("/session.jsonl")
}

/** The same, with which the end of a log never is enough. */
const whole: SessionSource.FindLeaf = {
  ...Recovery.leaf,
  conversation: Projection.map(Recovery.leaf.conversation, (judged) => ({ ...judged, verdict: Suffix.whole("asked") }))
}

/** The same, and whether it was asked about the whole log. */
const asking = () => {
  const asked = { all: false }
  const initial = () => {
    asked.all = true
    return Recovery.leaf.full.initial()
  }
  return {
    asked,
    leaf: { ...Recovery.leaf, full: { ...Recovery.leaf.full, initial } } satisfies SessionSource.FindLeaf
  }
}

const outcome = (effect: Effect.Effect<Transcript.Appended, Transcript.Failure>) =>
  Effect.match(effect, {
    onFailure: (error) => (error._tag === "AppendError" ? error.reason : error._tag),
    onSuccess: ({ _tag }) => _tag
  })

/** What a session does with what its log holds: each id as that of a new message and as a parent, and checkpoints. */
const behaviour = (bytes: Uint8Array, ids: ReadonlyArray<string>, leaf: SessionSource.FindLeaf) =>
  Effect.gen(function* () {
    yield* (yield* EntryLog.EntryLog).append(where.log, bytes)
    const transcript = yield* Transcript.open({ ...where, leaf })
    const opened = { tail: yield* transcript.tail, metadata: yield* transcript.metadata }
    const outcomes: Array<string> = []
    yield* transcript.endTurn()
    yield* transcript.append(Message.user("new"), { uuid: "new" })
    for (const id of ids) {
      outcomes.push(yield* outcome(transcript.append(Message.user("x"), { uuid: id })))
      outcomes.push(yield* outcome(transcript.append(Message.user("y"), { uuid: `${id} child`, parent: id })))
      yield* transcript.endTurn()
    }
    yield* transcript.compact("summary", ["new"])
    yield* transcript.append(Message.user("on"), { uuid: "last" })
    yield* transcript.endTurn()
    const entries = yield* Stream.runCollect(transcript.entries)
    const counts = entries.map(({ entry }) => (entry as { readonly messageCount?: number }).messageCount)
    return { opened, outcomes, counts }
  }).pipe(Effect.scoped, Effect.provide(Layer.fresh(memory)))

const holds = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const text = new TextDecoder().decode(bytes)
  const ids = new Set([...text.matchAll(/"uuid":"([^"\\]+)"/g)].map(([, id]) => id!))
  const drawn = [...ids].filter((_, i) => i % Math.ceil(ids.size / 12) === 0)
  const { asked, leaf } = asking()
  const byEnd = yield* behaviour(bytes, drawn, leaf)
  assert.deepStrictEqual(byEnd, yield* behaviour(bytes, drawn, whole))
  return !asked.all
})

describe("a session opened from the end of its log is the same as one of which all was read", () => {
  it.effect.prop(
    "on logs with compactions",
    { words: compacted },
    ({ words }) => Effect.asVoid(holds(Notation.bytes(words.join(" ")))),
    options
  )

  it.effect("and of many no more than the end was decoded", () =>
    Effect.gen(function* () {
      const logs = yield* Arbitrary.sampleEffect(compacted, { count: 20, seed: "opened" })
      const byEnd = yield* Effect.forEach(logs, (words) => holds(Notation.bytes(words.join(" "))))
      assert.isAbove(byEnd.filter((isByEnd) => isByEnd).length, 2)
    })
  )

  it.effect.prop(
    "on what a session writes, damaged",
    { history: Written.arbitrary(), damage: Arbitrary.array(Damage.arbitrary, { maxLength: 3 }) },
    ({ damage, history }) => Effect.asVoid(holds(Damage.inflictAll(history.bytes, damage).bytes)),
    options
  )
})

describe("work", () => {
  it.effect("of a log that is nearly all archived, its bytes are read once, and only the end is decoded", () =>
    Effect.gen(function* () {
      const past = Array.from({ length: 20_000 }, (_, i) => ({
        parentUuid: i === 0 ? null : `m${i - 1}`,
        type: "user",
        message: { role: "user", content: "x".repeat(200) },
        uuid: `m${i}`,
        cwd: "/work"
      }))
      const bytes = bytesOf(...past, { picture: "B1{m19999>S1}-S1-u2-a2" })
      const port = yield* EntryLog.EntryLog
      yield* port.append(where.log, bytes)
      const work = { bytes: 0, decoded: 0 }
      const reader = (log: EntryLog.LogId) =>
        Effect.map(port.reader(log), (one) => ({
          ...one,
          read: (offset: number, into: Uint8Array) =>
            Effect.tap(one.read(offset, into), (count) => Effect.sync(() => void (work.bytes += count)))
        }))
      const evolve = (state: unknown, located: Line.Located) => {
        work.decoded++
        return Recovery.leaf.conversation.evolve(state, located)
      }
      const leaf = { ...Recovery.leaf, conversation: { ...Recovery.leaf.conversation, evolve } }
      const transcript = yield* Effect.provideService(Transcript.open({ ...where, leaf }), EntryLog.EntryLog, {
        ...port,
        reader
      })
      assert.strictEqual(yield* transcript.tail, "a2")
      // Once to find where the end begins, and once to judge it.
      assert.strictEqual(work.decoded, 2 * 5)
      assert.isBelow(work.bytes, bytes.length + 2 ** 20)
      assert.strictEqual(yield* outcome(transcript.append(Message.user("x"), { uuid: "m7" })), "other-content")
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(memory)))
  )
})

describe("an id that only looks like that of an archived message", () => {
  const past = [
    { picture: "u1-a1" },
    `{"parentUuid":"a1","isSidechain":false,"type":"user","message":{"role":"user","content":"cut},"uuid":"torn"}`,
    { parentUuid: "a1", type: "progress", uuid: "link", cwd: "/work" },
    { parentUuid: "a1", isSidechain: true, agentId: "a", type: "user", uuid: "aside", message: { content: "x" } },
    { parentUuid: "a1", type: "user", message: { role: "user", content: "x" }, toolUseResult: { uuid: "inner" } }
  ]
  const bytes = bytesOf({ ...Line.decodeAll(Notation.bytes("u0"))[0]!.entry, cwd: "/work" }, ...past, {
    picture: "B1-S1-u2-a2"
  })

  it.effect("is new, and no parent", () =>
    Effect.gen(function* () {
      const { asked, leaf } = asking()
      const ids = ["u1", "a1", "torn", "link", "aside", "inner"]
      const { outcomes } = yield* behaviour(bytes, ids, leaf)
      assert.isFalse(asked.all)
      assert.deepStrictEqual(outcomes.slice(0, 4), ["other-content", "Accepted", "other-content", "Accepted"])
      assert.deepStrictEqual(outcomes.slice(4), Array(8).fill("Accepted"))
      assert.deepStrictEqual(yield* behaviour(bytes, ids, whole), yield* behaviour(bytes, ids, leaf))
      const alone = (id: string) =>
        Effect.gen(function* () {
          yield* (yield* EntryLog.EntryLog).append(where.log, bytes)
          const transcript = yield* Transcript.open({ ...where, leaf: Recovery.leaf })
          return yield* outcome(transcript.append(Message.user("y"), { parent: id }))
        }).pipe(Effect.scoped, Effect.provide(Layer.fresh(memory)))
      assert.deepStrictEqual(yield* Effect.forEach(ids, alone), [
        "Accepted",
        "Accepted",
        ...Array<string>(4).fill("unknown-entry")
      ])
    })
  )
})
