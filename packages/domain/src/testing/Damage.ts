/**
 * Damage: what a disk, or another program, may do to the bytes of a log, and what each of these may cost at most.
 *
 *   Glue 1     {…}⏎{…}⏎      ─▶   {…}{…}⏎           nothing is lost, nothing moves
 *   Drop 1     {…}⏎{…}⏎      ─▶   {…}⏎              that message is lost, others may move
 *   Tear 30    {…}⏎{…}⏎      ─▶   {…}⏎{"ty          what ends behind the cut is lost
 *
 * 1. References are relative, as in Step; what has nothing to act on changes nothing.
 * 2. The cost is a bound: a message that is not in `lost` must be accounted for, and where `moves` is false the
 *    conversation is what it was, up to the order inside a round.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Data from "effect/Data"
import * as Schema from "effect/Schema"
import * as Content from "../Content.ts"
import * as Entry from "../Entry.ts"
import * as Message from "../Message.ts"
import { concat, join, lineOf, type LogLine, linesOf, messagesOf } from "./live/LogLines.ts"

/**
 * One thing that happens to a log. Lines and bytes are counted modulo how many there are.
 *
 * @category models
 * @since 0.1.0
 */
export type Damage = Data.TaggedEnum<{
  readonly Tear: { readonly at: number }
  readonly DropFinalLineFeed: {}
  /** The line feed behind a line is gone. */
  readonly Glue: { readonly line: number }
  readonly Zero: { readonly at: number; readonly bytes: number }
  /** A line that is no entry; `torn` begins like one, `comment`, `array` and `blank` come from other programs. */
  readonly Junk: { readonly line: number; readonly kind: (typeof junk)[number] }
  readonly Drop: { readonly line: number }
  /** A message stands a second time, further down; with the link it had, or with another one. */
  readonly Duplicate: {
    readonly line: number
    readonly to: number
    readonly parent: "same" | "null" | "other" | "self"
  }
  /** Two results of one reply change places. */
  readonly Reorder: { readonly which: number }
  readonly ByteOrderMark: {}
  readonly CarriageReturns: {}
  /** A program that read an older state appends a prompt on what was the end then. */
  readonly Stale: { readonly parent: number }
  /** A link leads to another message, to nothing, or back to where it starts. */
  readonly Relink: { readonly line: number; readonly to: "missing" | "self" | "later" | "earlier" }
}>

const junk = ["torn", "text", "comment", "array", "blank", "no-type"] as const

/**
 * The constructor of each kind of damage.
 *
 * @category constructors
 * @since 0.1.0
 */
export const {
  $match: match,
  Tear,
  DropFinalLineFeed,
  Glue,
  Zero,
  Junk,
  Drop,
  Duplicate,
  Reorder,
  ByteOrderMark,
  CarriageReturns,
  Stale,
  Relink
} = Data.taggedEnum<Damage>()

/**
 * A damaged log: messages of `lost` may be gone; `moves`: messages may be on the conversation that were not, or the
 * other way round.
 *
 * @category models
 * @since 0.1.0
 */
export interface Damaged {
  readonly bytes: Uint8Array
  readonly lost: ReadonlySet<string>
  readonly moves: boolean
}

/**
 * Does the damage.
 *
 * @category combinators
 * @since 0.1.0
 */
export const inflict = (log: Uint8Array, damage: Damage): Damaged => {
  if (log.length === 0) return { bytes: log, lost: none, moves: false }
  const lines = linesOf(log)
  return match(damage, {
    Tear: ({ at }) => overwrite(log, at % log.length, log.length, log.subarray(0, at % log.length)),
    DropFinalLineFeed: () => harmless(log.at(-1) === LF ? log.subarray(0, -1) : log),
    Glue: ({ line }) => glue(lines, line % lines.length),
    Zero: ({ at, bytes }) => {
      const start = at % log.length
      const end = Math.min(log.length, start + bytes)
      return overwrite(log, start, end, log.slice().fill(0, start, end))
    },
    Junk: ({ kind, line }) =>
      harmless(join(lines.toSpliced(line % (lines.length + 1), 0, { bytes: junkOf[kind], ids: none }))),
    Drop: ({ line }) => drop(lines, line % lines.length),
    Duplicate: (step) => duplicate(lines, step),
    Reorder: ({ which }) => reorder(lines, which),
    ByteOrderMark: () => harmless(concat([Uint8Array.of(0xef, 0xbb, 0xbf), log])),
    CarriageReturns: () =>
      harmless(join(lines.map((line) => ({ ...line, bytes: concat([line.bytes, Uint8Array.of(CR)]) })))),
    Stale: ({ parent }) => stale(lines, parent),
    Relink: (step) => relink(lines, step)
  })
}

