/**
 * Rounds: the work of the writer's fibre, one round at a time.
 *
 *   items ─ sort ─▶ backlogs ─ write each that is due ─▶ (sync) ─▶ publish ─▶ settle barriers
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as EntryLog from "../EntryLog.ts"
import * as Backlog from "./backlog.ts"

/** All that was offered before it is written once it is settled, but for `queued` entries of its logs. */
export interface Barrier {
  /** Keys of the logs that it is about; none: all. */
  readonly keys: ReadonlySet<string> | undefined
  readonly settle: (queued: number, cause: EntryLog.EntryLogError | undefined) => void
}

/** What the queue holds. */
export type Item = Backlog.Accepted | Barrier

/** The state of the fibre. Delays are milliseconds. */
export interface Rounds {
  readonly port: EntryLog.EntryLog["Service"]
  readonly encode: (lines: ReadonlyArray<Backlog.Accepted>, from: number) => Backlog.Encoded
  readonly publish: (
    log: EntryLog.LogId,
    lines: ReadonlyArray<Backlog.Accepted>,
    at: EntryLog.Appended | undefined
  ) => void
  readonly isSynced: boolean
  readonly firstDelay: number
  readonly mostDelay: number
  readonly backlogs: Map<string, Backlog.Backlog>
  readonly keys: WeakMap<EntryLog.LogId, string>
}

/**
 * One round: a batch for each log that has lines, unless it failed and its wait is not over; gives the number of lines
 * that left their backlog.
 */
export const run = Effect.fnUntraced(function* (self: Rounds, items: ReadonlyArray<Item>, force: boolean) {
  const barriers = sort(self, items)
  const now = yield* Clock.currentTimeMillis
  const due = Array.from(self.backlogs).filter(([key, { failure, lines }]) => {
    if (lines.length === 0) return false
    return (
      force || failure === undefined || failure.retryAt <= now || barriers.some(({ keys }) => keys?.has(key) ?? true)
    )
  })
  // The buffer of `encode` is shared, so batches are written one after the other; waiting for the disk overlaps.
  for (const [, backlog] of due) yield* write(self, backlog, now)
  if (self.isSynced) {
    yield* Effect.forEach(due, ([, backlog]) => sync(self, backlog, now), { concurrency: "unbounded", discard: true })
  } else {
    for (const [, backlog] of due) if (backlog.written === backlog.lines.length) backlog.failure = undefined
  }
  let committed = 0
  for (const [key, backlog] of due) {
    if (!self.isSynced || backlog.failure?.error.operation !== "sync") {
      for (const { at, lines } of Backlog.take(backlog)) {
        committed += lines.length
        self.publish(backlog.log, lines, at)
      }
    }
    if (backlog.lines.length === 0) self.backlogs.delete(key)
  }
  for (const barrier of barriers) barrier.settle(left(self, barrier.keys), failure(self, barrier.keys))
  return committed
})

const sort = (self: Rounds, items: ReadonlyArray<Item>): ReadonlyArray<Barrier> => {
  const barriers: Array<Barrier> = []
  for (const item of items) {
    if ("settle" in item) {
      barriers.push(item)
      continue
    }
    let key = self.keys.get(item.log)
    if (key === undefined) self.keys.set(item.log, (key = EntryLog.keyOf(item.log)))
    let backlog = self.backlogs.get(key)
    if (backlog === undefined) self.backlogs.set(key, (backlog = Backlog.make(item.log)))
    backlog.lines.push(item)
  }
  return barriers
}

/** Puts all lines into the log, or as many as go. */
const write = Effect.fnUntraced(function* (self: Rounds, backlog: Backlog.Backlog, now: number) {
  while (backlog.written < backlog.lines.length) {
    const { bytes, ends } = self.encode(backlog.lines, backlog.written)
    const result = yield* Effect.result(self.port.append(backlog.log, bytes))
    if (Result.isFailure(result)) {
      const whole = result.failure.written ?? 0
      Backlog.add(backlog, ends.findLastIndex((end) => end <= whole) + 1, undefined)
      return fail(self, backlog, result.failure, now)
    }
    Backlog.add(backlog, ends.length, result.success)
  }
})

const sync = Effect.fnUntraced(function* (self: Rounds, backlog: Backlog.Backlog, now: number) {
  if (backlog.written === 0) return
  const result = yield* Effect.result(self.port.sync(backlog.log))
  if (Result.isFailure(result)) fail(self, backlog, result.failure, now)
  else if (backlog.written === backlog.lines.length) backlog.failure = undefined
})

const fail = (self: Rounds, backlog: Backlog.Backlog, error: EntryLog.EntryLogError, now: number): void => {
  const attempts = (backlog.failure?.attempts ?? 0) + 1
  backlog.failure = { error, attempts, retryAt: now + delay(self, attempts) }
}

/** How long to wait after so many failed attempts. */
export const delay = (self: Rounds, attempts: number): number =>
  Math.min(self.mostDelay, self.firstDelay * 2 ** (attempts - 1))

/** The number of lines that are not committed, of these logs or of all. */
export const left = (self: Rounds, keys?: ReadonlySet<string>): number => {
  let count = 0
  for (const [key, { lines }] of self.backlogs) if (keys?.has(key) ?? true) count += lines.length
  return count
}

/** Why they are not. */
export const failure = (self: Rounds, keys?: ReadonlySet<string>): EntryLog.EntryLogError | undefined => {
  for (const [key, { failure }] of self.backlogs) {
    if (failure !== undefined && (keys?.has(key) ?? true)) return failure.error
  }
  return undefined
}

/** When the next attempt is due, in milliseconds since 1970; nothing when none is. */
export const nextRetry = (self: Rounds): number | undefined => {
  let next: number | undefined
  for (const { failure } of self.backlogs.values()) {
    if (failure !== undefined && (next === undefined || failure.retryAt < next)) next = failure.retryAt
  }
  return next
}
