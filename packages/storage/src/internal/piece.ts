/**
 * Piece: whole lines of a log in memory, of which as few as possible are decoded.
 *
 *   beginning  │ prompt, directory … │
 *   metadata   │ … tag … │                  of each kind the last, where no later piece says it
 *   end        │ … title · mode · the last message │
 *
 * 1. Whatever is left out would have changed nothing: what is found folds to the same as all of the piece.
 * 2. Which message is the last goes by its time. The times on a line are found by their bytes; the line's own is one of
 *    them, so a line none of which is later than a message that was decoded, and which stands before it, says nothing.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import { Buffer } from "node:buffer"
import { LF } from "./lines.ts"
import * as Sift from "./sift.ts"

/** The bytes, and where in the log they begin. */
export interface Piece {
  readonly bytes: Buffer
  readonly start: number
}

/** The places where lines begin, and the end, each line with its LF. */
const linesOf = (bytes: Buffer): ReadonlyArray<number> => {
  const starts = [0]
  for (let lf = bytes.indexOf(LF); lf >= 0; lf = bytes.indexOf(LF, lf + 1)) starts.push(lf + 1)
  if (starts.at(-1) !== bytes.length) starts.push(bytes.length + 1)
  return starts
}

const decode = ({ bytes, start }: Piece, from: number, to: number): ReadonlyArray<Line.Located> =>
  Line.decode(bytes.subarray(from, to), { line: 1, byteStart: start + from, byteEnd: start + to })

/** The kinds of metadata that a summary tells. */
export const kinds = [
  "custom-title",
  "ai-title",
  "last-prompt",
  "summary",
  "task-summary",
  "tag",
  "mode",
  "permission-mode",
  "agent-name",
  "agent-setting",
  "pr-link"
] as const satisfies ReadonlyArray<Entry.Kind>

/** A kind of metadata that a summary tells. */
export type Kind = (typeof kinds)[number]

const isSummary = (entry: Entry.Entry): boolean =>
  (Entry.is("summary")(entry) || Entry.is("task-summary")(entry)) && entry.summary !== undefined

/** Closes what a decoded entry answers; a title that is not empty answers all that stand behind it. */
const close = (open: Set<Kind>, entry: Entry.Entry): void => {
  const isSaid = SessionMetadata.isRestated(entry)
  if (isSaid) open.delete(entry.type as Kind)
  const isTitle = isSaid && entry.type === "custom-title" && entry.customTitle !== ""
  if (isTitle) open.delete("ai-title")
  if (isTitle || isSummary(entry)) for (const kind of ["summary", "task-summary"] as const) open.delete(kind)
}

/** The first messages of a log: those that say how it begins. */
export const beginning = (piece: Piece, start: Sift.Start): ReadonlyArray<Line.Located> => {
  const { bytes } = piece
  const found: Array<Line.Located> = []
  for (let from = 0, to = 0; from < bytes.length && !start.isRead; from = to + 1) {
    const lf = bytes.indexOf(LF, from)
    to = lf < 0 ? bytes.length : lf
    const kind = Sift.kindOf(bytes, from, to)
    if (kind !== undefined && kind !== "message") continue
    for (const located of decode(piece, from, to))
      if (Entry.isMessage(located.entry) && start.take(located.entry)) found.push(located)
  }
  return found
}

/** The last value of each kind that is open, which it then is no more; and which lines hold messages, the last one first. */
export const metadata = (piece: Piece, open: Set<Kind>) => {
  const { bytes } = piece
  const lines = linesOf(bytes)
  const found: Array<Line.Located> = []
  const messages: Array<number> = []
  for (let i = lines.length - 2; i >= 0; i--) {
    const kind = Sift.kindOf(bytes, lines[i]!, lines[i + 1]! - 1)
    if (kind === "message") messages.push(i)
    else if (kind === undefined || open.has(kind as Kind)) {
      const located = decode(piece, lines[i]!, lines[i + 1]! - 1)
      found.push(...located)
      for (const { entry } of located.toReversed()) close(open, entry)
    }
  }
  return { found, lines, messages }
}

/** What the end of a log says, and what it leaves open: kinds of metadata, and keys of the last message. */
export interface End {
  readonly found: ReadonlyArray<Line.Located>
  readonly open: ReadonlySet<Kind>
  readonly keys: ReadonlyArray<string>
}

/** What the end of a log says: the last of each kind, and the messages that last said branch, version and time. */
export const end = (piece: Piece): End => {
  const open = new Set(kinds)
  const { found, lines, messages } = metadata(piece, open)
  const last = lastOf(piece, lines, messages, found)
  return { found: [...found, ...last.found], open, keys: last.keys }
}

