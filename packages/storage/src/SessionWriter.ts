/**
 * SessionWriter: the one queue through which all sessions of a program write.
 *
 *   append ─ encode ─▶ │ backlog of log A │ ─ EntryLog.append ─▶ (sync) ─▶ committed
 *   flush  ─ barrier ─▶│ backlog of log B │
 *
 * 1. Accepted is a promise: an entry leaves its backlog when its bytes are in the log (policy `os`) or on the disk, and
 *    not before. A batch that failed is kept, in order, and tried again; one that a disk failed to sync is written again.
 * 2. Taking a batch and writing it is one uninterruptible region; only waiting can be interrupted.
 * 3. One batch per log and round, one round at a time: what arrives meanwhile is the next batch. No timer in the path.
 * 4. A log that fails delays no other log. `flush` is a barrier: all accepted before it is written, or it says what is not.
 * 5. When too much is unwritten, for whatever reason, accepting waits. It is one synchronous step, so a caller that is
 *    interrupted while waiting has nothing accepted. Its bytes are made in that step: a later change is not written.
 * 6. Closing the scope drains. What cannot be written then is handed back, as `UnwrittenError`.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as SubscriptionRef from "effect/SubscriptionRef"
import type * as EntryLog from "./EntryLog.ts"
import type * as Backlog from "./internal/backlog.ts"
import type {
  FlushError,
  ForeignWriter,
  NotEntry,
  NotJson,
  SessionWriterClosed,
  UnwrittenError
} from "./internal/errors.ts"
import * as Writing from "./internal/writing.ts"

/**
 * How the writer works. `durability`: `os` (default) trusts the system with the bytes; `fsync` waits for the disk;
 * `fsync-interval` asks the disk every `interval` (1 s) and on `flush`. `capacity` and `capacityBytes`: what may be
 * unwritten before accepting waits (8,192 entries, 64 MiB). `batchBytes`: size of one write (512 KiB). `retry`: the
 * first and the longest wait before a failed batch is tried again (50 ms, 5 s), and how often it is tried on close (5).
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly durability?: "os" | "fsync" | "fsync-interval"
  readonly interval?: Duration.Input
  readonly capacity?: number
  readonly capacityBytes?: number
  readonly batchBytes?: number
  readonly retry?: { readonly first?: Duration.Input; readonly most?: Duration.Input; readonly onClose?: number }
}

export { FlushError, ForeignWriter, NotEntry, NotJson, SessionWriterClosed, UnwrittenError } from "./internal/errors.ts"

/**
 * How writing goes: well, or, since a time (milliseconds since 1970), not: which logs fail, why, and what is queued.
 *
 * @category models
 * @since 0.1.0
 */
export type Status =
  | { readonly _tag: "Ok" }
  | {
      readonly _tag: "Degraded"
      readonly since: number
      readonly queued: number
      readonly logs: ReadonlyArray<{
        readonly log: EntryLog.LogId
        readonly queued: number
        readonly why: EntryLog.EntryLogError
      }>
    }

/**
 * A batch that is in its log: its entries, their lines as bytes, and where they start (not known where an append
 * stopped half way). A subscriber that falls behind misses the oldest batches; where `start` is not the end of the last
 * one, it reads what is between from the log.
 *
 * @category models
 * @since 0.1.0
 */
export interface Committed {
  readonly log: EntryLog.LogId
  readonly start: number | undefined
  readonly entries: ReadonlyArray<Backlog.Written>
  readonly lines: Uint8Array
}

/**
 * Accepts one entry, with its line as `Line.encode` gives it, and gives the number of its bytes in the log, LF included.
 *
 * @category models
 * @since 0.1.0
 */
export type Offer = (log: EntryLog.LogId, entry: Backlog.Written, line: string) => number

/**
 * The writer.
 *
 * @category services
 * @since 0.1.0
 */
export class SessionWriter extends Context.Service<
  SessionWriter,
  {
    /** Waits until there is room, then runs the step, which is synchronous: all that it offers is accepted at once. */
    readonly submit: <A>(step: (offer: Offer) => A) => Effect.Effect<A, SessionWriterClosed>
    /** The same at once, room or not: for the little that a session says at its end. */
    readonly submitNow: <A>(step: (offer: Offer) => A) => Effect.Effect<A, SessionWriterClosed>
    /** As `submit`, and returns when the disk has all that the step offered, whatever the policy. */
    readonly submitDurable: <A>(step: (offer: Offer) => A) => Effect.Effect<A, FlushError | SessionWriterClosed>
    /** Accepts an entry as it is. */
    readonly append: (
      log: EntryLog.LogId,
      entry: Backlog.Written
    ) => Effect.Effect<void, NotEntry | NotJson | SessionWriterClosed>
    /** Accepts entries as they are, in order: all or, where one cannot be written, none. */
    readonly appendAll: (
      log: EntryLog.LogId,
      entries: ReadonlyArray<Backlog.Written>
    ) => Effect.Effect<void, NotEntry | NotJson | SessionWriterClosed>
    /** Accepts an entry and returns when the disk has it, whatever the policy. */
    readonly appendDurable: (
      log: EntryLog.LogId,
      entry: Backlog.Written
    ) => Effect.Effect<void, NotEntry | NotJson | FlushError | SessionWriterClosed>
    /** Returns when all that was accepted before is written; `logs` narrows it to these. */
    readonly flush: (logs?: ReadonlyArray<EntryLog.LogId>) => Effect.Effect<void, FlushError | SessionWriterClosed>
    /**
     * Writes all at once, for a program that exits: `process.on("exit", () => Effect.runSync(writer.flushSync()))`. What
     * the step offers is accepted first, room or not.
     */
    readonly flushSync: (step?: (offer: Offer) => void) => Effect.Effect<void, FlushError | SessionWriterClosed>
    /** Ends the writer and drains it; the scope does it too, but then what cannot be written is a defect. */
    readonly close: Effect.Effect<void, UnwrittenError>
    /** What was written since the subscription. */
    readonly committed: Stream.Stream<Committed>
    readonly status: SubscriptionRef.SubscriptionRef<Status>
    /** Calls back, until the scope ends, when a log was found changed; its bytes are behind the foreign ones then. */
    readonly onForeign: (
      log: EntryLog.LogId,
      listener: (found: ForeignWriter) => void
    ) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@reprise/storage/SessionWriter") {}

/**
 * Accepts an entry for a log as it is.
 *
 * @category writing
 * @since 0.1.0
 */
export const append = (log: EntryLog.LogId, entry: Backlog.Written) =>
  SessionWriter.use((writer) => writer.append(log, entry))

/**
 * Accepts entries for a log as they are, in order.
 *
 * @category writing
 * @since 0.1.0
 */
export const appendAll = (log: EntryLog.LogId, entries: ReadonlyArray<Backlog.Written>) =>
  SessionWriter.use((writer) => writer.appendAll(log, entries))

/**
 * Accepts an entry and returns when the disk has it.
 *
 * @category writing
 * @since 0.1.0
 */
export const appendDurable = (log: EntryLog.LogId, entry: Backlog.Written) =>
  SessionWriter.use((writer) => writer.appendDurable(log, entry))

/**
 * A writer with options.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<SessionWriter, never, EntryLog.EntryLog> =>
  Layer.effect(SessionWriter, Effect.map(Writing.make(options), SessionWriter.of))

/**
 * A writer that trusts the system with the bytes.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<SessionWriter, never, EntryLog.EntryLog> = layerWith({})
