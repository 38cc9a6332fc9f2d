/**
 * Queues: one thing at a time for each name, in the order of asking.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/** Runs effects so; a name in use costs one entry, and none afterwards. */
export const make = () => {
  /** The turns of those who wait, for each name in use. */
  const all = new Map<string, Array<Deferred.Deferred<void>>>()
  const next = (name: string): void => {
    const turn = all.get(name)?.shift()
    if (turn === undefined) all.delete(name)
    else Deferred.doneUnsafe(turn, Effect.void)
  }
  return <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) => {
      const run = Effect.ensuring(
        restore(effect),
        Effect.sync(() => next(name))
      )
      const waiting = all.get(name)
      if (waiting === undefined) {
        all.set(name, [])
        return run
      }
      const turn = Deferred.makeUnsafe<void>()
      waiting.push(turn)
      // Whoever leaves has no turn any more, or passes it on.
      const leave = Effect.sync(() => {
        if (Deferred.isDoneUnsafe(turn)) next(name)
        else waiting.splice(waiting.indexOf(turn), 1)
      })
      return Effect.andThen(
        Effect.onInterrupt(restore(Deferred.await(turn)), () => leave),
        run
      )
    })
}
