/**
 * SessionWriter: the one queue through which all sessions of a program write.
 *
 *   submit ─▶ Queue ─▶ │ backlog of log A │ ─ encode ─▶ EntryLog.append ─▶ committed
 *   flush  ─▶ barrier  │ backlog of log B │
 *
 * 1. Accepted is a promise: an entry leaves its backlog when its bytes are in the log (policy `os`) or on the disk
 *    (`fsync`), and not before. A batch that failed is kept, in order, and tried again.
 * 2. Taking from the queue and writing is one uninterruptible region; only waiting can be interrupted.
 * 3. One batch per log and round, one round at a time: what arrives meanwhile is the next batch. No timer in the path.
 * 4. A log that fails delays no other log. `flush` is a barrier: all accepted before it is written, or it says what is not.
 * 5. When too much is unwritten, for whatever reason, `submit` waits. It accepts in one synchronous step, so a caller
 *    that is interrupted while waiting has nothing accepted.
 * 6. Closing the scope ends the queue and drains it.
 */
import type * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as EntryLog from "./EntryLog.ts"
import * as Backlog from "./internal/backlog.ts"
import * as Rounds from "./internal/rounds.ts"

/**
 * How the writer works. `durability`: `os` trusts the system with the bytes, `fsync` waits for the disk. `capacity`:
 * entries that may be unwritten before `submit` waits (8,192). `batchBytes`: size of one write (256 KiB). `retry`: the
 * first and the longest wait before a failed batch is tried again (50 ms, 5 s), and how often it is tried on close (5).
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly durability?: "os" | "fsync"
  readonly capacity?: number
  readonly batchBytes?: number
  readonly retry?: { readonly first?: Duration.Input; readonly most?: Duration.Input; readonly onClose?: number }
}

/**
 * The scope of the writer was closed; nothing is accepted any more.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionWriterClosed extends Schema.TaggedError<SessionWriterClosed>()("SessionWriterClosed", {}) {
  override get message(): string {
    return "the session writer is closed; write before its layer's scope ends"
  }
}

/**
 * A flush could not write all: `queued` entries are still kept and are tried again.
 *
 * @category errors
 * @since 0.1.0
 */
export class FlushError extends Schema.TaggedError<FlushError>()("FlushError", {
  queued: Schema.Number,
  cause: EntryLog.EntryLogError
}) {
  override get message(): string {
    return `${this.queued} entries are not written yet; they are kept in order and tried again. ${this.cause.message}`
  }
}

/**
 * A batch that is in its log: its lines, and the bytes that they take there (not known where the append failed half
 * way). A subscriber that falls behind misses the oldest batches; where `start` is not the last `end`, it reads what is
 * between from the log.
 *
 * @category models
 * @since 0.1.0
 */
export interface Committed {
  readonly log: EntryLog.LogId
  readonly at: EntryLog.Appended | undefined
  readonly lines: ReadonlyArray<{ readonly entry: Entry.Known | Entry.Unknown; readonly line: string }>
}

/**
 * Accepts one entry, with its line as `Line.encode` gives it.
 *
 * @category models
 * @since 0.1.0
 */
export type Offer = (log: EntryLog.LogId, entry: Entry.Known | Entry.Unknown, line: string) => void

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
    /** Returns when all that was accepted before is written; `logs` narrows it to these. */
    readonly flush: (logs?: ReadonlyArray<EntryLog.LogId>) => Effect.Effect<void, FlushError | SessionWriterClosed>
    /** What was written since the subscription. */
    readonly committed: Stream.Stream<Committed>
  }
>()("@reprise/storage/SessionWriter") {}

/**
 * Accepts entries for a log as they are, in order.
 *
 * @category writing
 * @since 0.1.0
 */
export const append = (log: EntryLog.LogId, entries: Iterable<Entry.Known | Entry.Unknown>) =>
  SessionWriter.use((writer) => {
    const lines = Array.from(entries, (entry) => ({ entry, line: Line.encode(entry) }))
    return writer.submit((offer) => {
      for (const { entry, line } of lines) offer(log, entry, line)
    })
  })

