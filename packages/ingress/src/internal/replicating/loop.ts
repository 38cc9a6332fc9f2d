/**
 * Loop: passes over the streams of a session, one after the other, and what is said of them.
 *
 *   pass ─ moved ─▶ pass        at once
 *        ├ still ─▶ a hint, or the interval
 *        ├ wait ──▶ a pause, longer each time
 *        └ stop ──▶ the end
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as ReplicaStatus from "../../ReplicaStatus.ts"
import * as Pauses from "./pauses.ts"
import type * as Step from "./step.ts"

/** What is looped, and who is told. */
export interface Loop {
  readonly pass: Effect.Effect<Step.Step>
  readonly status: SubscriptionRef.SubscriptionRef<ReplicaStatus.ReplicaStatus>
  /** Bytes behind; undefined: there is no log yet. */
  readonly behind: Effect.Effect<number | undefined>
  readonly hints: Queue.Dequeue<void>
  readonly interval: Duration.Input
  /** Those who wait until all that there was when they came is sent, or cannot be. */
  readonly waiting: Set<Deferred.Deferred<void>>
}

/** Milliseconds between two looks at how far it is. */
const TOLD = 250

/** Runs until it is stopped. */
export const run = Effect.fnUntraced(function* ({ behind, hints, interval, pass, status, waiting }: Loop) {
  let failed = 0
  let since = 0
  let told = 0
  const say = (next: ReplicaStatus.ReplicaStatus) => SubscriptionRef.set(status, next)
  const release = (done: Iterable<Deferred.Deferred<void>>) =>
    Effect.forEach(done, (one) => Deferred.succeed(one, undefined), { discard: true })
  const rest = Effect.timeoutOption(Queue.take(hints), interval)

  for (;;) {
    const came = [...waiting]
    const step = yield* pass
    if (step._tag === "Stop") {
      yield* say(step.status)
      return yield* release(waiting)
    }
    const now = yield* Clock.currentTimeMillis
    if (step._tag === "Wait") {
      if (failed++ === 0) since = now
      yield* say((step.isAuth ? ReplicaStatus.AuthRequired : ReplicaStatus.Backoff)({ since, why: step.why }))
      yield* Effect.sleep(Pauses.pauseOf(failed, yield* Random.next, step.seconds))
      continue
    }
    failed = 0
    if (step._tag === "Moved") {
      if (now - told >= TOLD) yield* say(ReplicaStatus.CatchingUp({ behind: (yield* behind) ?? 0 }))
      if (now - told >= TOLD) told = now
      yield* Effect.yieldNow
      continue
    }
    const bytes = yield* behind
    yield* say(step._tag === "Later" ? step.status : bytes === undefined ? ReplicaStatus.Idle() : ReplicaStatus.Live())
    yield* release(came)
    yield* rest
  }
})
