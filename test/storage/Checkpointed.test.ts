import { assert, describe, it } from "@effect/vitest"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Checkpointed from "@reprise/storage/Checkpointed"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as Effect from "effect/Effect"
import { logOf, type Work } from "./doors.ts"

/** The type of each entry with its place, and how many there were of each. */
const types = (version = "1") =>
  Projection.versioned({
    version,
    initial: () => ({ seen: [] as Array<string>, counts: new Map<string, number>() }),
    evolve: (state, { at, entry }: Line.Located) => {
      const type = entry.type ?? "none"
      state.seen.push(`${type}@${at.line}:${at.byteStart}`)
      state.counts.set(type, (state.counts.get(type) ?? 0) + 1)
      return state
    },
    extract: ({ counts, seen }) => ({ seen: [...seen], counts: Object.fromEntries(counts) }),
    save: ({ counts, seen }) => ({ seen: [...seen], counts: [...counts] }),
    load: (saved) => {
      const { counts, seen } = saved as { readonly counts?: Array<[string, number]>; readonly seen?: Array<string> }
      return counts === undefined || seen === undefined ? undefined : { seen: [...seen], counts: new Map(counts) }
    }
  })

const lines = [
  '{"type":"a"}',
  '{"type":"b"}{"type":"c"}',
  '{"ty',
  "",
  '{"type":"é"}',
  '{"type":"b"}',
  '{"type":"d","x":1}'
]
const bytes = new TextEncoder().encode(`${lines.join("\n")}\n{"type":"last"}`)

const fold = Effect.fnUntraced(function* (log: Uint8Array, stored?: unknown, version?: string, work?: Work) {
  const { log: id, port } = yield* logOf(log, work)
  return yield* Effect.provideService(Checkpointed.withCheckpoint(id, types(version), stored), EntryLog.EntryLog, port)
})

const whole = Effect.fnUntraced(function* (log: Uint8Array) {
  const { log: id, port } = yield* logOf(log)
  return yield* Effect.provideService(LineReader.fold(id, types()), EntryLog.EntryLog, port)
})

/** As it comes back from where it was stored. */
const stored = (checkpoint: unknown): unknown => JSON.parse(JSON.stringify(checkpoint))

const effect = (what: string, run: Effect.Effect<void, EntryLog.EntryLogError, EntryLog.EntryLog>) =>
  it.effect(what, () => Effect.provide(run, EntryLog.layerMemory))

describe("a checkpoint", () => {
  effect(
    "and the tail give the whole fold, at every cut, also from a checkpoint that was continued",
    Effect.gen(function* () {
      const expected = yield* whole(bytes)
      for (let cut = 0; cut <= bytes.length; cut++) {
        const { answer, checkpoint } = yield* fold(bytes.subarray(0, cut))
        assert.deepStrictEqual(answer, yield* whole(bytes.subarray(0, cut)), `cut ${cut}`)
        const later = Math.min(bytes.length, cut + 7)
        const next = yield* fold(bytes.subarray(0, later), stored(checkpoint))
        const last = yield* fold(bytes, stored(next.checkpoint))
        assert.deepStrictEqual(last.answer, expected, `cut ${cut}`)
        assert.strictEqual(last.from, next.checkpoint.byte)
      }
    })
  )

  effect(
    "makes the next read one of the tail",
    Effect.gen(function* () {
      const long = new TextEncoder().encode('{"type":"a"}\n'.repeat(100_000))
      const { checkpoint } = yield* fold(long)
      const grown = new Uint8Array([...long, ...new TextEncoder().encode('{"type":"b"}\n')])
      const work: Work = { reads: 0, bytes: 0, lines: 0 }
      const { answer } = yield* fold(grown, stored(checkpoint), "1", work)
      assert.deepStrictEqual(answer.counts, { a: 100_000, b: 1 })
      assert.isBelow(work.bytes, 10_000)
    })
  )

  effect(
    "of another version, another log, a log that was cut, or of no shape is not used",
    Effect.gen(function* () {
      const { checkpoint } = yield* fold(bytes)
      const other = Uint8Array.from(bytes)
      other[9] = 0x7a
      const cases: ReadonlyArray<readonly [Uint8Array, unknown, string]> = [
        [bytes, checkpoint, "2"],
        [other, checkpoint, "1"],
        [bytes.subarray(0, 20), checkpoint, "1"],
        [bytes, { ...checkpoint, state: {} }, "1"],
        [bytes, { ...checkpoint, hash: "" }, "1"],
        [bytes, "checkpoint", "1"],
        [bytes, undefined, "1"]
      ]
      for (const [log, kept, version] of cases) {
        const { answer, from } = yield* fold(log, kept, version)
        assert.strictEqual(from, 0)
        assert.deepStrictEqual(answer, yield* whole(log))
      }
    })
  )
})
