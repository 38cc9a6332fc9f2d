/**
 * Writing: the writer's fibre, and the doors to it.
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as EntryLog from "../EntryLog.ts"
import type * as SessionWriter from "../SessionWriter.ts"
import * as Backlog from "./backlog.ts"
import * as Errors from "./errors.ts"
import * as Guarded from "./guarded.ts"
import * as Intake from "./intake.ts"
import * as Rounds from "./rounds.ts"

type Writer = SessionWriter.SessionWriter["Service"]

/** A running writer; its scope drains it. */
export const make = Effect.fnUntraced(function* (options: SessionWriter.Options) {
  const batchBytes = options.batchBytes ?? 512 * 1024
  const queue = yield* Queue.unbounded<Rounds.Item, Cause.Done>()
  const intake = Intake.make({
    capacity: options.capacity ?? 8192,
    capacityBytes: options.capacityBytes ?? 64 * 1024 * 1024,
    batchBytes,
    onPending: (backlog) => Queue.offerUnsafe(queue, backlog),
    onFull: (backlog) => Rounds.writeFull(rounds, backlog)
  })
  const subscribers = yield* publisher
  const port = Guarded.make(yield* EntryLog.EntryLog)
  const listeners = listening(port)
  const status = yield* SubscriptionRef.make<SessionWriter.Status>({ _tag: "Ok" })
  const rounds: Rounds.Rounds = {
    port,
    clock: yield* Clock.Clock,
    durability: options.durability ?? "os",
    firstDelay: Duration.toMillis(options.retry?.first ?? "50 millis"),
    mostDelay: Duration.toMillis(options.retry?.most ?? "5 seconds"),
    backlogs: intake.backlogs,
    isPressed: () => 2 * intake.entries >= intake.capacity || 2 * intake.bytes >= intake.capacityBytes,
    onCommit: (backlog, batch) => {
      subscribers.publish(backlog, batch)
      Intake.committed(intake, batch)
    },
    onForeign: listeners.tell
  }
  const state = { isClosed: false, isReported: false }
  const close = Effect.sync(() => {
    state.isClosed = true
    intake.room.openUnsafe()
  })
  const round = (force: boolean) =>
    Effect.flatMap(Queue.clear(queue), (items) => {
      intake.fresh = 0
      return Rounds.run(rounds, items, force)
    }).pipe(Effect.andThen(Effect.suspend(() => tellStatus(rounds, status))))
  const fiber = yield* Effect.uninterruptibleMask((restore) =>
    restore(Effect.suspend(() => wait(rounds, queue))).pipe(
      Effect.andThen(round(false)),
      Effect.forever({ disableYield: true }),
      Effect.catchTag("Done", () => drain(rounds, round(true), options.retry?.onClose ?? 5)),
      Effect.onExit(() => close)
    )
  ).pipe(Effect.forkScoped)
  if (rounds.durability === "fsync-interval") {
    const tick = Effect.sync(() => {
      if (intake.entries > 0) Queue.offerUnsafe(queue, { _tag: "Tick" })
    })
    yield* Effect.forkScoped(Effect.forever(Effect.delay(tick, options.interval ?? "1 second")))
  }
  const end = close.pipe(
    Effect.andThen(Queue.end(queue)),
    Effect.andThen(Fiber.await(fiber)),
    Effect.andThen(
      Effect.suspend(() => {
        if (intake.entries === 0) return Effect.void
        state.isReported = true
        return Effect.fail(unwritten(rounds))
      })
    ),
    Effect.uninterruptible
  )
  // Runs before the fork's own interruption, being added after it.
  yield* Effect.addFinalizer(() => (state.isReported ? Effect.void : Effect.orDie(end)))
  return doors(rounds, intake, queue, state, batchBytes, {
    close: end,
    committed: subscribers.stream,
    status,
    onForeign: listeners.add
  })
})