/**
 * Does one damage after the other; the costs add up.
 *
 * @category combinators
 * @since 0.1.0
 */
export const inflictAll = (log: Uint8Array, all: ReadonlyArray<Damage>): Damaged =>
  all.reduce<Damaged>(
    (before, damage) => {
      const { bytes, lost, moves } = inflict(before.bytes, damage)
      return { bytes, lost: new Set([...before.lost, ...lost]), moves: before.moves || moves }
    },
    { bytes: log, lost: none, moves: false }
  )

const die = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
const place = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65535 })))

const pick = <A>(all: ReadonlyArray<A>, die: number): A => all[die % all.length]!

type Dice = readonly [kind: number, place: number, other: number, a: number]

const table: ReadonlyArray<(dice: Dice) => Damage> = [
  ([, line]) => Drop({ line }),
  ([, line, , a]) => Junk({ line, kind: pick(junk, a) }),
  ([, line]) => Glue({ line }),
  ([, at]) => Tear({ at }),
  ([, line, to, a]) => Duplicate({ line, to, parent: pick(["same", "other", "null", "self"], a) }),
  ([, which]) => Reorder({ which }),
  ([, at, , a]) => Zero({ at, bytes: 1 + a }),
  ([, line, , a]) => Relink({ line, to: pick(["missing", "earlier", "self", "later"], a) }),
  ([, parent]) => Stale({ parent }),
  () => ByteOrderMark(),
  () => CarriageReturns(),
  () => DropFinalLineFeed()
]

/**
 * Any damage.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const arbitrary: Arbitrary.Arbitrary<Damage> = Arbitrary.map(
  Arbitrary.all([die, place, place, die]),
  (dice: Dice) => pick(table, dice[0])(dice)
)

/** Of the Encoding standard, in every runtime; pure. */
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }

const encoder = new TextEncoder()
const none: ReadonlySet<string> = new Set()
const LF = 0x0a
const CR = 0x0d

const junkOf: { readonly [K in (typeof junk)[number]]: Uint8Array } = {
  torn: encoder.encode('{"type":"user","uuid":"junk","message":{"content":"'),
  text: encoder.encode("not an entry"),
  comment: encoder.encode("// written by hand"),
  array: encoder.encode("[1,2]"),
  blank: encoder.encode(" \t"),
  "no-type": encoder.encode('{"uuid":"junk","parentUuid":null}')
}

const harmless = (bytes: Uint8Array): Damaged => ({ bytes, lost: none, moves: false })

/** What the lines hold that a range of bytes touches. */
const overwrite = (log: Uint8Array, start: number, end: number, bytes: Uint8Array): Damaged => {
  const lost = new Set<string>()
  let from = 0
  for (const line of linesOf(log)) {
    const to = from + line.bytes.length
    if (from < end && to >= start) for (const id of line.ids) lost.add(id)
    from = to + 1
  }
  return { bytes, lost, moves: true }
}

/** What is glued to a comment is a part of it. */
const glue = (lines: ReadonlyArray<LogLine>, at: number): Damaged => {
  const bytes = join(lines, new Set([at]))
  return lines[at]!.endsInComment ? { bytes, lost: lines[at + 1]?.ids ?? none, moves: true } : harmless(bytes)
}

