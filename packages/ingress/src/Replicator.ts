/**
 * Replicator: the logs of a session are sent to a remote as they grow.
 *
 *   log ─ cursor ─▶ batch ─▶ Ingress ─▶ answer ─▶ cursor on the disk ─▶ next batch
 *                     └ fails: waits, and sends it again
 *
 * 1. The log is the spool: what is not sent is behind the cursor, however long the remote is away. One batch is held.
 * 2. It only reads the log. Writing never waits for it and never fails because of it.
 * 3. The order of a stream at the remote is that of its log; each line is there once, whoever is killed and whatever
 *    answers are lost.
 * 4. A line is sent when it has ended. Lines that a remote does not take are kept beside the log, and told.
 * 5. It never gives up: only another writer, a log that diverged or a session that was deleted stops it.
 */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { randomUUID } from "node:crypto"
import { Ingress } from "./Ingress.ts"
import * as Agents from "./internal/replicating/agents.ts"
import * as Compat from "./internal/replicating/compat.ts"
import * as Native from "./internal/replicating/native.ts"
import * as Loop from "./internal/replicating/loop.ts"
import * as Replica from "./internal/replicating/replica.ts"
import type { Session } from "./internal/replicating/session.ts"
import * as Step from "./internal/replicating/step.ts"
import type * as Tail from "./internal/replicating/tail.ts"
import * as ReplicaCursor from "./ReplicaCursor.ts"
import * as ReplicaStatus from "./ReplicaStatus.ts"
import * as StreamAddress from "./StreamAddress.ts"

/**
 * How a session is replicated. `profile`: `native` (default): every line of the main log and of those of agents; or
 * `compat`: the messages of the main log. `claim`: a session that this directory claimed before is gone on with
 * (`kept`, default), or claimed in any case (`anew`), which fences other writers off. `batchBytes` and `batchLines`: what
 * is sent at once (256 KiB, 1,000). `interval`: how long a log is left alone that says nothing (1 s).
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly profile?: "compat" | "native"
  readonly claim?: "kept" | "anew"
  readonly batchBytes?: number
  readonly batchLines?: number
  readonly interval?: Duration.Input
}

/**
 * What is not at the remote yet: bytes by stream, those without any left out, how many lines it does not take, the paths
 * of agents' logs with names that it does not take (nothing of them is sent), and how things stand. Where all is sent that can be (`Live`), what is left is a last line that has not ended.
 *
 * @category models
 * @since 0.1.0
 */
export interface Behind {
  readonly bytes: number
  readonly streams: ReadonlyArray<{ readonly stream: string; readonly bytes: number }>
  readonly aside: number
  readonly unnamed: ReadonlyArray<string>
  readonly status: ReplicaStatus.ReplicaStatus
}

/**
 * A line that the remote does not take: it stands in the log, and in the file `<log>.conflicts` beside it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Aside {
  readonly stream: string
  readonly key: string
  readonly why: string
}

/**
 * A replicator at work, until its scope ends.
 *
 * @category models
 * @since 0.1.0
 */
export interface Replicator {
  readonly status: SubscriptionRef.SubscriptionRef<ReplicaStatus.ReplicaStatus>
  /** Has the logs looked at soon. */
  readonly nudge: Effect.Effect<void>
  /** Waits until all that was written before is sent, for so long at most, and says what is still behind. */
  readonly drain: (most: Duration.Input) => Effect.Effect<Behind>
  readonly behind: Effect.Effect<Behind>
  /** Lines that the remote does not take; the last ones also for who comes later. */
  readonly asides: Stream.Stream<Aside>
}