/** The end of `"timestamp":"`: its first letter is rarer than a quote, so it is found faster. */
const STAMP = Buffer.from('mestamp":"')
const QUOTE = 0x22
/** Later than any time. */
const LATEST = "\uffff"

/** Whether the text at a place is later than a time; equal ones are not. */
const isLater = (bytes: Buffer, from: number, than: Buffer): boolean => {
  for (let i = 0; i < than.length; i++) if (bytes[from + i] !== than[i]) return bytes[from + i]! > than[i]!
  return bytes[from + than.length] !== QUOTE
}

/** Whether a time begins at a place, as far as `SessionMetadata.timeOf` looks at it. */
const isTime = (bytes: Buffer, from: number): boolean => {
  for (let i = 0; i < shape.length; i++) {
    const byte = bytes[from + i]!
    if (shape[i] === ZERO ? byte < ZERO || byte > NINE : byte !== shape[i]) return false
  }
  return true
}

const ZERO = 0x30
const NINE = 0x39
const shape = Buffer.from("0000-00-00T")

/** By line, the latest time in it that is later than a given one; "" where none is, the latest of all where one is no time. */
const latestOf = (bytes: Buffer, lines: ReadonlyArray<number>, than: string): ReadonlyArray<string> => {
  const latest: Array<string | undefined> = lines.map(() => undefined)
  const known = Buffer.from(than)
  let line = 0
  for (let hit = bytes.indexOf(STAMP); hit >= 0; hit = bytes.indexOf(STAMP, hit + STAMP.length)) {
    while (lines[line + 1]! <= hit) line++
    const from = hit + STAMP.length
    latest[line] ??= ""
    if (!isTime(bytes, from)) latest[line] = LATEST
    if (!isLater(bytes, from, known)) continue
    const time = bytes.toString("latin1", from, Math.min(bytes.indexOf(QUOTE, from), from + 64))
    if (time > latest[line]!) latest[line] = plain.test(time) ? time : LATEST
  }
  // One that is spelled in another way is not found.
  return latest.map((time) => time ?? LATEST)
}

const plain = /^[\w:.+-]+$/
const said = ["timestamp", "gitBranch", "version"] as const

/** `messages` are the lines that hold some, the last one first; `others` what was decoded of other lines. */
const lastOf = (
  piece: Piece,
  lines: ReadonlyArray<number>,
  messages: ReadonlyArray<number>,
  others: ReadonlyArray<Line.Located>
): Pick<End, "found" | "keys"> => {
  const found: Array<Line.Located> = []
  const taken = new Set<number>()
  let last: { readonly time: string; readonly at: number; readonly entry: Entry.Message } | undefined
  const look = ({ at, entry }: Line.Located): void => {
    if (!Entry.isMessage(entry) || entry.isSidechain === true) return
    const time = SessionMetadata.timeOf(entry)
    if (time === undefined) return
    if (last === undefined || time > last.time || (time === last.time && at.byteStart > last.at))
      last = { time, at: at.byteStart, entry }
  }
  const take = (line: number): void => {
    if (taken.has(line)) return
    taken.add(line)
    const located = decode(piece, lines[line]!, lines[line + 1]! - 1)
    found.push(...located)
    located.forEach(look)
  }
  others.forEach(look)
  const [end] = messages
  if (end !== undefined) take(end)
  // Where the line at the end holds the last message so far, no time like its own counts any more.
  const isEnd: boolean = end !== undefined && last?.at === piece.start + lines[end]!
  const known: string = isEnd && plain.test(last!.time) ? last!.time : ""
  const latest = latestOf(piece.bytes, lines, known)
  const open = messages.filter((line) => latest[line] !== "" || known === "")
  for (const line of open.toSorted((a, b) => (latest[a]! > latest[b]! ? -1 : latest[a]! < latest[b]! ? 1 : b - a))) {
    // Of two messages of one time the one behind counts.
    const isBefore = last !== undefined && piece.start + lines[line]! < last.at
    if (last !== undefined && (latest[line]! < last.time || (latest[line] === last.time && isBefore))) break
    take(line)
  }
  const missing = said.filter((key) => last === undefined || Sift.saidBy(last.entry, key) === undefined)
  if (missing.some((key) => piece.bytes.includes(`"${key}":`))) messages.forEach(take)
  const all = [...others, ...found]
  const isSaid = (key: (typeof said)[number]) =>
    all.some(
      ({ entry }) => Entry.isMessage(entry) && entry.isSidechain !== true && Sift.saidBy(entry, key) !== undefined
    )
  return { found, keys: missing.filter((key) => !isSaid(key)) }
}
