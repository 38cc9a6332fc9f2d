/**
 * Piece: whole lines of a log in memory, of which as few as possible are decoded.
 *
 *   beginning  │ prompt, directory … │
 *   metadata   │ … tag … │                  of each kind the last, where no later piece says it
 *   end        │ … title · mode · the last message │
 *
 * 1. Whatever is left out would have changed nothing: what is found folds to the same as all of the piece.
 * 2. Which message is the last goes by its time. A line before one that was decoded says nothing where no time among its
 *    bytes is later (Times).
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import type { Buffer } from "node:buffer"
import { LF } from "./lines.ts"
import * as Sayings from "./sayings.ts"
import * as Sift from "./sift.ts"
import * as Times from "./times.ts"

/** The bytes, and where in the log they begin. */
export interface Piece {
  readonly bytes: Buffer
  readonly start: number
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

/** Calls `look` with the lines between two places, each without its LF; true: that was the last one to look at. */
const forward = (bytes: Buffer, from: number, to: number, look: (from: number, to: number) => boolean | void): void => {
  for (let start = from; start < to;) {
    const lf = bytes.indexOf(LF, start)
    const end = lf < 0 ? bytes.length : lf
    if (look(start, end) === true) return
    start = end + 1
  }
}

/** The same with all lines, the last one first. */
const backward = (bytes: Buffer, look: (from: number, to: number) => boolean | void): void => {
  if (bytes.length === 0) return
  for (let to = bytes.at(-1) === LF ? bytes.length - 1 : bytes.length; to >= 0;) {
    const from = to === 0 ? 0 : bytes.lastIndexOf(LF, to - 1) + 1
    if (look(from, to) === true) return
    to = from - 1
  }
}

const mayHoldMessages = (kind: Sift.Kind | undefined): boolean => kind === undefined || Sift.isMessage(kind)

/** The first messages of a log: those that say how it begins. */
export const beginning = (piece: Piece, start: Sift.Start): ReadonlyArray<Line.Located> => {
  const { bytes } = piece
  const found: Array<Line.Located> = []
  forward(bytes, 0, bytes.length, (from, to) => {
    const kind = Sift.kindOf(bytes, from, to)
    if (mayHoldMessages(kind)) {
      for (const located of decode(piece, from, to))
        if (Entry.isMessage(located.entry) && start.take(located.entry)) found.push(located)
    }
    return start.isRead
  })
  return found
}

/** What a line of metadata says; it closes what it answers. */
const said = (
  piece: Piece,
  from: number,
  to: number,
  kind: Sift.Kind | undefined,
  open: Set<Kind>
): ReadonlyArray<Line.Located> => {
  const entry = kind && Sift.said(piece.bytes, from, to, kind)
  const at = { line: 1, byteStart: piece.start + from, byteEnd: piece.start + to }
  const located = entry === undefined ? decode(piece, from, to) : [{ entry, at, damage: [] }]
  for (const { entry } of located.toReversed()) close(open, entry)
  return located
}

/** The last value of each kind that is open, which it then is no more. */
export const metadata = (piece: Piece, open: Set<Kind>): ReadonlyArray<Line.Located> => {
  const found: Array<Line.Located> = []
  backward(piece.bytes, (from, to) => {
    const kind = Sift.kindOf(piece.bytes, from, to)
    if (kind === undefined || open.has(kind.name as Kind)) found.push(...said(piece, from, to, kind, open))
    return open.size === 0
  })
  return found
}

/** What messages say last, beside their time, and a summary tells. */
const keys = ["gitBranch", "version"] as const satisfies ReadonlyArray<Sayings.Key>

/** What the end of a log says, and what it leaves open: kinds of metadata, keys of messages, whether any says its time. */
export interface End {
  readonly found: ReadonlyArray<Line.Located>
  readonly open: ReadonlySet<Kind>
  readonly keys: ReadonlyArray<Sayings.Key>
  readonly isTimed: boolean
}

/** What the end of a log says: the last of each kind, and the messages that last said branch, version and time. */
export const end = (piece: Piece): End => {
  const { bytes } = piece
  const open = new Set(kinds)
  const lines = new Map<number, ReadonlyArray<Line.Located>>()
  const take = (from: number, to: number): ReadonlyArray<Line.Located> => {
    const located = lines.get(from) ?? decode(piece, from, to)
    lines.set(from, located)
    return located
  }
  const takeMessage = (from: number, to: number): void => {
    if (mayHoldMessages(Sift.kindOf(bytes, from, to))) take(from, to)
  }
  let last = { from: 0, time: "" }
  backward(bytes, (from, to) => {
    const kind = Sift.kindOf(bytes, from, to)
    if (kind === undefined || open.has(kind.name as Kind)) lines.set(from, said(piece, from, to, kind, open))
    if (last.time === "" && mayHoldMessages(kind)) last = { from, time: timeOf(take(from, to)) }
    return open.size === 0 && last.time !== ""
  })
  const latest = latestBefore(bytes, last, take)
  const from = (start: number) =>
    [...lines]
      .filter(([at]) => at >= start)
      .toSorted(([a], [b]) => a - b)
      .flatMap(([, located]) => located)
  // What stands behind the latest counts where it says no time, and what stands before it where neither says a key.
  forward(bytes, latest.from, last.from, takeMessage)
  const behind = Sayings.said(from(latest.from)).keys
  if (keys.some((key) => !behind.has(key) && bytes.includes(`"${key}":`))) forward(bytes, 0, bytes.length, takeMessage)
  const found = from(0)
  const known = Sayings.said(found)
  return { found, open, keys: keys.filter((key) => !known.keys.has(key)), isTimed: known.first !== undefined }
}

/** The latest time that a line says, where it holds messages. */
const timeOf = (located: ReadonlyArray<Line.Located>): string =>
  located.reduce((latest, { entry }) => {
    const time = Sayings.isMain(entry) ? SessionMetadata.timeOf(entry) : undefined
    return time !== undefined && time > latest ? time : latest
  }, "")

/** The line with the latest time of all that stand before a line, or that line; those that may be later are taken. */
const latestBefore = (
  bytes: Buffer,
  last: { readonly from: number; readonly time: string },
  take: (from: number, to: number) => ReadonlyArray<Line.Located>
) => {
  let latest = last
  for (let next = Times.later(bytes, last.from, last.time); next !== undefined;) {
    const from = bytes.lastIndexOf(LF, next.at) + 1
    const lf = bytes.indexOf(LF, next.at)
    const time = timeOf(take(from, lf < 0 ? bytes.length : lf))
    if (time > latest.time) latest = { from, time }
    next = Times.later(bytes, from, last.time)
  }
  return latest
}
