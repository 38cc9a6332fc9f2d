/**
 * Projection: a left fold over entries that composes.
 *
 *   entries ──evolve──▶ state ──extract──▶ answer
 *
 * 1. `initial` makes a fresh state for each run and the state never leaves the run, so it may be a mutable accumulator.
 * 2. What is costly and needed once stands in `extract`; following a live log costs one `evolve` per entry.
 * 3. `extract` leaves the state as it was: it may be called after every entry.
 * 4. However many projections are composed with `struct`, the log is passed once, and the kind of an entry is looked up
 *    once: those that say which kinds they hear (`match`) are not asked about others.
 */
import { dual } from "effect/Function"
import * as Entry from "./Entry.ts"
import type { Located } from "./Line.ts"

/**
 * A fold from entries `E` to an answer `S`; the type of its state is its own affair.
 *
 * @category models
 * @since 0.1.0
 */
export interface Projection<in E, out S> {
  readonly initial: () => unknown
  readonly evolve: (state: any, entry: E) => unknown
  readonly extract: (state: any) => S
  /** The kinds of entry that can change the state; absent: any entry can. */
  readonly hears?: ReadonlySet<Entry.Kind> | undefined
}

/**
 * A projection from its three parts, checked to agree on the state.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <State, E, S>(parts: {
  readonly initial: () => State
  readonly evolve: (state: State, entry: E) => State
  readonly extract: (state: State) => S
}): Projection<E, S> => parts

/**
 * A projection over entries given by their kind; kinds without a function leave the state alone.
 *
 * @category constructors
 * @since 0.1.0
 * @example
 * ```ts
 * const prompts = Projection.match(() => 0, { user: (n) => n + 1 })
 * ```
 */
export const match = <S>(
  initial: () => S,
  cases: { readonly [K in Entry.Kind]?: (state: S, entry: Entry.OfKind<K>) => S }
): Projection<Entry.Entry, S> => {
  const table = cases as { readonly [kind: string]: ((state: S, entry: Entry.Entry) => S) | undefined }
  return {
    initial,
    evolve: (state: S, entry: Entry.Entry) => {
      const evolve = table[Entry.kindOf(entry)]
      return evolve === undefined ? state : evolve(state, entry)
    },
    extract: (state: S) => state,
    hears: new Set(Object.keys(cases) as Array<Entry.Kind>)
  }
}

/**
 * Changes the answer; `map(f)` after `map(g)` is `map(f after g)`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const map: {
  <S, B>(f: (answer: S) => B): <E>(self: Projection<E, S>) => Projection<E, B>
  <E, S, B>(self: Projection<E, S>, f: (answer: S) => B): Projection<E, B>
} = dual(2, <E, S, B>(self: Projection<E, S>, f: (answer: S) => B): Projection<E, B> => ({
  ...self,
  extract: (state) => f(self.extract(state))
}))

/**
 * Changes what is folded over.
 *
 * @category combinators
 * @since 0.1.0
 */
export const mapInput: {
  <E, D>(f: (entry: D) => E): <S>(self: Projection<E, S>) => Projection<D, S>
  <E, S, D>(self: Projection<E, S>, f: (entry: D) => E): Projection<D, S>
} = dual(2, <E, S, D>(self: Projection<E, S>, f: (entry: D) => E): Projection<D, S> => ({
  initial: self.initial,
  evolve: (state, entry) => self.evolve(state, f(entry)),
  extract: self.extract
}))

/**
 * Folds over those entries only that satisfy the predicate.
 *
 * @category combinators
 * @since 0.1.0
 */
export const filter: {
  <E>(predicate: (entry: E) => boolean): <S>(self: Projection<E, S>) => Projection<E, S>
  <E, S>(self: Projection<E, S>, predicate: (entry: E) => boolean): Projection<E, S>
} = dual(2, <E, S>(self: Projection<E, S>, predicate: (entry: E) => boolean): Projection<E, S> => ({
  ...self,
  evolve: (state, entry) => (predicate(entry) ? self.evolve(state, entry) : state)
}))

/**
 * Several projections in one pass; the order of the members is irrelevant.
 *
 * @category combinators
 * @since 0.1.0
 */
export const struct = <P extends { readonly [name: string]: Projection<any, any> }>(
  members: P
): Projection<InputOf<P[keyof P]>, { readonly [K in keyof P]: P[K] extends Projection<any, infer S> ? S : never }> => {
  const names = Object.keys(members) as Array<keyof P & string>
  const parts = names.map((name) => members[name]!)
  const concerned = concerning(parts)
  return {
    initial: () => parts.map((part) => part.initial()),
    evolve: (states: Array<unknown>, entry) => {
      const some = concerned(entry)
      for (let i = 0; i < some.length; i++) states[some[i]!] = parts[some[i]!]!.evolve(states[some[i]!], entry)
      return states
    },
    hears: parts.every(({ hears }) => hears !== undefined)
      ? new Set(parts.flatMap(({ hears }) => [...hears!]))
      : undefined,
    extract: (states: Array<unknown>) =>
      Object.fromEntries(names.map((name, i) => [name, parts[i]!.extract(states[i])])) as any
  }
}

