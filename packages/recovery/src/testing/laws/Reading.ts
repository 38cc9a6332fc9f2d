/**
 * Reading: what is promised about bytes and lines (RECOVERY §0).
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as History from "@reprise/domain/testing/History"
import type * as Step from "@reprise/domain/testing/Step"
import * as Law from "../Law.ts"
import { lossOf } from "./Chain.ts"

const total = Law.log("total: any bytes give a state", ({ bytes }, reader) => {
  const state = reader(Law.read(bytes))
  const { byteEnd, byteStart } = state.extent
  return byteStart <= byteEnd && byteEnd <= bytes.length
    ? true
    : `extent ${byteStart}–${byteEnd} of ${bytes.length} bytes`
})

const isMain = (entry: Entry.Entry): entry is Entry.Message => Entry.isMessage(entry) && entry.isSidechain !== true

const prefix = Law.log("every byte prefix of a log recovers with no message vanished", (given, reader) => {
  const cut = Law.choose(given, 0, given.bytes.length + 1)
  const log = Law.read(given.bytes.subarray(0, cut))
  const state = reader(log)
  const whole = new Set(
    log.map(({ entry }) => entry).flatMap((entry) => (isMain(entry) && entry.uuid !== "" ? [entry.uuid] : []))
  )
  for (const { at, entry } of Law.read(given.bytes)) {
    const isThere = at.byteEnd > cut || !isMain(entry) || entry.uuid === "" || whole.has(entry.uuid)
    if (!isThere) return `${entry.uuid} ends at ${at.byteEnd}, before the cut at ${cut}, and is gone`
  }
  return lossOf(state)
})

/** Steps that put nothing before what it hangs on, and take nothing out. */
const isForward = (step: Step.Step): boolean =>
  step._tag !== "Snip" && step._tag !== "Compact" && !(step._tag === "Link" && step.behind)

const branch = Law.history(
  "without snips, boundaries and forward links a prefix shows a prefix of some branch of the whole",
  (given, reader) => {
    const steps = given.history.steps.filter(isForward)
    const history = History.make(steps.map((step) => (step._tag === "CallTools" ? { ...step, early: false } : step)))
    const { rounds } = history.sees
    const log = History.log(history)
    const until = log.slice(0, Law.choose(given, 0, log.length + 1))
    const part = Law.idsOf(reader(until))
    const uuid = part.at(-1)
    if (uuid === undefined) return true
    const there = new Set(until.flatMap(({ entry }) => (isMain(entry) ? [entry.uuid] : [])))
    // A note of a round that a later turn hangs on belongs to that turn's branch by then.
    const stays = (uuid: string): boolean => there.has(uuid) && !(history.live.known.get(uuid)?.carries === true)
    const whole = Law.idsOf(reader(log, { leaf: { uuid } }))
    const settled = (ids: ReadonlyArray<string>) => History.settle(ids.filter(stays), rounds).join("-")
    return Law.same(`the first ${until.length} entries`, settled(whole), settled(part))
  }
)

const junkLines = [
  "{",
  '{"type":"us',
  "not an entry",
  "// comment",
  "[1,2]",
  '"text"',
  " ",
  '{"uuid":"u1"}',
  "\0\0\0",
  "null"
]

/** What a law about lines compares: all that is known of the session, but not where it stands. */
const outline = ({
  archived,
  branches,
  conversation,
  metadata,
  removed,
  snapshots
}: ReturnType<Law.Reader>): string => {
  const ids = conversation.map(({ uuid }) => uuid)
  const waiting = snapshots.pending.map(({ text }) => text)
  return JSON.stringify([ids, removed, archived, branches, metadata.title, waiting])
}

const junk = Law.log("one junk line costs nothing, one that lies over a line at most that line", (given, reader) => {
  const lines = Law.linesOf(given.bytes)
  const at = Law.choose(given, 0, lines.length + 1)
  const text = junkLines[Law.choose(given, 1, junkLines.length)]!
  const before = reader(Law.read(lines))
  const beside = reader(Law.read(lines.toSpliced(at, 0, text)))
  const over = reader(Law.read(lines.toSpliced(at, 1, text)))
  return Law.all(
    () => Law.same(`${text} before line ${at + 1}`, outline(before), outline(beside)),
    () => lossOf(over),
    () => {
      const ids = new Set(Law.read(lines.slice(at, at + 1)).flatMap(({ entry }) => (isMain(entry) ? [entry.uuid] : [])))
      const lost = before.messages - over.messages
      return lost >= 0 && lost <= ids.size ? true : `${text} over line ${at + 1} costs ${lost} messages of ${ids.size}`
    }
  )
})

