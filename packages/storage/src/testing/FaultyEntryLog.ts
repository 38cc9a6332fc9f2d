/**
 * FaultyEntryLog: an entry log that fails when it is told to, for tests of what stands above it.
 *
 *   append ─ planned fault? ─▶ writes `after` bytes of the lines, then fails
 *          └ none ───────────▶ the log below
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as EntryLog from "../EntryLog.ts"

/**
 * How an operation fails; an append writes `after` bytes first (0).
 *
 * @category models
 * @since 0.1.0
 */
export interface Fault {
  readonly operation?: "append" | "sync"
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
    readonly mend: Effect.Effect<void>
    /** The number of appends tried so far. */
    readonly appends: Effect.Effect<number>
  }
>()("@reprise/storage/testing/FaultyEntryLog/Faults") {}

/**
 * Puts the switch in front of a log.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<EntryLog.EntryLog | Faults, never, EntryLog.EntryLog> = Layer.effectContext(
  Effect.gen(function* () {
    const below = yield* EntryLog.EntryLog
    const planned: Array<Fault> = []
    let broken: { readonly fault: Fault; readonly key: string | undefined } | undefined
    let appends = 0
    const next = (operation: "append" | "sync", log: EntryLog.LogId): Fault | undefined => {
      const at = planned.findIndex((fault) => (fault.operation ?? "append") === operation)
      if (at >= 0) return planned.splice(at, 1)[0]
      if (broken === undefined || (broken.fault.operation ?? "append") !== operation) return undefined
      return broken.key === undefined || broken.key === EntryLog.keyOf(log) ? broken.fault : undefined
    }
    const error = (operation: "append" | "sync", log: EntryLog.LogId, fault: Fault) => ({
      operation,
      path: EntryLog.keyOf(log),
      reason: fault.reason ?? ("NoSpace" as const)
    })
    const append = Effect.fnUntraced(function* (log: EntryLog.LogId, lines: Uint8Array) {
      appends++
      const fault = next("append", log)
      if (fault === undefined) return yield* below.append(log, lines)
      const part = lines.subarray(0, fault.after ?? 0)
      if (part.length > 0) yield* below.append(log, part)
      const written = EntryLog.wholeLines(lines, part.length)
      return yield* new EntryLog.EntryLogError({ ...error("append", log, fault), written })
    })
    const sync = Effect.fnUntraced(function* (log: EntryLog.LogId) {
      const fault = next("sync", log)
      if (fault !== undefined) return yield* new EntryLog.EntryLogError(error("sync", log, fault))
      return yield* below.sync(log)
    })
    const faults = Faults.of({
      plan: (...more) => Effect.sync(() => void planned.push(...more)),
      breakDown: (fault, log) =>
        Effect.sync(() => {
          broken = { fault, key: log && EntryLog.keyOf(log) }
        }),
      mend: Effect.sync(() => {
        broken = undefined
        planned.length = 0
      }),
      appends: Effect.sync(() => appends)
    })
    return Context.make(EntryLog.EntryLog, { ...below, append, sync }).pipe(Context.add(Faults, faults))
  })
)
