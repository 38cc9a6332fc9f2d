/**
 * FaultyEntryLog: an entry log that fails when it is told to, for tests of what stands above it.
 *
 *   append ─ planned fault? ─▶ writes `after` bytes of the lines, then fails
 *          ├ crash point? ───▶ writes up to it, then this and all that follows fails: the disk is as a crash leaves it
 *          └ none ───────────▶ the log below
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as EntryLog from "../EntryLog.ts"

/**
 * How an operation fails; an append writes `after` bytes first (0).
 *
 * @category models
 * @since 0.1.0
 */
export interface Fault {
  readonly operation?: "append" | "rewrite" | "sync"
  readonly reason?: EntryLog.Reason
  readonly after?: number
}

/**
 * The switch.
 *
 * @category services
 * @since 0.1.0
 */
export class Faults extends Context.Service<
  Faults,
  {
    /** The next operations of these kinds fail so, one after the other. */
    readonly plan: (...faults: ReadonlyArray<Fault>) => Effect.Effect<void>
    /** Every operation of its kind fails so until it is mended; of one log, where it is named. */
    readonly breakDown: (fault: Fault, log?: EntryLog.LogId) => Effect.Effect<void>
    /** So many bytes are still written, over all logs, and none after them. */
    readonly crashAfter: (bytes: number) => Effect.Effect<void>
    readonly mend: Effect.Effect<void>
    /** The number of appends tried so far. */
    readonly appends: Effect.Effect<number>
    /** The operations that reached the log below, in order, since the last call. */
    readonly operations: Effect.Effect<ReadonlyArray<Operation>>
  }
>()("@reprise/storage/testing/FaultyEntryLog/Faults") {}

type Operation = "append" | "rewrite" | "sync"

/**
 * Puts the switch in front of a log.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<EntryLog.EntryLog | Faults, never, EntryLog.EntryLog> = Layer.effectContext(
  Effect.map(EntryLog.EntryLog, (below) => {
    const plan = planner()
    const { blocking } = below
    const port: EntryLog.EntryLog["Service"] = {
      ...below,
      append: (log, lines) =>
        Effect.suspend(() => {
          const fault = plan.next("append", log, lines)
          if (fault === undefined) return below.append(log, lines)
          if (fault.part.length === 0) return Effect.fail(fault.error(undefined))
          return Effect.flatMap(below.append(log, fault.part), ({ start }) => Effect.fail(fault.error(start)))
        }),
      rewrite: (log, start, lines) =>
        Effect.suspend(() => {
          const fault = plan.next("rewrite", log)
          return fault === undefined ? below.rewrite(log, start, lines) : Effect.fail(fault.error(undefined))
        }),
      sync: (log) =>
        Effect.suspend(() => {
          const fault = plan.next("sync", log)
          return fault === undefined ? below.sync(log) : Effect.fail(fault.error(undefined))
        }),
      blocking: blocking && {
        append: (log, lines) => {
          const fault = plan.next("append", log, lines)
          if (fault === undefined) return blocking.append(log, lines)
          if (fault.part.length === 0) return Result.fail(fault.error(undefined))
          return Result.flatMap(blocking.append(log, fault.part), ({ start }) => Result.fail(fault.error(start)))
        },
        rewrite: (log, start, lines) => {
          const fault = plan.next("rewrite", log)
          return fault === undefined ? blocking.rewrite(log, start, lines) : Result.fail(fault.error(undefined))
        },
        sync: (log) => {
          const fault = plan.next("sync", log)
          return fault === undefined ? blocking.sync(log) : Result.fail(fault.error(undefined))
        }
      }
    }
    return Context.make(EntryLog.EntryLog, port).pipe(Context.add(Faults, plan.faults))
  })
)

const planner = () => {
  const planned: Array<Fault> = []
  const operations: Array<Operation> = []
  let broken: { readonly fault: Fault; readonly key: string | undefined } | undefined
  let left = Infinity
  let appends = 0

  const faultOf = (operation: Operation, log: EntryLog.LogId, size: number): Fault | undefined => {
    const at = planned.findIndex((fault) => (fault.operation ?? "append") === operation)
    if (at >= 0) return planned.splice(at, 1)[0]
    if (left <= 0 || size > left) return { operation, reason: "InputOutput", after: left }
    if (broken === undefined || (broken.fault.operation ?? "append") !== operation) return undefined
    return broken.key === undefined || broken.key === EntryLog.keyOf(log) ? broken.fault : undefined
  }
  const next = (operation: Operation, log: EntryLog.LogId, lines: Uint8Array = new Uint8Array()) => {
    if (operation === "append") appends++
    const fault = faultOf(operation, log, lines.length)
    const part = fault === undefined ? lines : lines.subarray(0, fault.after ?? 0)
    left -= part.length
    if (fault === undefined || part.length > 0) operations.push(operation)
    if (fault === undefined) return undefined
    const error = (start: number | undefined) =>
      new EntryLog.EntryLogError({
        operation,
        path: EntryLog.keyOf(log),
        reason: fault.reason ?? "NoSpace",
        ...(operation === "append" && { written: EntryLog.wholeLines(lines, part.length) }),
        ...(start !== undefined && { start })
      })
    return { part, error }
  }
  const faults = Faults.of({
    plan: (...more) => Effect.sync(() => void planned.push(...more)),
    breakDown: (fault, log) =>
      Effect.sync(() => {
        broken = { fault, key: log && EntryLog.keyOf(log) }
      }),
    crashAfter: (bytes) => Effect.sync(() => void (left = bytes)),
    mend: Effect.sync(() => {
      broken = undefined
      left = Infinity
      planned.length = 0
    }),
    appends: Effect.sync(() => appends),
    operations: Effect.sync(() => operations.splice(0))
  })
  return { faults, next }
}
