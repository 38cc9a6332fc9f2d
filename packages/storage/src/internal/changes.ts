/**
 * Changes: who wants to hear of a log, and is told.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"

/** The hints that `start` gives until what it returned is called. */
export const hints = (start: (tell: () => void) => () => void): Stream.Stream<void> =>
  Stream.callback<void>(
    (queue) =>
      Effect.acquireRelease(
        Effect.sync(() => start(() => void Queue.offerUnsafe(queue, undefined))),
        (stop) => Effect.sync(stop)
      ),
    { bufferSize: 1, strategy: "sliding" }
  )

/** Those who wait for changes of logs, by the keys of those. */
export const make = () => {
  const waiting = new Map<string, Set<() => void>>()
  const add = (key: string, tell: () => void) => {
    const all = waiting.get(key) ?? new Set()
    waiting.set(key, all.add(tell))
    return () => {
      all.delete(tell)
      if (all.size === 0) waiting.delete(key)
    }
  }
  return {
    of: (key: string): Stream.Stream<void> => hints((tell) => add(key, tell)),
    tell: (key: string): void => {
      for (const tell of waiting.get(key) ?? []) tell()
    }
  }
}
