/**
 * Replicas: the replicators of a program that has many sessions, each started when its session is first asked for.
 *
 *   of(main) ─▶ replicator, until stop(main) or the end of the scope
 *
 * A session is hydrated while nobody replicates it: `stop` it first, and begin again afterwards.
 */
import type * as EntryLog from "@reprise/storage/EntryLog"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as path from "node:path"
import type { Ingress } from "./Ingress.ts"
import * as Queues from "./internal/queues.ts"
import type * as ReplicaStatus from "./ReplicaStatus.ts"
import * as Replicator from "./Replicator.ts"

/**
 * What is behind of a session, by its main log.
 *
 * @category models
 * @since 0.1.0
 */
export interface BehindOf extends Replicator.Behind {
  readonly path: string
}

/**
 * Why a session is not replicated.
 *
 * @category errors
 * @since 0.1.0
 */
export type NotStarted = Replicator.NotReplicable | EntryLog.EntryLogError

/**
 * The replicators of a program.
 *
 * @category models
 * @since 0.1.0
 */
export interface Replicas {
  /** The replicator of the session of a main log. */
  readonly of: (main: string) => Effect.Effect<Replicator.Replicator, NotStarted>
  /** Ends it, and says how things stood; what it has not sent stays in the log. Undefined: there was none. */
  readonly stop: (main: string) => Effect.Effect<ReplicaStatus.ReplicaStatus | undefined>
  /** Waits until all that was written is sent, of every session, for so long at most. */
  readonly drain: (most: Duration.Input) => Effect.Effect<ReadonlyArray<BehindOf>>
}

/**
 * None yet, each with these options.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options: Replicator.Options = {}) {
  const context = yield* Effect.context<Ingress | EntryLog.EntryLog>()
  const scope = yield* Effect.scope
  const queued = Queues.make()
  const running = new Map<string, { readonly replicator: Replicator.Replicator; readonly scope: Scope.Closeable }>()

  const start = Effect.fnUntraced(function* (file: string) {
    const known = running.get(file)
    if (known !== undefined) return known.replicator
    const own = yield* Scope.fork(scope)
    const replicator = yield* Replicator.make(file, options).pipe(
      Scope.provide(own),
      Effect.provideContext(context),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
    )
    running.set(file, { replicator, scope: own })
    return replicator
  })
  const replicas: Replicas = {
    of: (main) => Effect.suspend(() => queued(path.resolve(main), start(path.resolve(main)))),
    stop: (main) => {
      const file = path.resolve(main)
      const end = Effect.gen(function* () {
        const known = running.get(file)
        if (known === undefined) return undefined
        running.delete(file)
        yield* Scope.close(known.scope, Exit.void)
        return yield* SubscriptionRef.get(known.replicator.status)
      })
      return queued(file, end)
    },
    drain: (most) =>
      Effect.suspend(() =>
        Effect.forEach(
          [...running],
          ([path, { replicator }]) => Effect.map(replicator.drain(most), (behind) => ({ path, ...behind })),
          { concurrency: "unbounded" }
        )
      )
  }
  return replicas
})

/**
 * `persistToRemote(sessionId, entry)` of the seed: called when an entry has been written to the log of its session, which
 * `fileOf` names, it has the entry sent. It is true when all that was written is sent within `most`. It never fails, and
 * nobody needs to wait for it: what is not sent yet is in the log.
 *
 * @category running
 * @since 0.1.0
 */
export const persistToRemote =
  (replicas: Replicas, fileOf: (sessionId: string) => string, most: Duration.Input = "10 seconds") =>
  (sessionId: string, _entry: unknown): Effect.Effect<boolean> =>
    replicas.of(fileOf(sessionId)).pipe(
      Effect.flatMap(({ drain }) => drain(most)),
      Effect.map(({ bytes, status }) => bytes === 0 && status._tag === "Live"),
      Effect.orElseSucceed(() => false)
    )
