/**
 * SqliteIngressStore: streams in one file of SQLite, for one server. Nothing needs to be installed for it.
 *
 *   append ─┐                         ┌─ thread that writes: one transaction, one sync for all that wait
 *   append ─┼─ queue ─ all that wait ─┤
 *   claim  ─┘                    read ┴─ thread that reads: what was committed, beside the writer
 *
 * 1. An answer means that the disk of this machine has it (`synchronous = FULL`).
 * 2. While one transaction is synced the next one gathers: no timer, so a lone append waits for nobody.
 * 3. Two servers may open one file; they wait for each other, and a follower hears of the other's lines within a second.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Cause from "effect/Cause"
import * as Stream from "effect/Stream"
import { Deleted, NotFound, type OpenError, Unavailable } from "./IngressError.ts"
import { IngressStore, type Head, type Listed, type Page } from "./IngressStore.ts"
import * as Hub from "./internal/hub.ts"
import type { Answer, Job, Judged, Line, Question } from "./internal/sqlite/messages.ts"
import * as Thread from "./internal/sqlite/thread.ts"
import { answerOf } from "./internal/verdict.ts"
import * as SessionDigest from "./SessionDigest.ts"
import { keyOf } from "./StreamAddress.ts"
import type { StreamLine } from "./StreamLine.ts"

/**
 * Where the file is: it is made where it is missing, in a directory that is there and that others may not write.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly file: string
}

/**
 * The store in this file.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<IngressStore, OpenError> =>
  Layer.effect(IngressStore, make(options))

/** Jobs of one transaction, and those that wait for one. */
const TOGETHER = 256
const WAITING = 1024

/** A line without its value, which the thread has no use for. */
const plain = ({ hash, key, kind, text, uuid }: StreamLine): Line => ({
  hash,
  key,
  kind,
  text,
  ...(uuid !== undefined && { uuid })
})

type Refused = NotFound | Deleted | Unavailable

const valueOf = <A>(answer: Answer | undefined): Effect.Effect<A, Refused> => {
  if (answer === undefined || "failed" in answer)
    return Effect.fail(new Unavailable({ retryAfter: 1, cause: answer?.failed }))
  if ("value" in answer) return Effect.succeed(answer.value as A)
  return Effect.fail(answer.refused === "NotFound" ? new NotFound() : new Deleted())
}

const make = Effect.fnUntraced(function* ({ file }: Options) {
  const clock = yield* Clock.Clock
  const writer = yield* Thread.make(file)
  const reader = yield* Thread.make(file)
  const write = yield* rounds(writer)
  const hub = Hub.make()
  const now = () => clock.currentTimeMillisUnsafe()
  const ask = <A>(question: Question) => Effect.flatMap(reader.ask({ question }), ([answer]) => valueOf<A>(answer))

  return IngressStore.of({
    backendId: writer.backendId,
    append: (stream, attempt) =>
      Effect.suspend(() => {
        const digest = stream.sub === "" ? SessionDigest.of(attempt.lines) : SessionDigest.empty
        const lines = attempt.lines.map(plain)
        const job: Job = { type: "append", stream, attempt: { ...attempt, lines }, digest, now: now() }
        return write<Judged>(job).pipe(
          Effect.catchTag("NotFound", Effect.die),
          Effect.flatMap(({ after, epoch, grew, verdict }) => {
            if (grew) hub.tell(keyOf(stream))
            return Effect.fromResult(answerOf(verdict, after, epoch))
          })
        )
      }),
    claim: (tenant, session, writer) =>
      Effect.suspend(() => write<Head>({ type: "claim", tenant, session, writer, now: now() })).pipe(
        Effect.catchTag("NotFound", Effect.die)
      ),
    remove: (tenant, session) =>
      Effect.suspend(() => write<void>({ type: "remove", tenant, session, now: now() })).pipe(
        Effect.catchTag("Deleted", Effect.die),
        Effect.tap(() => Effect.sync(hub.tellAll))
      ),
    read: (stream, range) => ask<Page>({ type: "read", stream, range }),
    head: (stream) => ask<Head>({ type: "head", stream }),
    streams: (tenant, session) => ask({ type: "streams", tenant, session }),
    sessions: (tenant, query) =>
      ask<ReadonlyArray<Listed>>({ type: "sessions", tenant, query }).pipe(
        Effect.catchTag(["NotFound", "Deleted"], Effect.die)
      ),
    changes: (stream) => Stream.merge(hub.changes(stream), Hub.polling),
    probe: Effect.asVoid(
      Effect.flatMap(writer.ask({ jobs: [] }), () =>
        reader.ask({ question: { type: "sessions", tenant: "", query: { limit: 1 } } })
      )
    )
  })
})

/** Writes jobs in rounds: all that wait when the one before is done. */
const rounds = Effect.fnUntraced(function* (thread: Thread.Thread) {
  type Waiting = { readonly job: Job; readonly done: Deferred.Deferred<unknown, Refused> }
  const queue = yield* Queue.bounded<Waiting, Cause.Done>(WAITING)
  const round = Effect.fnUntraced(function* (waiting: ReadonlyArray<Waiting>) {
    const answers = yield* Effect.exit(thread.ask({ jobs: waiting.map(({ job }) => job) }))
    for (const [i, { done }] of waiting.entries())
      yield* Deferred.done(done, answers._tag === "Failure" ? answers : yield* Effect.exit(valueOf(answers.value[i])))
  })
  const fiber = yield* Queue.takeBetween(queue, 1, TOGETHER).pipe(
    Effect.flatMap(round),
    Effect.forever,
    Effect.catchTag("Done", () => Effect.void),
    Effect.forkScoped
  )
  // Added after the fork, so it runs before the fork is interrupted: what waits is written.
  yield* Effect.addFinalizer(() => Effect.andThen(Queue.end(queue), Fiber.await(fiber)))
  return <A>(job: Job): Effect.Effect<A, Refused> =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<unknown, Refused>()
      yield* Queue.offer(queue, { job, done })
      return (yield* Deferred.await(done)) as A
    })
})