const drop = (lines: ReadonlyArray<LogLine>, at: number): Damaged => {
  const { entry, ids } = lines[at]!
  const isWord = entry !== undefined && "leafUuid" in entry
  return {
    bytes: join(lines.toSpliced(at, 1)),
    lost: ids,
    moves: ids.size > 0 || isWord || (entry !== undefined && "parentUuid" in entry)
  }
}

const duplicate = (
  lines: ReadonlyArray<LogLine>,
  { line, parent, to }: Extract<Damage, { readonly _tag: "Duplicate" }>
): Damaged => {
  const all = messagesOf(lines)
  if (all.length === 0) return harmless(join(lines))
  const { at, entry } = pick(all, line)
  const parentUuid = { same: entry.parentUuid, null: null, self: entry.uuid, other: pick(all, to).entry.uuid }[parent]
  const copy = parent === "same" ? lines[at]! : lineOf({ ...Entry.original(entry), parentUuid })
  return harmless(join(lines.toSpliced(at + 1 + (to % (lines.length - at)), 0, copy)))
}

/** Two results of one reply that hang on something of it: one that does not must not become the last line. */
const reorder = (lines: ReadonlyArray<LogLine>, which: number): Damaged => {
  const all = messagesOf(lines)
  const replies = new Map<string, string>()
  const owners = new Map<string, string>()
  for (const { entry } of all) {
    if (entry.type !== "assistant") continue
    const reply = entry.message.id ?? entry.uuid
    owners.set(entry.uuid, reply)
    for (const call of Content.blocks(entry.message.content).filter(Content.isToolUse)) replies.set(call.id, reply)
  }
  const results = all.flatMap(({ at, entry }) => {
    const result = entry.type === "user" ? Content.blocks(entry.message.content).find(Content.isToolResult) : undefined
    const reply = replies.get(result?.tool_use_id ?? "")
    if (reply === undefined) return []
    owners.set(entry.uuid, reply)
    // Of two lines with one id the first one stands: which that is must not change.
    const isSingle = all.filter((one) => one.entry.uuid === entry.uuid).length === 1
    return isSingle && owners.get(entry.parentUuid ?? "") === reply ? [{ at, reply }] : []
  })
  const pairs = results.flatMap((a, i) =>
    results.slice(i + 1).flatMap((b) => (a.reply === b.reply ? [[a.at, b.at] as const] : []))
  )
  if (pairs.length === 0) return harmless(join(lines))
  const [a, b] = pick(pairs, which)
  // Where more than one message hangs on it, who comes last is followed when it is the last line of the file.
  const isFork = (at: number): boolean =>
    all.filter(({ entry }) => lines[at]!.ids.has(entry.parentUuid ?? "")).length > 1
  const bytes = join(lines.map((line, i) => lines[i === a ? b : i === b ? a : i] ?? line))
  return { bytes, lost: none, moves: isFork(a) || isFork(b) }
}

const stale = (lines: ReadonlyArray<LogLine>, parent: number): Damaged => {
  const all = messagesOf(lines)
  if (all.length === 0) return harmless(join(lines))
  const { timestamp, uuid } = pick(all, parent).entry
  const prompt = { ...Message.user("[stale]"), uuid: "u0stale", parentUuid: uuid, isSidechain: false, timestamp }
  return { bytes: join([...lines, lineOf(prompt)]), lost: none, moves: true }
}

const relink = (lines: ReadonlyArray<LogLine>, { line, to }: Extract<Damage, { readonly _tag: "Relink" }>): Damaged => {
  const all = messagesOf(lines)
  if (all.length === 0) return harmless(join(lines))
  const at = line % all.length
  const entry = Entry.original(all[at]!.entry)
  const other = to === "later" ? all[at + 1] : all[at >> 1]
  const parentUuid =
    to === "missing" ? "x0missing" : to === "self" || other === undefined ? all[at]!.entry.uuid : other.entry.uuid
  return { bytes: join(lines.with(all[at]!.at, lineOf({ ...entry, parentUuid }))), lost: none, moves: true }
}
