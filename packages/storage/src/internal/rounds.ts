/**
 * Rounds: the work of the writer's fibre, one round at a time.
 *
 *   items ─▶ logs that are due ─ (rewrite) append ─▶ (sync) ─▶ commit ─▶ settle barriers
 *
 * 1. Writing and taking note of what was written is one synchronous step wherever the port can: `writeFull` and `runNow`,
 *    which are called from outside, never meet a log half way.
 * 2. A log is asked to sync when the policy or a barrier says so; what it fails to sync is written again first.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as EntryLog from "../EntryLog.ts"
import * as Backlog from "./backlog.ts"

/** All that was accepted before it is committed once it is settled, but for `queued` entries of its logs. */
interface Barrier {
  readonly _tag: "Barrier"
  /** The logs that it is about, each with the number of lines that must be committed. */
  readonly targets: ReadonlyArray<{ readonly backlog: Backlog.Backlog; readonly upTo: number }>
  readonly settle: (queued: number, cause: EntryLog.EntryLogError | undefined) => void
}

/** It is time to sync what was written. */
interface Tick {
  readonly _tag: "Tick"
}

/** What the queue holds: logs with something to write, and wishes. */
export type Item = Backlog.Backlog | Barrier | Tick

/** The state of the fibre. Delays are milliseconds. */
export interface Rounds {
  readonly port: EntryLog.EntryLog["Service"]
  readonly clock: Clock.Clock
  readonly durability: "os" | "fsync" | "fsync-interval"
  readonly firstDelay: number
  readonly mostDelay: number
  readonly backlogs: Map<string, Backlog.Backlog>
  /** Whether so much is written and not synced that it must be. */
  readonly isPressed: () => boolean
  readonly onCommit: (backlog: Backlog.Backlog, batch: Backlog.Batch) => void
  readonly onForeign: (backlog: Backlog.Backlog, foreign: EntryLog.Foreign) => void
}

/** One round: all that is pending of each log that is due; one that failed is due when its wait is over, or with `force`. */
export const run = (self: Rounds, items: ReadonlyArray<Item>, force: boolean): Effect.Effect<void> =>
  Effect.suspend(() => {
    const wish = wishOf(items)
    const now = self.clock.currentTimeMillisUnsafe()
    const due = dueOf(self, wish, force, now)
    const { blocking } = self.port
    if (blocking === undefined) {
      const written = Effect.forEach(due, (backlog) => write(self, backlog, now), { discard: true })
      return Effect.flatMap(written, () => finish(self, wish, force, due, now))
    }
    for (const backlog of due) writeNow(self, blocking, backlog, now)
    return finish(self, wish, force, due, now)
  })

/** Asks the disk where it is time to, and answers those who wait. */
const finish = (
  self: Rounds,
  wish: Wish,
  force: boolean,
  due: ReadonlyArray<Backlog.Backlog>,
  now: number
): Effect.Effect<void> => {
  const synced = due.filter((backlog) => commitsOrSyncs(self, wish, force, backlog))
  const [first, second] = synced
  if (first === undefined) return Effect.sync(() => wish.barriers.forEach(settle))
  const asked =
    second === undefined
      ? sync(self, first, now)
      : Effect.forEach(synced, (backlog) => sync(self, backlog, now), { concurrency: "unbounded", discard: true })
  return Effect.map(asked, () => wish.barriers.forEach(settle))
}

/** A round that is done when it returns, over all that is pending. */
export const runNow = (self: Rounds, blocking: EntryLog.Blocking): void => {
  const now = self.clock.currentTimeMillisUnsafe()
  for (const backlog of self.backlogs.values()) {
    // The answer that is awaited may be the one that says what was lost.
    if (backlog.isSyncing) for (const batch of backlog.batches) batch.mustRewrite = true
    writeNow(self, blocking, backlog, now)
    if (backlog.batches.length === 0 || isDamaged(backlog)) continue
    if (self.durability === "os" && !backlog.mustSync) commit(self, backlog)
    else {
      backlog.mustSync = false
      answered(self, backlog, blocking.sync(backlog.log), now)
    }
  }
}

