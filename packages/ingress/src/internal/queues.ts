/**
 * Queues: one thing at a time for each name, in the order of asking.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Runs effects so; a name in use costs one entry, and none afterwards. */
export const make = () => {
  const all = new Map<string, { readonly one: Semaphore.Semaphore; users: number }>()
  return <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const queue = all.get(name) ?? { one: Semaphore.makeUnsafe(1), users: 0 }
      all.set(name, queue)
      queue.users++
      return Effect.ensuring(
        Semaphore.withPermit(queue.one, effect),
        Effect.sync(() => {
          if (--queue.users === 0) all.delete(name)
        })
      )
    })
}
