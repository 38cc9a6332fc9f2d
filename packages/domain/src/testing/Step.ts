/**
 * Step: what a session may do, one thing at a time.
 *
 *   Say · Reply · CallTools · Attach · EndTurn          talk
 *   Compact · Snip · Rewind · Branch · Return           what moves or hides messages
 *   Crash · Resume · OldShape                           other processes, other versions
 *   SetMetadata · Noise · Sidechain · Progress …        what stands between the messages
 *
 * 1. References are relative: a number counts among what is there, modulo how much there is. So any list of steps is a
 *    session, and what is left of a list after removing some is one too.
 * 2. Zero is the plainest choice everywhere, and the plainest step is a prompt: that is where shrinking goes.
 * 3. A step that has nothing to act on (a snip of an empty conversation) does nothing.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Data from "effect/Data"
import * as Schema from "effect/Schema"

/**
 * How a reply with tool calls is written down. Numbers with a bit per call (`late`, `noted`) or that count (`order`,
 * `hook`) may be any; so may `calls`, which is taken as at least one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Round {
  readonly calls: number
  /** One entry for each call, one for all, or two calls in an entry. */
  readonly split: "apart" | "together" | "pairs"
  /** A text stands before the calls, in an entry of its own. */
  readonly said: boolean
  /** Each call's result is written before the next call. */
  readonly streamed: boolean
  /** Which permutation of the results. */
  readonly order: number
  /** All results stand in one entry. */
  readonly joined: boolean
  /** What a result hangs on: its call, the result before it, another call, or what stands before the reply. */
  readonly parents: "own" | "previous" | "sibling" | "before"
  /** One result stands in the file before its call. */
  readonly early: boolean
  /** Results hang on their parents through a link that is no message. */
  readonly linked: boolean
  /** The results that are not there yet. */
  readonly late: number
  /** The results that have a note on them, and from bit 4 on the calls. */
  readonly noted: number
  /** The entry of the round on which the session goes on: 0 is the last one, 1 the one before it, … */
  readonly hook: number
}

/**
 * A step.
 *
 * @category models
 * @since 0.1.0
 */
export type Step = Data.TaggedEnum<{
  /** A prompt; `marker` and `output` are written by programs, `injected` is a meta line. */
  readonly Say: { readonly text: "plain" | "blocks" | "marker" | "output" | "injected" }
  /** A reply without calls: one text, thinking and text, three texts, or an API error that looks like a reply. */
  readonly Reply: { readonly parts: "text" | "thinking" | "several" | "error" }
  readonly CallTools: Round
  /** A result that was late arrives. */
  readonly Deliver: { readonly which: number; readonly follow: boolean }
  readonly Attach: { readonly kind: "sent" | "unsent" | "event" | "command" }
  /** A checkpoint: how many entries the conversation has. */
  readonly EndTurn: {}
  /** The last `kept` messages stay; `hung`: the boundary has a parent; an unfinished one is killed before its summary. */
  readonly Compact: {
    readonly kept: number
    readonly form: "messages" | "segment" | "both" | "rewritten"
    readonly notes: number
    readonly hung: boolean
    readonly finished: boolean
  }
  /** Each bit of `which` takes out one message, counted from the last. */
  readonly Snip: { readonly which: number; readonly onRemoved: boolean }
  /** Back to a message of the conversation, or (`across`) to one before the last compaction. */
  readonly Rewind: { readonly to: number; readonly across: boolean; readonly inside: boolean }
  /** An older prompt is said in another way. */
  readonly Branch: { readonly to: number }
  /** Back to the end of what a rewind or branch left. */
  readonly Return: { readonly to: number; readonly by: "marker" | "last-prompt" }
  /** Lines of a subagent, in the main file; `twin`: one has the id of a message of the conversation. */
  readonly Sidechain: {
    readonly entries: number
    readonly named: boolean
    readonly twin: boolean
    readonly under: boolean
  }
  readonly SetMetadata: { readonly kind: MetadataKind; readonly value: number }
  readonly Noise: { readonly kind: "file-history" | "attribution" | "enqueue" | "dequeue" | "unknown" }
  /** The next message hangs on a link, which stands before it in the file, or behind it. */
  readonly Link: { readonly type: "progress" | "unknown"; readonly behind: boolean; readonly twice: boolean }
  /** A prompt is torn after some bytes; whoever writes next begins with a line feed. */
  readonly Crash: { readonly cut: number }
  /** Another process goes on and restates the metadata. */
  readonly Resume: {}
  readonly OldShape: { readonly shape: Shape }
}>

/**
 * The metadata that a step sets.
 *
 * @category models
 * @since 0.1.0
 */
export type MetadataKind = (typeof metadataKinds)[number]

/**
 * A shape that only older versions wrote.
 *
 * @category models
 * @since 0.1.0
 */
export type Shape = (typeof shapes)[number]

const metadataKinds = [
  "custom-title",
  "ai-title",
  "last-prompt",
  "tag",
  "mode",
  "permission-mode",
  "agent-name",
  "agent-color",
  "agent-setting",
  "summary"
] as const