/** Writes the pieces that are full, in the turn of whoever filled them: no fibre has to wake for them. */
export const writeFull = (self: Rounds, backlog: Backlog.Backlog): void => {
  const { blocking } = self.port
  if (blocking === undefined || backlog.failure !== undefined || backlog.isSyncing || backlog.mustSync) return
  while (backlog.pieces.length > 1) {
    const lines = Backlog.bytesOf(backlog.pieces[0]!)
    if (!appended(self, backlog, lines, blocking.append(backlog.log, lines), self.clock.currentTimeMillisUnsafe()))
      break
  }
  if (self.durability === "os") commit(self, backlog)
}

interface Wish {
  readonly barriers: ReadonlyArray<Barrier>
  readonly logs: ReadonlySet<Backlog.Backlog>
  readonly isTick: boolean
}

const wishOf = (items: ReadonlyArray<Item>): Wish => {
  const barriers: Array<Barrier> = []
  const logs = new Set<Backlog.Backlog>()
  let isTick = false
  for (const item of items) {
    if (!("_tag" in item)) item.isListed = false
    else if (item._tag === "Tick") isTick = true
    else {
      barriers.push(item)
      for (const { backlog } of item.targets) logs.add(backlog)
    }
  }
  return { barriers, logs, isTick }
}

const dueOf = (self: Rounds, wish: Wish, force: boolean, now: number): ReadonlyArray<Backlog.Backlog> => {
  const due: Array<Backlog.Backlog> = []
  for (const backlog of self.backlogs.values()) {
    const isDue = force || backlog.failure === undefined || backlog.failure.retryAt <= now || wish.logs.has(backlog)
    if (isDue && Backlog.queued(backlog) > 0) due.push(backlog)
  }
  return due
}

/** The next operation on a log; a batch that must be written again goes first. */
const step = (backlog: Backlog.Backlog): Step | undefined => {
  const damaged = backlog.batches.find(({ mustRewrite }) => mustRewrite)
  if (damaged !== undefined) return { batch: damaged, start: damaged.start, lines: Backlog.bytesOf(damaged) }
  const piece = Backlog.next(backlog)
  return piece && { batch: undefined, start: undefined, lines: Backlog.bytesOf(piece) }
}

interface Step {
  readonly batch: Backlog.Batch | undefined
  readonly start: number | undefined
  readonly lines: Uint8Array
}

const writeNow = (self: Rounds, blocking: EntryLog.Blocking, backlog: Backlog.Backlog, now: number): void => {
  for (let next = step(backlog); next !== undefined; next = step(backlog)) {
    const { batch, lines, start } = next
    const isDone =
      batch === undefined
        ? appended(self, backlog, lines, blocking.append(backlog.log, lines), now)
        : rewritten(self, backlog, batch, start === undefined ? gone : blocking.rewrite(backlog.log, start, lines), now)
    if (!isDone) return
  }
  recovered(backlog, "append")
}

const write = Effect.fnUntraced(function* (self: Rounds, backlog: Backlog.Backlog, now: number) {
  for (let next = step(backlog); next !== undefined; next = step(backlog)) {
    const { batch, lines, start } = next
    const { log } = backlog
    const isDone =
      batch === undefined
        ? appended(self, backlog, lines, yield* Effect.result(self.port.append(log, lines)), now)
        : rewritten(
            self,
            backlog,
            batch,
            start === undefined ? gone : yield* Effect.result(self.port.rewrite(log, start, lines)),
            now
          )
    if (!isDone) return
  }
  recovered(backlog, "append")
})

/** The answer for a batch whose place is not known. */
const gone = Result.fail(undefined)

/** Takes note of an append; false: it failed, and is not tried again now. */
const appended = (
  self: Rounds,
  backlog: Backlog.Backlog,
  lines: Uint8Array,
  result: Result.Result<EntryLog.Appended, EntryLog.EntryLogError>,
  now: number
): boolean => {
  if (Result.isFailure(result)) {
    Backlog.wrote(backlog, result.failure.written ?? 0, result.failure.start)
    fail(self, backlog, result.failure, now)
    return false
  }
  const { foreign, start } = result.success
  Backlog.wrote(backlog, lines.length, start)
  if (foreign !== undefined) self.onForeign(backlog, foreign)
  return true
}

