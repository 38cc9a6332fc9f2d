/**
 * Law: a promise as a value: what it is called, what it is about, and how to see whether it holds.
 *
 *   over log       any bytes                                    total, nothing lost, …
 *   over history   the bytes of a session, and what it saw      exactly what was visible
 *   over damaged   the same after something happened to them    no more lost than the damage may cost
 *
 * 1. A law is pure and throws nothing of its own; it answers true, or says what is wrong.
 * 2. Where a law has to choose (a place to cut, a line to copy) it takes the next die, so that a failure is the same
 *    failure when it is looked at again.
 * 3. A law never calls recovery by itself: the reader is given, so that another one can be judged.
 */
import type * as Damage from "@reprise/domain/testing/Damage"
import type * as History from "@reprise/domain/testing/History"
import * as Line from "@reprise/domain/Line"
import type * as Recovery from "../Recovery.ts"
import type { SessionState } from "../SessionState.ts"

/**
 * What recovers: `Recovery.fold`, or what claims to do the same.
 *
 * @category models
 * @since 0.1.0
 */
export type Reader = (log: ReadonlyArray<Line.Located>, options?: Recovery.Options) => SessionState

/**
 * True, or what is wrong.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = true | string

/**
 * Any log, with dice of any natural numbers (at least four).
 *
 * @category models
 * @since 0.1.0
 */
export interface OfLog {
  readonly bytes: Uint8Array
  readonly dice: ReadonlyArray<number>
}

/**
 * The log of a session that is known.
 *
 * @category models
 * @since 0.1.0
 */
export interface OfHistory extends OfLog {
  readonly history: History.History
}

/**
 * The same log after damage: `bytes` are the damaged ones.
 *
 * @category models
 * @since 0.1.0
 */
export interface OfDamage extends OfHistory {
  readonly damages: ReadonlyArray<Damage.Damage>
  readonly damaged: Damage.Damaged
}

interface Subjects {
  readonly log: OfLog
  readonly history: OfHistory
  readonly damaged: OfDamage
}

/**
 * A law over one kind of subject.
 *
 * @category models
 * @since 0.1.0
 */
export interface Over<K extends keyof Subjects> {
  readonly name: string
  readonly over: K
  readonly holds: (given: Subjects[K], reader: Reader) => Verdict
}

/**
 * Any law.
 *
 * @category models
 * @since 0.1.0
 */
export type Law = { readonly [K in keyof Subjects]: Over<K> }[keyof Subjects]

/**
 * A law over any log.
 *
 * @category constructors
 * @since 0.1.0
 */
export const log = (name: string, holds: Over<"log">["holds"]): Over<"log"> => ({ name, over: "log", holds })

/**
 * A law over histories.
 *
 * @category constructors
 * @since 0.1.0
 */
export const history = (name: string, holds: Over<"history">["holds"]): Over<"history"> => ({
  name,
  over: "history",
  holds
})

/**
 * A law over damaged histories.
 *
 * @category constructors
 * @since 0.1.0
 */
export const damaged = (name: string, holds: Over<"damaged">["holds"]): Over<"damaged"> => ({
  name,
  over: "damaged",
  holds
})

/**
 * True where both are the same text, else both.
 *
 * @category verdicts
 * @since 0.1.0
 */
export const same = (what: string, expected: string, found: string): Verdict =>
  expected === found ? true : `${what}\n  expected ${expected}\n  found    ${found}`

/**
 * The first verdict that is not true.
 *
 * @category verdicts
 * @since 0.1.0
 */
export const all = (...verdicts: ReadonlyArray<() => Verdict>): Verdict => {
  for (const verdict of verdicts) {
    const found = verdict()
    if (found !== true) return found
  }
  return true
}

/**
 * The conversation of a state, as text.
 *
 * @category getters
 * @since 0.1.0
 */
export const shown = (state: SessionState): string => idsOf(state).join("-")

/**
 * The ids of a state's conversation.
 *
 * @category getters
 * @since 0.1.0
 */
export const idsOf = (state: SessionState): ReadonlyArray<string> => state.conversation.map(({ uuid }) => uuid)

/**
 * A number below `count`, by a die.
 *
 * @category getters
 * @since 0.1.0
 */
export const choose = (given: OfLog, die: number, count: number): number =>
  count === 0 ? 0 : (given.dice[die] ?? 0) % count

/** Of the Encoding standard, in every runtime; pure. */
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }
declare const TextDecoder: new () => { readonly decode: (bytes: Uint8Array) => string }

/**
 * Text as bytes.
 *
 * @category encoding
 * @since 0.1.0
 */
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/**
 * Bytes as text.
 *
 * @category encoding
 * @since 0.1.0
 */
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/**
 * The lines of a log as text, without their line feeds; what follows the last one counts only if it is something.
 *
 * @category encoding
 * @since 0.1.0
 */
export const linesOf = (bytes: Uint8Array): ReadonlyArray<string> => {
  const lines = textOf(bytes).split("\n")
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

/**
 * The entries of lines.
 *
 * @category decoding
 * @since 0.1.0
 */
export const read = (lines: ReadonlyArray<string> | Uint8Array): ReadonlyArray<Line.Located> =>
  Line.decodeAll(lines instanceof Uint8Array ? lines : bytesOf(lines.map((line) => `${line}\n`).join("")))

/**
 * The log of a history with further entries.
 *
 * @category decoding
 * @since 0.1.0
 */
export const appended = (history: History.History, entries: ReadonlyArray<object>): ReadonlyArray<Line.Located> =>
  read([...history.lines, ...entries.map((entry) => JSON.stringify(entry))])

/**
 * What a law asks for that is about what was said last, whatever a `last-prompt` chose.
 *
 * @category constants
 * @since 0.1.0
 */
export const newest = { leaf: "newest" } as const
