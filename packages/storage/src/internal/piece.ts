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
  const last = lastOf(piece, lines, messages.toReversed(), found)
  return { found: [...found, ...last.found], open, keys: last.keys }
}

const STAMP = Buffer.from('"timestamp":"')
const QUOTE = 0x22
/** Later than any time. */
const LATEST = "\uffff"

/** By line, the latest time that stands in it. */
const latestOf = (bytes: Buffer, lines: ReadonlyArray<number>): ReadonlyArray<string> => {
  const latest: Array<string> = Array.from(lines, () => "")
  let line = 0
  for (let hit = bytes.indexOf(STAMP); hit >= 0; hit = bytes.indexOf(STAMP, hit + STAMP.length)) {
    while (lines[line + 1]! <= hit) line++
    const from = hit + STAMP.length
    const time = bytes.toString("latin1", from, Math.min(bytes.indexOf(QUOTE, from), from + 64))
    if (time > latest[line]!) latest[line] = /^[\w:.+-]+$/.test(time) ? time : LATEST
  }
  // One that is spelled in another way is not found.
  return latest.map((time) => (time === "" ? LATEST : time))
}

const said = ["timestamp", "gitBranch", "version"] as const

const lastOf = (
  piece: Piece,
  lines: ReadonlyArray<number>,
  messages: ReadonlyArray<number>,
  others: ReadonlyArray<Line.Located>
): Pick<End, "found" | "keys"> => {
  const latest = latestOf(piece.bytes, lines)
  const byTime = messages.toSorted((a, b) => (latest[a]! > latest[b]! ? -1 : latest[a]! < latest[b]! ? 1 : b - a))
  const found: Array<Line.Located> = []
  let last: { readonly time: string; readonly at: number; readonly entry: Entry.Message } | undefined
  const look = ({ at, entry }: Line.Located): void => {
    if (!Entry.isMessage(entry) || entry.isSidechain === true || entry.timestamp === undefined) return
    const time = entry.timestamp
    const isLater = last === undefined || time > last.time || (time === last.time && at.byteStart > last.at)
    if (isLater) last = { time, at: at.byteStart, entry }
  }
  others.forEach(look)
  const take = (line: number): void => {
    const located = decode(piece, lines[line]!, lines[line + 1]! - 1)
    found.push(...located)
    located.forEach(look)
  }
  let taken = 0
  for (; taken < byTime.length; taken++) {
    const line = byTime[taken]!
    const isOver: boolean =
      last !== undefined &&
      (latest[line]! < last.time || (latest[line] === last.time && piece.start + lines[line]! < last.at))
    if (isOver) break
    take(line)
  }
  const missing = said.filter((key) => last?.entry[key] === undefined)
  if (missing.some((key) => piece.bytes.includes(`"${key}":`))) while (taken < byTime.length) take(byTime[taken++]!)
  const all = [...others, ...found]
  const isSaid = (key: (typeof said)[number]) =>
    all.some(({ entry }) => Entry.isMessage(entry) && entry.isSidechain !== true && entry[key] !== undefined)
  return { found, keys: missing.filter((key) => !isSaid(key)) }
}
