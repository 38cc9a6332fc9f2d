/**
 * Hub: who listens to a stream of this process, and is told that it grew.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { keyOf, type StreamAddress } from "../StreamAddress.ts"

/** A hint each second, for what other processes write. */
export const polling: Stream.Stream<void> = Stream.tick("1 second")

/** Those who listen, by the keys of streams. */
export const make = () => {
  const listening = new Map<string, Set<() => void>>()
  return {
    /** Tells once when it listens, and then each time; hints that nobody took are one. */
    changes: (stream: StreamAddress): Stream.Stream<void> =>
      Stream.callback<void>(
        (queue) =>
          Effect.acquireRelease(
            Effect.sync(() => {
              const key = keyOf(stream)
              const tell = () => void Queue.offerUnsafe(queue, undefined)
              const all = listening.get(key) ?? new Set()
              listening.set(key, all.add(tell))
              tell()
              return { all, key, tell }
            }),
            ({ all, key, tell }) =>
              Effect.sync(() => {
                all.delete(tell)
                if (all.size === 0 && listening.get(key) === all) listening.delete(key)
              })
          ),
        { bufferSize: 1, strategy: "sliding" }
      ),
    tell: (key: string): void => {
      for (const tell of listening.get(key) ?? []) tell()
    },
    tellAll: (): void => {
      for (const all of listening.values()) for (const tell of all) tell()
    }
  }
}