/** By entry, the places of the members that hear its kind; where none of them says what it hears, always all. */
const concerning = (parts: ReadonlyArray<Projection<any, unknown>>): ((entry: unknown) => ReadonlyArray<number>) => {
  const hearing = (kind: Entry.Kind | undefined): ReadonlyArray<number> =>
    parts.flatMap(({ hears }, i) => (hears === undefined || (kind !== undefined && hears.has(kind)) ? [i] : []))
  const others = hearing(undefined)
  if (others.length === parts.length) return () => others
  const byKind = new Map(parts.flatMap(({ hears }) => [...(hears ?? [])]).map((kind) => [kind, hearing(kind)]))
  // A member that hears kinds reads entries, so what the struct reads is one.
  return (entry) => byKind.get(Entry.kindOf(entry as Entry.Entry)) ?? others
}

/** What every member of a struct can read: the intersection of their inputs. */
type InputOf<P> = (P extends Projection<infer E, any> ? (entry: E) => void : never) extends (entry: infer I) => void
  ? I
  : never

/**
 * One run of the projection per key; entries without a key are passed over. Keys keep the order of first sight.
 *
 * @category combinators
 * @since 0.1.0
 */
export const groupBy: {
  <E, K>(key: (entry: E) => K | undefined): <S>(self: Projection<E, S>) => Projection<E, ReadonlyMap<K, S>>
  <E, S, K>(self: Projection<E, S>, key: (entry: E) => K | undefined): Projection<E, ReadonlyMap<K, S>>
} = dual(2, <E, S, K>(self: Projection<E, S>, key: (entry: E) => K | undefined): Projection<E, ReadonlyMap<K, S>> =>
  make({
    initial: () => new Map<K, unknown>(),
    evolve: (groups: Map<K, unknown>, entry: E) => {
      const k = key(entry)
      if (k !== undefined) groups.set(k, self.evolve(groups.has(k) ? groups.get(k) : self.initial(), entry))
      return groups
    },
    extract: (groups) => new Map(Array.from(groups, ([k, state]) => [k, self.extract(state)]))
  })
)

/**
 * Lifts a projection over bare entries to one over located entries.
 *
 * @category combinators
 * @since 0.1.0
 */
export const entries = <S>(self: Projection<Entry.Entry, S>): Projection<Located, S> =>
  mapInput(self, (located: Located) => located.entry)

/**
 * Runs the projection over all entries and gives the answer.
 *
 * @category running
 * @since 0.1.0
 */
export const fold: {
  <E>(entries: Iterable<E>): <S>(self: Projection<E, S>) => S
  <E, S>(self: Projection<E, S>, entries: Iterable<E>): S
} = dual(2, <E, S>(self: Projection<E, S>, entries: Iterable<E>): S => {
  let state = self.initial()
  for (const entry of entries) state = self.evolve(state, entry)
  return self.extract(state)
})

/**
 * The answers after each entry, in order and made on demand; the first one is that of the empty log. Each iteration is
 * a run of its own.
 *
 * @category running
 * @since 0.1.0
 */
export const scan: {
  <E>(entries: Iterable<E>): <S>(self: Projection<E, S>) => Iterable<S>
  <E, S>(self: Projection<E, S>, entries: Iterable<E>): Iterable<S>
} = dual(2, <E, S>(self: Projection<E, S>, entries: Iterable<E>): Iterable<S> => ({
  *[Symbol.iterator]() {
    let state = self.initial()
    yield self.extract(state)
    for (const entry of entries) {
      state = self.evolve(state, entry)
      yield self.extract(state)
    }
  }
}))

/**
 * A projection under way: feed it entries, ask for the answer as often as you like.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run<in E, out S> {
  readonly evolve: (entry: E) => void
  readonly extract: () => S
}

/**
 * Starts a run of its own.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E, S>(self: Projection<E, S>): Run<E, S> => {
  let state = self.initial()
  return {
    evolve: (entry) => {
      state = self.evolve(state, entry)
    },
    extract: () => self.extract(state)
  }
}

/**
 * A projection whose state can be put aside as JSON and taken up again; `version` changes whenever what the state means
 * does. `load` gives undefined for what it cannot take up.
 *
 * @category models
 * @since 0.1.0
 */
export interface Versioned<in E, out S> extends Projection<E, S> {
  readonly version: string
  readonly save: (state: any) => unknown
  readonly load: (saved: unknown) => unknown
}

/**
 * A versioned projection from its parts, checked to agree on the state; `save` copies, since the run goes on.
 *
 * @category constructors
 * @since 0.1.0
 */
export const versioned = <State, E, S>(parts: {
  readonly version: string
  readonly initial: () => State
  readonly evolve: (state: State, entry: E) => State
  readonly extract: (state: State) => S
  readonly save: (state: State) => unknown
  readonly load: (saved: unknown) => State | undefined
}): Versioned<E, S> => parts