const appended = JSON.stringify({
  type: "user",
  uuid: "u0new",
  parentUuid: null,
  message: { role: "user", content: "[new]" }
})

const torn = Law.history("a torn tail followed by an append costs one line, healed or not", (given, reader) => {
  const { lines } = given.history
  if (lines.length === 0) return true
  const last = lines.at(-1)!
  const text = last.slice(0, Law.choose(given, 0, last.length))
  const rest = lines.slice(0, -1)
  const expected = outline(reader(Law.read([...rest, appended])))
  return Law.all(
    () => Law.same("healed", expected, outline(reader(Law.read([...rest, text, appended])))),
    () => Law.same("not healed", expected, outline(reader(Law.read([...rest, `${text}${appended}`]))))
  )
})

const entriesOf = (log: ReadonlyArray<Line.Located>): ReadonlyArray<string> =>
  log.map(({ entry }) => Line.encode(entry))

const glued = Law.history("glued lines are split", (given) => {
  const lines = given.history.lines.filter((_, i) => given.history.live.lines[i]!.torn !== true)
  const isGlued = (i: number): boolean => ((given.dice[i % given.dice.length]! >> (i % 7)) & 1) === 1
  const text = lines.map((line, i) => (isGlued(i) ? line : `${line}\n`)).join("")
  return Law.same("entries", entriesOf(Law.read(lines)).join("\n"), entriesOf(Law.read(Law.bytesOf(text))).join("\n"))
})

const chunked = Law.log("any split of the bytes into chunks gives the same entries", (given) => {
  const { bytes, dice } = given
  const found: Array<string> = []
  const splitter = LineSplitter.make((line, at) => {
    for (const one of Line.decode(line, at))
      found.push(`${one.at.line}:${one.at.byteStart}-${one.at.byteEnd} ${Line.encode(one.entry)}`)
  })
  for (let from = 0, i = 0; from < bytes.length; i++) {
    const to = from + 1 + (dice[i % dice.length]! % 97)
    splitter.push(bytes.slice(from, to))
    from = to
  }
  splitter.end()
  const whole = Law.read(bytes).map(({ at, entry }) => `${at.line}:${at.byteStart}-${at.byteEnd} ${Line.encode(entry)}`)
  return Law.same("entries", whole.join("\n"), found.join("\n"))
})

const verbatim = Law.log("an entry read and unchanged is written back byte for byte from its line", ({ bytes }) => {
  let from = 0
  for (const { at } of Law.read(bytes)) {
    if (at.byteStart < from || at.byteEnd > bytes.length) return `${at.byteStart}–${at.byteEnd} after ${from}`
    // Between entries stand line feeds, and what is reported as damage: blanks, NUL runs, marks.
    const between = Law.textOf(bytes.subarray(from, at.byteStart))
    if (/[^\s\0\ufeff]/.test(between))
      return `${JSON.stringify(between)} before byte ${at.byteStart} belongs to no entry`
    from = at.byteEnd
  }
  return true
})

const encoded = Law.log("encode keeps the JSON value, its key order, unknown keys and types", ({ bytes }) => {
  for (const { at, damage, entry } of Law.read(bytes)) {
    if (entry instanceof Entry.Malformed || damage.some(({ kind }) => kind === "invalid-utf8")) continue
    const value: unknown = JSON.parse(Law.textOf(bytes.subarray(at.byteStart, at.byteEnd)).trim())
    const verdict = Law.same(`line ${at.line}`, JSON.stringify(value), Line.encode(entry))
    if (verdict !== true) return verdict
  }
  return true
})

/**
 * The laws.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law.Law> = [total, prefix, branch, junk, torn, glued, chunked, verbatim, encoded]