/**
 * What is to be replicated is no main log of a session that a remote can name.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotReplicable extends Schema.TaggedError<NotReplicable>()("NotReplicable", {
  path: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.path}: expected the main log of a session, <session>.jsonl; found ${this.found}`
  }
}

/**
 * Replicates the session of the main log at a path, which may not be there yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fn("Replicator.make")(function* (main: string, options: Options = {}) {
  const {
    batchBytes = 256 << 10,
    batchLines = 1_000,
    claim = "kept",
    interval = "1 second",
    profile = "native"
  } = options
  const log = EntryLog.at(main)
  if (log._tag !== "Session" || log.lane._tag !== "Main") {
    return yield* new NotReplicable({ path: main, found: "a log of another kind" })
  }
  const { sessionId } = log
  if (!StreamAddress.isSession(sessionId)) {
    return yield* new NotReplicable({ path: main, found: `a name that is no session id: ${sessionId}` })
  }
  const port = yield* EntryLog.EntryLog
  const status = yield* SubscriptionRef.make<ReplicaStatus.ReplicaStatus>(ReplicaStatus.Idle())
  const asides = yield* PubSub.sliding<Aside>({ capacity: 64, replay: 64 })
  let aside = 0
  const most: Tail.Most = { bytes: batchBytes, lines: batchLines }
  const open = (stream: string, log: EntryLog.LogId) =>
    Replica.open(stream, log, most, (one) => {
      aside++
      PubSub.publishUnsafe(asides, one)
    })
  const own = yield* open("", log)
  const isKept = claim === "kept" && (yield* ReplicaCursor.isOurs(own.file, own.cursor))
  const session: Session = {
    id: sessionId,
    port,
    ingress: yield* Ingress,
    main: own,
    replicas: new Map([["", own]]),
    most,
    newWriterId: Effect.sync(() => randomUUID()),
    writer: isKept ? own.cursor.writer : undefined,
    verifyAt: 0
  }

  let agents: Effect.Success<ReturnType<typeof Agents.make>> | undefined
  let unnamed: ReadonlyArray<string> = []
  /** Streams of agents that came to be. */
  const discover = Effect.gen(function* () {
    if (profile === "compat") return
    const now = yield* (agents ??= yield* Agents.make(log)).list
    unnamed = now.unnamed.map((one) => EntryLog.pathOf("/", one))
    for (const [stream, one] of now.streams) {
      if (!session.replicas.has(stream)) session.replicas.set(stream, yield* open(stream, one))
    }
  })
  const behind: Effect.Effect<Behind> = Effect.gen(function* () {
    const all = yield* Effect.forEach(session.replicas.values(), ({ cursor, log, stream }) =>
      Effect.map(sizeOf(port, log), (size) => ({ stream, bytes: Math.max(0, (size ?? 0) - cursor.byte) }))
    )
    const streams = all.filter(({ bytes }) => bytes > 0)
    const bytes = streams.reduce((sum, one) => sum + one.bytes, 0)
    return { bytes, streams, aside, unnamed, status: yield* SubscriptionRef.get(status) }
  })

  const hints = yield* Queue.sliding<void>(1)
  const nudge = Effect.asVoid(Queue.offer(hints, undefined))
  yield* Effect.forkScoped(Stream.runForEach(port.changes(log), () => nudge))
  const writer = yield* Effect.serviceOption(SessionWriter.SessionWriter)
  if (Option.isSome(writer)) yield* Effect.forkScoped(Stream.runForEach(writer.value.committed, () => nudge))

  const waiting = new Set<Deferred.Deferred<void>>()
  const drain: Replicator["drain"] = (duration) =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<void>()
      if (!ReplicaStatus.isFinal(yield* SubscriptionRef.get(status))) {
        waiting.add(done)
        session.verifyAt = 0
        yield* nudge
        yield* Effect.timeoutOption(Deferred.await(done), duration)
        waiting.delete(done)
      }
      return yield* behind
    })

  const step = profile === "native" ? Native.step : Compat.step
  /** Looks at every stream once; the first that has to wait, or to stop, ends it. */
  const pass = Effect.gen(function* () {
    yield* discover
    if (profile === "native" && session.writer === undefined && (yield* sizeOf(port, log)) !== undefined)
      yield* Native.claim(session)
    const now = yield* Clock.currentTimeMillis
    let last = Step.still
    for (const replica of session.replicas.values()) {
      const { blocked } = replica
      const isBlocked = blocked !== undefined && blocked.until > now
      const one = isBlocked ? Step.later(blocked.status) : yield* step(session, replica)
      if (one._tag === "Wait" || one._tag === "Stop") return one
      if (one._tag === "Moved" || (one._tag === "Later" && last._tag === "Still")) last = one
    }
    const isSent = Array.from(session.replicas.values()).some(({ cursor }) => cursor.byte > 0)
    if (last._tag === "Moved" || profile === "compat" || !isSent || session.verifyAt > now) return last
    const verified = yield* Native.verify(session)
    session.verifyAt = now + VERIFIED
    return verified._tag === "Still" ? last : verified
  }).pipe(
    Effect.catch((failure) => Effect.succeed(Step.ofFailure("", failure))),
    // A port that throws is one that fails: what is sent here has nowhere else to go.
    Effect.catchDefect((cause) => Effect.succeed(Step.wait({ message: `an operation threw: ${String(cause)}` }))),
    Effect.provideService(EntryLog.EntryLog, port)
  )

  const bytes = Effect.gen(function* () {
    const size = yield* sizeOf(port, log)
    return size === undefined ? undefined : (yield* behind).bytes
  })
  yield* Effect.forkScoped(Loop.run({ pass, status, behind: bytes, hints, interval, waiting }))
  const replicator: Replicator = { status, nudge, drain, behind, asides: Stream.fromPubSub(asides) }
  return replicator
})

/** Milliseconds after which the remote is asked where its streams end, when nothing else tells. */
const VERIFIED = 60_000

/** The bytes of a log; undefined where there is none that can be looked at. */
const sizeOf = (port: EntryLog.EntryLog["Service"], log: EntryLog.LogId): Effect.Effect<number | undefined> =>
  port.stat(log).pipe(
    Effect.map(({ size }): number | undefined => size),
    Effect.orElseSucceed(() => undefined)
  )
