/**
 * History: steps, the bytes that a session writes while it takes them, and what a reader of those bytes must see.
 *
 *   Say · Reply · Rewind 0      u1-a2 u1-w3          sees u1 w3, hidden a2
 *
 * 1. What is seen comes from the session at work alone: no rule of recovery is used, so a law that compares the two
 *    compares two accounts of one session.
 * 2. The order inside a round is free; `settle` gives both sides the same.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Line from "../Line.ts"
import * as Play from "./live/Play.ts"
import { LiveSession, type Written } from "./live/Session.ts"
import * as Step from "./Step.ts"

/**
 * What the log must say at its end.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sees {
  /** The ids of the conversation; nothing was said: empty. */
  readonly conversation: ReadonlyArray<string>
  /** The round of an id; others are of none. */
  readonly rounds: ReadonlyMap<string, string>
  /** What snips took out. */
  readonly removed: ReadonlySet<string>
  /** Messages of the main lane that are neither seen nor removed: other branches, and before the boundary. */
  readonly hidden: ReadonlySet<string>
  /** Ids of inline sidechains; one may also be a message of the main lane. */
  readonly sidechains: ReadonlyArray<string>
  readonly title: string | undefined
  /** The last value of each kind of metadata, by its wire type. */
  readonly metadata: ReadonlyMap<string, string>
  readonly queued: ReadonlyArray<string>
  /** Undefined where it hangs on the order inside the last round. */
  readonly interruption: "none" | "interrupted-prompt" | "interrupted-turn" | undefined
  /** Checkpoints in the conversation, outside of rounds, not kept and with no snip after them: what they counted, and where they stand. */
  readonly checkpoints: ReadonlyArray<{ readonly uuid: string; readonly expected: number; readonly found: number }>
}

/**
 * A session from its first step to its last. `live` is the session itself, for those who ask how a message was written.
 *
 * @category models
 * @since 0.1.0
 */
export interface History {
  readonly steps: ReadonlyArray<Step.Step>
  readonly lines: ReadonlyArray<string>
  readonly bytes: Uint8Array
  readonly sees: Sees
  readonly live: LiveSession
}

/** Of the Encoding standard, in every runtime; pure. */
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }

const encoder = new TextEncoder()

/**
 * The history of a session that takes these steps.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (steps: ReadonlyArray<Step.Step>): History => {
  const live = new LiveSession()
  for (const step of steps) Play.take(live, step)
  const lines = live.lines.map(({ text }) => text)
  const end = lines.length === 0 || live.lines.at(-1)?.torn === true ? "" : "\n"
  return { steps, lines, bytes: encoder.encode(lines.join("\n") + end), sees: seesOf(live), live }
}

/**
 * The entries of a history at their places.
 *
 * @category getters
 * @since 0.1.0
 */
export const log = (history: History): ReadonlyArray<Line.Located> => Line.decodeAll(history.bytes)

/**
 * The same ids, those that stand together and belong to one round in alphabetical order.
 *
 * @category combinators
 * @since 0.1.0
 */
export const settle = (ids: ReadonlyArray<string>, rounds: ReadonlyMap<string, string>): ReadonlyArray<string> => {
  const out: Array<string> = []
  for (let i = 0; i < ids.length;) {
    const round = rounds.get(ids[i]!)
    const next = round === undefined ? i + 1 : ids.findIndex((id, at) => at > i && rounds.get(id) !== round)
    const end = next < 0 ? ids.length : next
    out.push(...ids.slice(i, end).toSorted())
    i = end
  }
  return out
}

/**
 * Any history of up to `maxSteps` steps (default 32).
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const arbitrary = (options: { readonly maxSteps?: number } = {}): Arbitrary.Arbitrary<History> =>
  Arbitrary.map(Arbitrary.array(Step.arbitrary, { maxLength: options.maxSteps ?? 32 }), make)

const seesOf = (live: LiveSession): Sees => {
  const conversation = live.isSpoken(live.visible) ? live.visible : []
  const seen = new Set(conversation)
  const rounds = new Map<string, string>()
  for (const { id, round } of live.known.values()) if (round !== undefined) rounds.set(id, round)
  const hidden = [...live.known.keys()].filter((id) => !seen.has(id) && !live.snipped.has(id))
  const { metadata } = live
  const steps = ["custom-title", "ai-title", "last-prompt", "summary"].map((kind) => metadata.get(kind))
  return {
    conversation,
    rounds,
    removed: live.snipped,
    hidden: new Set(hidden),
    sidechains: live.sidechains,
    title: steps.find((text) => text !== undefined && text !== "") ?? live.firstPrompt,
    metadata,
    queued: live.queue,
    interruption: interruptionOf(live, conversation),
    checkpoints: checkpointsOf(live, conversation, rounds)
  }
}

const checkpointsOf = (live: LiveSession, conversation: ReadonlyArray<string>, rounds: ReadonlyMap<string, string>) => {
  const kept = live.keptBy.get(conversation[0] ?? "")
  const lastSnip = Math.max(-1, ...Array.from(live.known.values(), ({ kind, place }) => (kind === "snip" ? place : -1)))
  return conversation.flatMap((uuid, found) => {
    const expected = live.checkpoints.get(uuid)
    const isElse = rounds.has(uuid) || kept?.has(uuid) === true || live.get(uuid).place < lastSnip
    return expected === undefined || isElse ? [] : [{ uuid, expected, found }]
  })
}

const interruptionOf = (live: LiveSession, ids: ReadonlyArray<string>): Sees["interruption"] => {
  const all = ids.map((id) => live.get(id))
  const answered = new Set(all.flatMap(({ answers }) => answers))
  const called = new Set(all.flatMap(({ calls }) => calls))
  const { round } = all.at(-1) ?? {}
  const ofRound = (one: Written): boolean => round !== undefined && one.round === round
  if (all.some((one) => ofRound(one) && (one.kind === "injected" || one.kind === "event" || one.kind === "command")))
    return undefined
  for (const one of all.toReversed()) {
    if (one.kind === "attachment") continue
    if (one.kind === "prompt") return "interrupted-prompt"
    if (one.kind === "result") {
      if (one.answers.some((id) => called.has(id))) return "interrupted-turn"
      continue
    }
    if (one.kind !== "call") return "none"
    if (one.calls.some((id) => answered.has(id))) return "interrupted-turn"
  }
  return "none"
}
