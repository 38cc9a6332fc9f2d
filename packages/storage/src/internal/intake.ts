/**
 * Intake: the synchronous side of the writer, where entries are accepted and room is counted.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Latch from "effect/Latch"
import * as EntryLog from "../EntryLog.ts"
import * as Backlog from "./backlog.ts"
import * as Errors from "./errors.ts"

/** Where entries are accepted. `entries` and `bytes` count what is not committed, `fresh` the bytes since the last round. */
export interface Intake {
  readonly capacity: number
  readonly capacityBytes: number
  readonly pool: Backlog.Pool
  readonly backlogs: Map<string, Backlog.Backlog>
  readonly keys: WeakMap<EntryLog.LogId, string>
  readonly room: Latch.Latch
  /** Called with a backlog that has something to write again. */
  readonly onPending: (backlog: Backlog.Backlog) => void
  /** Called with a backlog that has full pieces. */
  readonly onFull: (backlog: Backlog.Backlog) => void
  last: Backlog.Backlog | undefined
  entries: number
  bytes: number
  fresh: number
}

/** An empty one. */
export const make = (
  options: Pick<Intake, "capacity" | "capacityBytes" | "onPending" | "onFull"> & { readonly batchBytes: number }
): Intake => ({
  capacity: options.capacity,
  capacityBytes: options.capacityBytes,
  onPending: options.onPending,
  onFull: options.onFull,
  pool: Backlog.pool(options.batchBytes),
  backlogs: new Map(),
  keys: new WeakMap(),
  room: Latch.makeUnsafe(true),
  last: undefined,
  entries: 0,
  bytes: 0,
  fresh: 0
})

/** Whether accepting must wait. */
export const isFull = (self: Intake): boolean => self.entries >= self.capacity || self.bytes >= self.capacityBytes

/** Accepts an entry with its line and gives the number of its bytes. */
export const offer = (self: Intake, log: EntryLog.LogId, entry: Backlog.Written, line: string): number => {
  const backlog = backlogOf(self, log)
  const bytes = Backlog.put(self.pool, backlog, entry, line)
  accepted(self, backlog, 1, bytes)
  return bytes
}

/** Encodes and accepts an entry; throws what `JSON.stringify` throws, and has accepted nothing then. */
export const append = (self: Intake, log: EntryLog.LogId, entry: Backlog.Written): void =>
  void offer(self, log, entry, lineOf(entry))

/** The same for all of them or none. */
export const appendAll = (self: Intake, log: EntryLog.LogId, entries: ReadonlyArray<Backlog.Written>): void => {
  const backlog = backlogOf(self, log)
  const takeBack = Backlog.mark(self.pool, backlog)
  let bytes = 0
  try {
    for (const entry of entries) bytes += Backlog.put(self.pool, backlog, entry, lineOf(entry))
  } catch (cause) {
    takeBack()
    forgetIfEmpty(self, backlog)
    throw cause
  }
  accepted(self, backlog, entries.length, bytes)
  forgetIfEmpty(self, backlog)
}

const forgetIfEmpty = (self: Intake, backlog: Backlog.Backlog): void => {
  if (Backlog.queued(backlog) > 0) return
  backlog.isDone = true
  self.backlogs.delete(backlog.key)
}

/** The backlog of a log. */
export const backlogOf = (self: Intake, log: EntryLog.LogId): Backlog.Backlog => {
  const { last } = self
  if (last !== undefined && last.log === log && !last.isDone) return last
  let key = self.keys.get(log)
  if (key === undefined) self.keys.set(log, (key = EntryLog.keyOf(log)))
  let backlog = self.backlogs.get(key)
  if (backlog === undefined) self.backlogs.set(key, (backlog = Backlog.make(log, key)))
  self.last = backlog
  return backlog
}

/** Counts a batch out and gives its buffer back. */
export const committed = (self: Intake, batch: Backlog.Batch): void => {
  self.entries -= batch.entries.length
  self.bytes -= batch.end - batch.from
  self.fresh = 0
  Backlog.give(self.pool, batch)
  if (!isFull(self)) self.room.openUnsafe()
}

const accepted = (self: Intake, backlog: Backlog.Backlog, entries: number, bytes: number): void => {
  if (entries === 0) return
  self.entries += entries
  self.bytes += bytes
  self.fresh += bytes
  if (!backlog.isListed) {
    backlog.isListed = true
    self.onPending(backlog)
  }
  if (backlog.pieces.length > 1) self.onFull(backlog)
  if (isFull(self)) self.room.closeUnsafe()
}

/** The line of an entry; throws what is no entry, and what is no JSON. */
export const lineOf = (entry: Entry.Known | Entry.Unknown): string => {
  const found = insteadOf(entry)
  if (found !== undefined) throw new Errors.NotEntry({ found })
  const line: unknown = Line.encode(entry)
  if (typeof line !== "string") throw new TypeError("the entry has no JSON form")
  return line
}

/** What a value is instead of an entry, in words; nothing where it is one, of whatever kind. */
export const insteadOf = (value: unknown): string | undefined => {
  if (typeof (value as { readonly type?: unknown } | null | undefined)?.type === "string" && !Array.isArray(value)) {
    return undefined
  }
  if (value instanceof Entry.Malformed) return undefined
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" ? "an object without one" : `a ${typeof value}`
}
