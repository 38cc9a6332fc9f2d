/**
 * Checkpointed: a projection over a log that is read again and again, and each time from where it was left.
 *
 *   stored ─ same version, same log? ─▶ load ─▶ tail ─▶ answer, new checkpoint
 *                └ no ─▶ initial ─▶ whole log ──────────┘
 *
 * Where the checkpoint is kept is the caller's affair: it is JSON, and losing it costs one fold.
 */
import * as Checkpoint from "@reprise/domain/Checkpoint"
import type * as Line from "@reprise/domain/Line"
import type * as Projection from "@reprise/domain/Projection"
import * as Effect from "effect/Effect"
import * as EntryLog from "./EntryLog.ts"
import { fill } from "./internal/fill.ts"
import * as LineReader from "./LineReader.ts"

/**
 * An answer, the checkpoint to store for the next time, and where reading began: 0, the checkpoint was not used.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer<out S> {
  readonly answer: S
  readonly checkpoint: Checkpoint.Checkpoint
  readonly from: number
}

/**
 * Runs the projection from the stored checkpoint on; over the whole log where that is none, or none of this log and
 * version.
 *
 * @category running
 * @since 0.1.0
 */
export const withCheckpoint = Effect.fn("Checkpointed.withCheckpoint")(function* <S>(
  log: EntryLog.LogId,
  projection: Projection.Versioned<Line.Located, S>,
  stored?: unknown
) {
  const known = yield* take(log, projection, stored)
  let state = known?.state ?? projection.initial()
  const from = known?.mark ?? LineReader.start
  // The entries of the last line are held back until it is known to be whole.
  let line: Array<Line.Located> = []
  const evolve = (): void => {
    for (const located of line) state = projection.evolve(state, located)
    line = []
  }
  const mark = yield* LineReader.forEach(
    log,
    (located) => {
      if (line[0]?.at.line !== located.at.line) evolve()
      line.push(located)
    },
    from
  )
  if (line[0] !== undefined && line[0].at.line < mark.line) evolve()
  const hash = Checkpoint.hash(yield* before(log, mark.byte))
  const checkpoint = { version: projection.version, ...mark, hash, state: projection.save(state) }
  evolve()
  const answer: Answer<S> = { answer: projection.extract(state), checkpoint, from: from.byte }
  return answer
})

/** The state of a checkpoint, and its place, where both are of this log and this version. */
const take = Effect.fnUntraced(function* <S>(
  log: EntryLog.LogId,
  projection: Projection.Versioned<Line.Located, S>,
  stored: unknown
) {
  if (!Checkpoint.is(stored) || stored.version !== projection.version) return undefined
  const { byte, hash, line } = stored
  if (byte < 0 || line < 1 || Checkpoint.hash(yield* before(log, byte)) !== hash) return undefined
  const state = projection.load(stored.state)
  return state === undefined ? undefined : { state, mark: { byte, line } }
})

/** The bytes by which a place is known; fewer where the log does not reach it. */
const before = Effect.fnUntraced(function* (log: EntryLog.LogId, byte: number) {
  const port = yield* EntryLog.EntryLog
  const reader = yield* port.reader(log)
  const start = Math.max(0, byte - Checkpoint.KNOWN)
  return yield* fill(reader, start, new Uint8Array(byte - start))
}, Effect.scoped)
