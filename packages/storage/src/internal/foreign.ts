/**
 * Foreign: what other programs write into the log of an open session.
 *
 *   the writer finds bytes before its batch ─┐
 *   a look before an entry is accepted ──────┴─▶ account for them ─▶ read them ─▶ metadata into the cache, ids into
 *                                                                                 `seen`, the last message is the tail
 *
 * 1. Metadata of others is normal (a title set by another program) and is absorbed; all else is told as `ForeignWriter`.
 * 2. The tail moves to a message of another program only when nothing of ours stands behind it.
 * 3. It is looked once in a turn of the program: what is accepted in one turn is one batch.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as Effect from "effect/Effect"
import type * as EntryLog from "../EntryLog.ts"
import * as MetadataTail from "../MetadataTail.ts"
import * as Chain from "./chain.ts"
import * as Content from "./content.ts"
import type * as Placement from "./placement.ts"

/** What it needs of an open session. */
export interface Watched extends Placement.Session {
  readonly port: EntryLog.EntryLog["Service"]
  /** One reading at a time. */
  readonly exclusively: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Tells of bytes that are not metadata alone. */
  readonly onForeign: (lane: Placement.OpenLane, foreign: EntryLog.Foreign) => void
}

/** Reads what others wrote into the lane since the last look; true: metadata of ours was written over theirs. */
export const look = (self: Watched, lane: Placement.OpenLane): Effect.Effect<boolean, EntryLog.EntryLogError> =>
  Effect.suspend(() => {
    if ((lane.isFresh && lane.found.length === 0) || !self.isMaterialised) return Effect.succeed(false)
    return Effect.flatMap(self.port.foreign(lane.log), (foreign) => {
      lane.isFresh = true
      queueMicrotask(() => {
        lane.isFresh = false
      })
      if (foreign !== undefined && foreign.size > Math.max(lane.size, foreign.ours)) account(self, lane, foreign)
      if (lane.found.length === 0) return Effect.succeed(false)
      return Effect.catchIf(self.exclusively(readFound(self, lane)), isGone, () =>
        Effect.sync(() => {
          lane.found.length = 0
          return false
        })
      )
    })
  })

/** A log that is no more holds nothing to be read; the next append makes a new one. */
const isGone = (error: EntryLog.EntryLogError): boolean => error.reason === "NotFound"

/** Counts what others wrote, at once; it is read later. A log that was cut or replaced holds nothing that we know of. */
export const account = (self: Placement.Session, lane: Placement.OpenLane, { ours, size }: EntryLog.Foreign): void => {
  if (size < ours) {
    lane.end += size - ours
    lane.counted = lane.size = lane.mark = size
    lane.found.length = 0
    if (lane === self.main) MetadataTail.forget(self.tail)
    return
  }
  const from = Math.max(ours, lane.counted)
  if (size > from) {
    if (lane === self.main) MetadataTail.shift(self.tail, from, size - from)
    lane.end += size - from
    lane.counted = size
  }
  if (size > lane.size) lane.found.push({ ours, size })
}

const readFound = Effect.fnUntraced(function* (self: Watched, lane: Placement.OpenLane) {
  let isStale = false
  for (let next = lane.found[0]; next !== undefined; next = lane.found[0]) {
    const from = next.ours > lane.size ? next.ours : lane.mark
    const { lines, mark } = yield* readLines(self.port, lane.log, from, next.size)
    lane.size = Math.max(lane.size, next.size)
    lane.mark = Math.max(lane.mark, mark)
    if (lane.found[0] === next) lane.found.shift()
    const isEnd = lane.end <= next.size
    let others = 0
    for (const { at, entry } of lines) {
      if (lane === self.main && SessionMetadata.isRestated(entry)) {
        const bytes = at.byteEnd + 1 - at.byteStart
        isStale = MetadataTail.absorb(self.tail, entry, at.byteStart, bytes) || isStale
      } else if (isNew(self, lane, entry)) {
        others++
        learn(self, lane, entry, isEnd)
      }
    }
    if (others > 0) self.onForeign(lane, next)
  }
  return isStale
})

const isNew = ({ main }: Watched, lane: Placement.OpenLane, entry: Entry.Entry): boolean =>
  entry instanceof Entry.Malformed
    ? false
    : Entry.isMessage(entry) && (lane !== main || entry.isSidechain !== true)
      ? !lane.chain.seen.has(entry.uuid)
      : true

const learn = (self: Watched, lane: Placement.OpenLane, entry: Entry.Entry, isEnd: boolean): void => {
  if (!Entry.isMessage(entry) || (lane === self.main && entry.isSidechain === true)) return
  if (isEnd) Chain.advance(lane.chain, entry)
  else lane.chain.seen.set(entry.uuid, -1)
  if (lane === self.main && self.digests?.has(entry.uuid) === false) {
    self.digests.set(entry.uuid, Content.digest(entry))
  }
}

const CHUNK = 1 << 20

/** The entries of a part of a log, and the end of its last whole line. */
const readLines = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  from: number,
  to: number
) {
  const lines: Array<Line.Located> = []
  const splitter = LineSplitter.make(
    (line, at) => {
      for (const located of Line.decode(line, at)) lines.push(located)
    },
    { line: 1, byte: from }
  )
  const reader = yield* port.reader(log)
  for (let offset = from; offset < to;) {
    const buffer = new Uint8Array(Math.min(CHUNK, to - offset))
    const count = yield* reader.read(offset, buffer)
    if (count === 0) break
    splitter.push(buffer.subarray(0, count))
    offset += count
  }
  splitter.end()
  return { lines, mark: splitter.mark().byte }
}, Effect.scoped)
