/**
 * Admission: how many requests a server works on at once, and how many follow a session. Who finds no place waits a little
 * and is sent away then, which is better for both than a queue without end.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { TooManyRequests, Unavailable } from "../../IngressError.ts"
import type { Limits } from "../../Limits.ts"
import * as Metrics from "./metrics.ts"

/** Bytes that count as one more request. */
const UNIT = 256 << 10

/** Seconds after which a follower has likely made room. */
const FOLLOWED = 10

/** The places of a server. */
export const make = (limits: Limits) =>
  Effect.map(Semaphore.make(limits.queue), (places) => {
    const following = new Map<string, number>()
    const wait = (count: number) =>
      Effect.timeoutOrElse(Semaphore.take(places, count), {
        duration: limits.patience,
        orElse: () => Effect.fail(new Unavailable({ retryAfter: 1 }))
      })
    return {
      /** Runs with places for a request of so many bytes. */
      admit: <A, E, R>(bytes: number, run: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R> => {
        const count = Math.min(limits.queue, 1 + Math.floor(bytes / UNIT))
        return Effect.uninterruptibleMask((restore) =>
          Semaphore.takeIfAvailable(places, count).pipe(
            Effect.flatMap((isTaken) => (isTaken ? Effect.void : restore(wait(count)))),
            Effect.flatMap(() => Effect.ensuring(restore(run), Semaphore.release(places, count)))
          )
        )
      },
      /** Takes a place among those who follow, until the scope closes. */
      follow: (key: string) => {
        const add = (count: number) => {
          const all = (following.get(key) ?? 0) + count
          if (all > 0) following.set(key, all)
          else following.delete(key)
          return Metrics.following([...following.values()].reduce((sum, one) => sum + one, 0))
        }
        return Effect.acquireRelease(
          Effect.suspend(() =>
            (following.get(key) ?? 0) < limits.followers
              ? add(1)
              : Effect.fail(new TooManyRequests({ retryAfter: FOLLOWED }))
          ),
          () => Effect.suspend(() => add(-1))
        )
      }
    }
  })

/** The places of a server. */
export type Admission = Effect.Success<ReturnType<typeof make>>