/** `rewritten`: the whole conversation again under new ids. `root`: a summary without a boundary. */
const shapes = ["string", "no-subtype", "microcompact", "no-time", "root", "rewritten"] as const

/**
 * The constructor of each step.
 *
 * @category constructors
 * @since 0.1.0
 */
export const {
  $match: match,
  Say,
  Reply,
  CallTools,
  Deliver,
  Attach,
  EndTurn,
  Compact,
  Snip,
  Rewind,
  Branch,
  Return,
  Sidechain,
  SetMetadata,
  Noise,
  Link,
  Crash,
  Resume,
  OldShape
} = Data.taggedEnum<Step>()

/**
 * A round in the plainest form: one entry for each call, its result behind it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const round = (calls: number, more: Partial<Round> = {}): Step =>
  CallTools({
    calls,
    split: "apart",
    said: false,
    streamed: false,
    order: 0,
    joined: false,
    parents: "own",
    early: false,
    linked: false,
    late: 0,
    noted: 0,
    hook: 0,
    ...more
  })

type Dice = readonly [kind: number, a: number, b: number, c: number, d: number, e: number]

const pick = <A>(all: ReadonlyArray<A>, die: number): A => all[die % all.length]!
const bit = (die: number, place: number): boolean => ((die >> place) & 1) === 1

const says = ["plain", "plain", "blocks", "plain", "injected", "plain", "marker", "output"] as const
const replies = ["text", "several", "thinking", "text", "text", "error"] as const
const parents = ["own", "own", "previous", "own", "sibling", "before"] as const
const forms = ["both", "messages", "segment", "rewritten"] as const

const say = ([, a]: Dice): Step => Say({ text: pick(says, a) })
const reply = ([, a]: Dice): Step => Reply({ parts: pick(replies, a) })
const callTools = ([, a, b, c, d, e]: Dice): Step =>
  CallTools({
    calls: 1 + (a % 4),
    split: pick(["apart", "apart", "together", "pairs"], a >> 2),
    said: bit(a, 4),
    streamed: bit(a, 5),
    joined: a >> 5 === 6,
    order: b % 24,
    early: b >> 5 === 7,
    linked: b >> 5 === 6,
    parents: pick(parents, c),
    late: d < 64 ? 0 : d % 16,
    noted: c < 96 ? 0 : e,
    hook: d < 128 ? 0 : e
  })
const deliver = ([, a, b]: Dice): Step => Deliver({ which: a, follow: bit(b, 0) })
const attach = ([, a]: Dice): Step => Attach({ kind: pick(["sent", "unsent", "event", "command"], a) })
const endTurn = (): Step => EndTurn()
const compact = ([, a, b, c, d]: Dice): Step =>
  Compact({
    kept: Math.max(0, (a % 8) - 1),
    form: pick(forms, b),
    notes: c < 128 ? 0 : c % 3,
    hung: bit(c, 0),
    finished: d < 224
  })
const snip = ([, a, b]: Dice): Step => Snip({ which: a, onRemoved: bit(b, 0) })
const rewind = ([, a, b, c]: Dice): Step => Rewind({ to: a, across: b % 4 === 3, inside: bit(c, 0) })
const branch = ([, a]: Dice): Step => Branch({ to: a })
const back = ([, a, b]: Dice): Step => Return({ to: a, by: bit(b, 0) ? "last-prompt" : "marker" })
const sidechain = ([, a, b, c, d]: Dice): Step =>
  Sidechain({ entries: 1 + (a % 3), named: !bit(b, 0), twin: bit(c, 0), under: bit(d, 0) })
const setMetadata = ([, a, b]: Dice): Step => SetMetadata({ kind: pick(metadataKinds, a), value: b % 6 })
const noise = ([, a]: Dice): Step =>
  Noise({ kind: pick(["enqueue", "dequeue", "file-history", "attribution", "unknown"], a) })
const link = ([, a, b, c]: Dice): Step =>
  Link({ type: bit(a, 0) ? "unknown" : "progress", behind: b % 4 === 3, twice: c % 4 === 3 })
const crash = ([, a]: Dice): Step => Crash({ cut: a })
const resume = (): Step => Resume()
const oldShape = ([, a]: Dice): Step => OldShape({ shape: pick(shapes, a) })

/** How often each step comes; ends of the range come up more often than its middle. */
const table: ReadonlyArray<(dice: Dice) => Step> = [
  [say, reply, callTools, say, reply, attach, callTools, endTurn],
  [say, reply, callTools, compact, snip, rewind, branch, deliver],
  [say, callTools, setMetadata, link, back, sidechain, reply, compact],
  [say, callTools, crash, resume, oldShape, noise, deliver, rewind],
  [attach, callTools, snip, branch, back, link, reply, endTurn]
].flat()

const die = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))

/**
 * Any step, the usual ones more often.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const arbitrary: Arbitrary.Arbitrary<Step> = Arbitrary.map(
  Arbitrary.all([die, die, die, die, die, die]),
  (dice: Dice) => pick(table, dice[0])(dice)
)