const doors = (
  rounds: Rounds.Rounds,
  intake: Intake.Intake,
  queue: Queue.Queue<Rounds.Item, Cause.Done>,
  state: { readonly isClosed: boolean },
  batchBytes: number,
  others: Pick<Writer, "close" | "committed" | "status" | "onForeign">
): Writer => {
  const offer: SessionWriter.Offer = (log, entry, line) => Intake.offer(intake, log, entry, line)
  const isReady = (): boolean => !state.isClosed && !Intake.isFull(intake) && intake.fresh < batchBytes
  /** Runs the step when there is room. */
  const enter = <A, E>(step: () => Effect.Effect<A, E>): Effect.Effect<A, E | Errors.SessionWriterClosed> =>
    Effect.suspend(() => (isReady() ? step() : later(step)))
  /** A whole batch that nobody has taken yet gives the fibre its turn first. */
  const later = <A, E>(step: () => Effect.Effect<A, E>): Effect.Effect<A, E | Errors.SessionWriterClosed> => {
    if (state.isClosed) return Effect.fail(new Errors.SessionWriterClosed())
    if (Intake.isFull(intake)) return Effect.andThen(intake.room.await, enter(step))
    intake.fresh = 0
    return Effect.andThen(Effect.yieldNow, enter(step))
  }
  const appendNow = (log: EntryLog.LogId, entry: Backlog.Written): Effect.Effect<void, NotWritable> => {
    try {
      Intake.append(intake, log, entry)
      return Effect.void
    } catch (cause) {
      return notWritable(cause)
    }
  }
  const appendAllNow = (
    log: EntryLog.LogId,
    entries: ReadonlyArray<Backlog.Written>
  ): Effect.Effect<void, NotWritable> => {
    try {
      Intake.appendAll(intake, log, entries)
      return Effect.void
    } catch (cause) {
      return notWritable(cause)
    }
  }
  const barrier = (backlogs: Iterable<Backlog.Backlog>): Effect.Effect<void, Errors.FlushError> => {
    const done = Deferred.makeUnsafe<void, Errors.FlushError>()
    Queue.offerUnsafe(queue, {
      _tag: "Barrier",
      targets: Array.from(backlogs, (backlog) => ({ backlog, upTo: backlog.accepted })),
      settle: (queued, cause) =>
        Deferred.doneUnsafe(
          done,
          queued === 0 || cause === undefined ? Exit.void : Exit.fail(new Errors.FlushError({ queued, cause }))
        )
    })
    // Whoever waits for a log does not wait for the fibre's turn as well.
    Queue.flushUnsafe(queue)
    return Deferred.await(done)
  }
  /** Accepting and asking is one step, so that nothing of it is committed without the disk before. */
  const durable = <A>(step: (offer: SessionWriter.Offer) => A): Effect.Effect<A, Errors.FlushError> => {
    const touched = new Set<Backlog.Backlog>()
    const made = step((log, entry, line) => {
      const backlog = Intake.backlogOf(intake, log)
      backlog.mustSync = true
      touched.add(backlog)
      return Intake.offer(intake, log, entry, line)
    })
    return touched.size === 0 ? Effect.succeed(made) : Effect.as(barrier(touched), made)
  }
  const appendDurable = (
    log: EntryLog.LogId,
    entry: Backlog.Written
  ): Effect.Effect<void, NotWritable | Errors.FlushError> => {
    try {
      const line = Intake.lineOf(entry)
      return durable((offer) => void offer(log, entry, line))
    } catch (cause) {
      return notWritable(cause)
    }
  }
  const existing = (logs: ReadonlyArray<EntryLog.LogId> | undefined): Iterable<Backlog.Backlog> =>
    logs === undefined
      ? intake.backlogs.values()
      : logs.flatMap((log) => intake.backlogs.get(EntryLog.keyOf(log)) ?? [])
  return {
    ...others,
    submit: (step) =>
      Effect.suspend(() => (isReady() ? Effect.succeed(step(offer)) : later(() => Effect.succeed(step(offer))))),
    submitNow: (step) =>
      Effect.suspend(() =>
        state.isClosed ? Effect.fail(new Errors.SessionWriterClosed()) : Effect.succeed(step(offer))
      ),
    append: (log, entry) =>
      Effect.suspend(() => (isReady() ? appendNow(log, entry) : later(() => appendNow(log, entry)))),
    appendAll: (log, entries) => enter(() => appendAllNow(log, entries)),
    submitDurable: (step) => enter(() => durable(step)),
    appendDurable: (log, entry) => enter(() => appendDurable(log, entry)),
    flush: Effect.fn("SessionWriter.flush")(function* (logs) {
      if (state.isClosed) return yield* new Errors.SessionWriterClosed()
      return yield* barrier(existing(logs))
    }),
    flushSync: (step) =>
      Effect.gen(function* () {
        if (state.isClosed) return yield* new Errors.SessionWriterClosed()
        step?.(offer)
        if (rounds.port.blocking !== undefined) Rounds.runNow(rounds, rounds.port.blocking)
        if (intake.entries === 0) return
        const cause = Rounds.failed(rounds)[0]?.failure.error ?? cannotBlock(rounds)
        return yield* new Errors.FlushError({ queued: intake.entries, cause })
      })
  }
}

