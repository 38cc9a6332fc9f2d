/**
 * Watched: a store whose failures are logged, by their reasons alone: what a driver says of a statement may hold entries.
 */
import * as Effect from "effect/Effect"
import type { Unavailable } from "../../IngressError.ts"
import type { IngressStore } from "../../IngressStore.ts"

type Store = IngressStore["Service"]

/** The same store, which says why it is not available. */
export const watched = (store: Store): Store => ({
  ...store,
  append: (...args) => watch("append", store.append(...args)),
  read: (...args) => watch("read", store.read(...args)),
  head: (...args) => watch("head", store.head(...args)),
  streams: (...args) => watch("streams", store.streams(...args)),
  sessions: (...args) => watch("sessions", store.sessions(...args)),
  claim: (...args) => watch("claim", store.claim(...args)),
  remove: (...args) => watch("remove", store.remove(...args))
})

const watch = <A, E extends { readonly _tag: string }>(operation: string, effect: Effect.Effect<A, E>) =>
  Effect.tapError(effect, (error) =>
    error._tag === "Unavailable"
      ? Effect.logWarning("the store is not available").pipe(
          Effect.annotateLogs({ operation, reason: reasonOf((error as unknown as Unavailable).cause) })
        )
      : Effect.void
  )

/** The names of what went wrong, outermost first. */
const reasonOf = (cause: unknown): string => {
  const names: Array<string> = []
  for (let at = cause; at instanceof Error; at = at.cause) {
    const { _tag, code, name } = at as { readonly _tag?: string; readonly code?: string; readonly name: string }
    names.push(code ?? _tag ?? name)
  }
  return names.length === 0 ? "it took too long, or the statement failed" : [...new Set(names)].join(": ")
}
