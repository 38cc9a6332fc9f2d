/**
 * Wild: logs that no session wrote. Links lead anywhere, ids repeat, times go back, records name what is not there.
 *
 * What holds of these holds of every log; most laws ask only that a reader ends, tells the truth and loses nothing.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Boundary from "../Boundary.ts"
import * as Content from "../Content.ts"
import * as Message from "../Message.ts"
import * as Bytes from "../internal/bytes.ts"
import { sessionId, timeOf } from "./live/Session.ts"

const die = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))

type Dice = readonly [kind: number, parent: number, time: number, a: number, b: number]

/** Of the Encoding standard, in every runtime; pure. */
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }

const encoder = new TextEncoder()

/**
 * The bytes of any log of up to `maxLines` (default 24) lines that are entries.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const log = (options: { readonly maxLines?: number } = {}): Arbitrary.Arbitrary<Uint8Array> =>
  Arbitrary.map(
    Arbitrary.array(Arbitrary.all([die, die, die, die, die]), { maxLength: options.maxLines ?? 24 }),
    (all: ReadonlyArray<Dice>) => {
      const ids = all.map((dice, i) => idOf(dice, i, all))
      return encoder.encode(all.map((dice, i) => `${JSON.stringify(entryOf(dice, i, ids))}\n`).join(""))
    }
  )

const letters = ["u", "a", "r", "a", "r", "u", "t", "s", "m", "w", "p", "q", "B", "S", "N", "l", "!", "a", "r"] as const

const letterOf = ([kind]: Dice): (typeof letters)[number] => letters[kind % letters.length]!

/** One in eight repeats the id of an earlier line. */
const idOf = (dice: Dice, i: number, all: ReadonlyArray<Dice>): string => {
  const earlier = dice[4] % 8 === 7 && i > 0 ? dice[3] % i : i
  return `${letterOf(all[earlier]!)}${earlier + 1}`
}

/** Mostly the line before, else any line of the log, nothing, what is nowhere, or the line itself. */
const parentOf = (parent: number, i: number, ids: ReadonlyArray<string>): string | null => {
  if (parent < 96) return ids[i - 1] ?? null
  if (parent < 224) return ids[parent % ids.length]!
  return parent < 236 ? null : parent < 250 ? "x0" : ids[i]!
}

const entryOf = (dice: Dice, i: number, ids: ReadonlyArray<string>): object => {
  const [, parent, time, a, b] = dice
  if (letterOf(dice) === "!") return { type: "last-prompt", leafUuid: ids[a % ids.length], sessionId }
  return {
    parentUuid: parentOf(parent, i, ids),
    ...(a % 16 === 15 ? { isSidechain: true, ...(b % 2 === 0 ? { agentId: "abc" } : {}) } : { isSidechain: false }),
    ...bodyOf(dice, ids),
    uuid: ids[i],
    ...(time < 16 ? {} : { timestamp: timeOf(time < 128 ? i + 1 : time % 32) }),
    sessionId
  }
}

const bodyOf = (dice: Dice, ids: ReadonlyArray<string>): object => {
  const [, , , a, b] = dice
  const some = ids.filter((_, i) => (((a << 8) | b) >> (i % 16)) % 2 === 1)
  switch (letterOf(dice)) {
    case "u":
      return Message.user("[prompt]")
    case "m":
      return { ...Message.user("[injected]"), isMeta: true }
    case "S":
      return Boundary.compactSummary("[summary]")
    case "a":
      return Message.assistant({ id: `m${b % 3}`, model: "model", content: said(a) })
    case "r":
      return Message.toolResults([Content.toolResult({ tool_use_id: `c${a % 4}`, content: "[result]" })])
    case "t":
      return Message.attachment({ type: "critical_system_reminder", content: "[sent]" })
    case "w":
      return Message.informational("[rewind]")
    case "l":
      return Message.localCommand("[command]")
    case "N":
      return Boundary.snip(some)
    case "B":
      return boundary(a, b, ids, some)
    case "p":
      return { type: "progress" }
    case "q":
      return { type: "future-thing" }
    default:
      return Message.system("away_summary")
  }
}

const said = (a: number): ReadonlyArray<Content.Block> => {
  if (a % 4 === 3) return a % 8 === 7 ? [Content.thinking("[thinking]", "")] : [Content.text("[text]")]
  const call = (n: number): Content.Block => Content.toolUse({ id: `c${n % 4}`, name: "Tool", input: {} })
  return a % 3 === 0 ? [call(a), call(a >> 2)] : [call(a)]
}

const boundary = (a: number, b: number, ids: ReadonlyArray<string>, uuids: ReadonlyArray<string>): object => {
  const plain = Boundary.compact({ trigger: "auto", preTokens: 1000, logicalParentUuid: null })
  const [anchorUuid, headUuid, tailUuid] = [a, b, a ^ b].map((n) => ids[n % ids.length]!)
  const record = [
    {},
    { preservedMessages: { anchorUuid, uuids } },
    { preservedSegment: { headUuid, anchorUuid, tailUuid } }
  ][a % 3]
  return { ...plain, compactMetadata: { ...plain.compactMetadata, ...record } }
}

/** Words of which anything may be made that looks like a line, or nearly so. */
const fragments: ReadonlyArray<string> = [
  ["\n", "{", "}", '"', ",", ":", "[", "]", "\r\n", "\0\0", "\ufeff", " ", "\\", "null", "1e999", "-0", "\u2028", "é"],
  [
    '{"type":"user","uuid":"u1","message":{"role":"user","content":"x"}}',
    '{"type":"user","uuid":"u2","parentUuid":"u1"}'
  ],
  [
    '{"type":"assistant","uuid":"a1","parentUuid":"u1","message":null}',
    '{"type":"system","subtype":"compact_boundary"}'
  ],
  ['"type":"user"', '"uuid":"u1"', '"parentUuid":"u1"', '"message":{"content":[null,1,{"type":"text"}]}', "\\ud800"],
  ['{"type":"tag","tag":7,"sessionId":"s"}', '{"type":7}', '{"type":"attachment","uuid":"t1","attachment":[]}', "//"]
].flat()

/**
 * Any bytes: words of lines in any order, and single bytes of any value.
 *
 * @category arbitraries
 * @since 0.1.0
 */
export const bytes: Arbitrary.Arbitrary<Uint8Array> = Arbitrary.map(
  Arbitrary.array(Arbitrary.all([die, die]), { maxLength: 64 }),
  (all) =>
    Bytes.concat(
      all.map(([kind, byte]) =>
        kind % 4 === 3 ? Uint8Array.of(byte) : encoder.encode(fragments[byte % fragments.length]!)
      )
    )
)