type NotWritable = Errors.NotJson | Errors.NotEntry

const notWritable = (cause: unknown): Effect.Effect<never, NotWritable> =>
  Effect.fail(cause instanceof Errors.NotEntry ? cause : new Errors.NotJson({ cause }))

const cannotBlock = ({ backlogs, port }: Rounds.Rounds): EntryLog.EntryLogError => {
  const first = backlogs.values().next().value
  return new EntryLog.EntryLogError({
    operation: "append",
    path: first === undefined ? "" : EntryLog.placeOf(port, first.log),
    reason: "Other",
    cause: new Error("this log cannot write before it returns; use flush")
  })
}

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
  for (let attempt = 1; rounds.backlogs.size > 0; attempt++) {
    yield* round
    if (rounds.backlogs.size === 0 || attempt >= attempts) return
    yield* Effect.sleep(Rounds.delay(rounds, attempt))
  }
})

const unwritten = (rounds: Rounds.Rounds): Errors.UnwrittenError =>
  new Errors.UnwrittenError({
    logs: Array.from(rounds.backlogs.values(), (backlog) => ({
      path: EntryLog.placeOf(rounds.port, backlog.log),
      queued: Backlog.queued(backlog),
      lines: Buffer.concat(backlog.pieces.map(Backlog.bytesOf)),
      unsynced: Buffer.concat(backlog.batches.map(Backlog.bytesOf)),
      ...(backlog.failure && { cause: backlog.failure.error })
    }))
  })

/** Publishes the state when it changed. */
const tellStatus = (
  rounds: Rounds.Rounds,
  ref: SubscriptionRef.SubscriptionRef<SessionWriter.Status>
): Effect.Effect<void> => {
  const failed = Rounds.failed(rounds)
  if (failed.length === 0) {
    return SubscriptionRef.getUnsafe(ref)._tag === "Ok" ? Effect.void : SubscriptionRef.set(ref, { _tag: "Ok" })
  }
  const logs = failed.map((backlog) => ({
    log: backlog.log,
    queued: Backlog.queued(backlog),
    why: backlog.failure.error
  }))
  return SubscriptionRef.set(ref, {
    _tag: "Degraded",
    since: Math.min(...failed.map(({ failure }) => failure.since)),
    queued: logs.reduce((sum, { queued }) => sum + queued, 0),
    logs
  })
}

/** Batches for those who listen; their bytes are copied, since buffers are used again. */
const publisher = Effect.map(PubSub.sliding<SessionWriter.Committed>(64), (batches) => {
  let subscribers = 0
  return {
    publish: ({ log }: Backlog.Backlog, batch: Backlog.Batch) => {
      if (subscribers === 0) return
      const { entries, start } = batch
      PubSub.publishUnsafe(batches, { log, start, entries, lines: Uint8Array.from(Backlog.bytesOf(batch)) })
    },
    stream: Stream.unwrap(
      Effect.as(
        Effect.acquireRelease(
          Effect.sync(() => void subscribers++),
          () => Effect.sync(() => void subscribers--)
        ),
        Stream.fromPubSub(batches)
      )
    )
  }
})

const listening = (port: EntryLog.EntryLog["Service"]) => {
  const byKey = new Map<string, Set<(found: Errors.ForeignWriter) => void>>()
  const add: Writer["onForeign"] = (log, listener) => {
    const key = EntryLog.keyOf(log)
    return Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => {
          const all = byKey.get(key) ?? new Set()
          byKey.set(key, all.add(listener))
          return all
        }),
        (all) =>
          Effect.sync(() => {
            all.delete(listener)
            if (all.size === 0) byKey.delete(key)
          })
      )
    )
  }
  const tell: Rounds.Rounds["onForeign"] = ({ key, log }, { ours, size }) => {
    const path = EntryLog.placeOf(port, log)
    for (const listener of byKey.get(key) ?? []) listener(new Errors.ForeignWriter({ path, ours, size }))
  }
  return { add, tell }
}