const rewritten = (
  self: Rounds,
  backlog: Backlog.Backlog,
  batch: Backlog.Batch,
  result: Result.Result<void, EntryLog.EntryLogError | undefined>,
  now: number
): boolean => {
  if (Result.isSuccess(result)) batch.mustRewrite = false
  else if (result.failure === undefined || result.failure.reason === "NotFound") Backlog.unwrite(backlog)
  else {
    fail(self, backlog, result.failure, now)
    return false
  }
  return true
}

const isDamaged = ({ batches }: Backlog.Backlog): boolean => batches.some(({ mustRewrite }) => mustRewrite)

/** Commits what is written where nothing waits for the disk; else says whether to ask it. */
const commitsOrSyncs = (self: Rounds, wish: Wish, force: boolean, backlog: Backlog.Backlog): boolean => {
  if (backlog.batches.length === 0 || isDamaged(backlog)) return false
  if (self.durability === "fsync" || backlog.mustSync) return true
  if (self.durability === "fsync-interval") {
    return force || wish.isTick || wish.logs.has(backlog) || self.isPressed()
  }
  commit(self, backlog)
  return false
}

const commit = (self: Rounds, backlog: Backlog.Backlog): void => {
  for (const batch of Backlog.commit(backlog)) self.onCommit(backlog, batch)
  if (Backlog.queued(backlog) > 0) return
  backlog.isDone = true
  self.backlogs.delete(backlog.key)
}

const sync = (self: Rounds, backlog: Backlog.Backlog, now: number): Effect.Effect<void> => {
  // A wish that comes while the disk works is for the next time.
  backlog.mustSync = false
  backlog.isSyncing = true
  return Effect.map(Effect.result(self.port.sync(backlog.log)), (result) => {
    backlog.isSyncing = false
    answered(self, backlog, result, now)
  })
}

const answered = (
  self: Rounds,
  backlog: Backlog.Backlog,
  result: Result.Result<void, EntryLog.EntryLogError>,
  now: number
): void => {
  if (Result.isFailure(result)) {
    backlog.mustSync = true
    for (const batch of backlog.batches) batch.mustRewrite = true
    return fail(self, backlog, result.failure, now)
  }
  if (isDamaged(backlog)) return
  recovered(backlog, "sync")
  commit(self, backlog)
}

/** An operation that failed before went well. */
const recovered = (backlog: Backlog.Backlog, operation: "append" | "sync"): void => {
  if ((backlog.failure?.error.operation === "sync") === (operation === "sync")) backlog.failure = undefined
}

const settle = ({ settle, targets }: Barrier): void => {
  let queued = 0
  let cause: EntryLog.EntryLogError | undefined
  for (const { backlog, upTo } of targets) {
    queued += Math.max(0, upTo - backlog.committed)
    if (upTo > backlog.committed) cause ??= backlog.failure?.error
  }
  settle(queued, cause)
}

const fail = (self: Rounds, backlog: Backlog.Backlog, error: EntryLog.EntryLogError, now: number): void => {
  const attempts = (backlog.failure?.attempts ?? 0) + 1
  backlog.failure = { error, attempts, since: backlog.failure?.since ?? now, retryAt: now + delay(self, attempts) }
}

/** How long to wait after so many failed attempts. */
export const delay = (self: Rounds, attempts: number): number =>
  Math.min(self.mostDelay, self.firstDelay * 2 ** (attempts - 1))

/** The logs that failed and still wait. */
export const failed = (self: Rounds): ReadonlyArray<Backlog.Backlog & { readonly failure: Backlog.Failure }> =>
  Array.from(self.backlogs.values()).filter(
    (backlog): backlog is Backlog.Backlog & { readonly failure: Backlog.Failure } => backlog.failure !== undefined
  )

/** When the next attempt is due, in milliseconds since 1970; nothing when none is. */
export const nextRetry = (self: Rounds): number | undefined => {
  let next: number | undefined
  for (const { failure } of self.backlogs.values()) {
    if (failure !== undefined && (next === undefined || failure.retryAt < next)) next = failure.retryAt
  }
  return next
}