const make = Effect.fnUntraced(function* (options: Options) {
  const batches = yield* PubSub.sliding<Committed>(1024)
  const rounds: Rounds.Rounds = {
    port: yield* EntryLog.EntryLog,
    encode: Backlog.encoder(options.batchBytes ?? 256 * 1024),
    publish: (log, lines, at) => PubSub.publishUnsafe(batches, { log, lines, at }),
    isSynced: options.durability === "fsync",
    firstDelay: Duration.toMillis(options.retry?.first ?? "50 millis"),
    mostDelay: Duration.toMillis(options.retry?.most ?? "5 seconds"),
    backlogs: new Map(),
    keys: new WeakMap()
  }
  const queue = yield* Queue.unbounded<Rounds.Item, Cause.Done>()
  const flushes = new Set<Deferred.Deferred<void, FlushError>>()
  const room = Latch.makeUnsafe(true)
  const capacity = options.capacity ?? 8192
  let isClosed = false
  let unwritten = 0

  const round = (force: boolean) =>
    Effect.flatMap(Queue.clear(queue), (items) => Rounds.run(rounds, items, force)).pipe(
      Effect.map((committed) => {
        unwritten -= committed
        if (unwritten < capacity) room.openUnsafe()
      })
    )
  const close = Effect.sync(() => {
    isClosed = true
    room.openUnsafe()
  })
  const fiber = yield* Effect.uninterruptibleMask((restore) =>
    restore(Effect.suspend(() => wait(rounds, queue))).pipe(
      Effect.andThen(round(false)),
      Effect.forever,
      Effect.catchTag("Done", () => drain(rounds, round(true), options.retry?.onClose ?? 5)),
      Effect.onExit((exit) =>
        Effect.andThen(
          close,
          Effect.forEach(flushes, (flush) => Deferred.done(flush, exit), { discard: true })
        )
      )
    )
  ).pipe(Effect.forkScoped)
  // Runs before the fork's own interruption, being added after it.
  yield* Effect.addFinalizer(() => close.pipe(Effect.andThen(Queue.end(queue)), Effect.andThen(Fiber.await(fiber))))

  const offer: Offer = (log, entry, line) => {
    unwritten++
    if (unwritten >= capacity) room.closeUnsafe()
    Queue.offerUnsafe(queue, { log, entry, line })
  }
  const submit = <A>(step: (offer: Offer) => A): Effect.Effect<A, SessionWriterClosed> =>
    Effect.suspend(() => {
      if (isClosed) return Effect.fail(new SessionWriterClosed())
      return unwritten >= capacity ? Effect.andThen(room.await, submit(step)) : Effect.succeed(step(offer))
    })
  const flush = Effect.fn("SessionWriter.flush")(function* (logs?: ReadonlyArray<EntryLog.LogId>) {
    if (isClosed) return yield* new SessionWriterClosed()
    const done = Deferred.makeUnsafe<void, FlushError>()
    flushes.add(done)
    Queue.offerUnsafe(queue, {
      keys: logs === undefined ? undefined : new Set(logs.map(EntryLog.keyOf)),
      settle: (queued, cause) => {
        flushes.delete(done)
        const isWritten = queued === 0 || cause === undefined
        Deferred.doneUnsafe(done, isWritten ? Exit.void : Exit.fail(new FlushError({ queued, cause })))
      }
    })
    return yield* Deferred.await(done)
  })
  return SessionWriter.of({ submit, flush, committed: Stream.fromPubSub(batches) })
})

/** Until there is something in the queue, or a failed log is due again. */
const wait = (
  rounds: Rounds.Rounds,
  queue: Queue.Dequeue<Rounds.Item, Cause.Done>
): Effect.Effect<unknown, Cause.Done> => {
  const next = Rounds.nextRetry(rounds)
  if (next === undefined) return Queue.peek(queue)
  return Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.timeoutOption(Queue.peek(queue), Math.max(0, next - now))
  )
}

/** Writes what is left after the end of the queue; a log that cannot be written does not hold up the end for ever. */
const drain = Effect.fnUntraced(function* (rounds: Rounds.Rounds, round: Effect.Effect<void>, attempts: number) {
  for (let attempt = 1; Rounds.left(rounds) > 0; attempt++) {
    yield* round
    const left = Rounds.left(rounds)
    if (left > 0 && attempt >= attempts) {
      return yield* Effect.logError(`closed with ${left} entries unwritten`, Rounds.failure(rounds))
    }
    if (left > 0) yield* Effect.sleep(Rounds.delay(rounds, attempt))
  }
})

/**
 * A writer with options.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<SessionWriter, never, EntryLog.EntryLog> =>
  Layer.effect(SessionWriter, make(options))

/**
 * A writer that trusts the system with the bytes.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<SessionWriter, never, EntryLog.EntryLog> = layerWith({})
