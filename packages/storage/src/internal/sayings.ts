/**
 * What messages said last about their session, of a part of a log in which they are not decoded.
 *
 *   │ 1 MB: no later time, no slug │ 1 MB: … "slug": … │ behind: branch, version, times │
 *                                    ▲ decoded, for the last slug
 *
 * 1. A message counts unless one before it is later by its time (SessionMetadata). The times in the bytes of a piece are
 *    all those of its messages and maybe others that are quoted, so the latest of them is a bound; a piece is decoded
 *    where the bound does not tell.
 * 2. Which pieces hold the bytes of a key is noted as they pass. Keys are looked for as JSON spells them, without escapes.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import type * as EntryLog from "../EntryLog.ts"
import * as Backward from "./backward.ts"
import { fill } from "./fill.ts"
import * as Times from "./times.ts"

/** What the last message that says it says about the session, beside its time. */
export const keys = ["gitBranch", "version", "entrypoint", "slug"] as const
/** One of them. */
export type Key = (typeof keys)[number]

/** Whether an entry is a message of the session itself. */
export const isMain = (entry: Entry.Entry): entry is Entry.Message =>
  Entry.isMessage(entry) && entry.isSidechain !== true

const saidBy = (entry: Entry.Message): ReadonlyArray<Key> => keys.filter((key) => entry[key] !== undefined)

/** What messages say that count, behind others of which none is later than a time; and their own first time. */
interface Said {
  readonly keys: ReadonlySet<Key>
  readonly first: string | undefined
}

/** What is said by messages, in order. */
export const said = (located: Iterable<Line.Located>, before = ""): Said => {
  const keys = new Set<Key>()
  let first: string | undefined
  let latest = before
  for (const { entry } of located) {
    if (!isMain(entry)) continue
    const time = SessionMetadata.timeOf(entry)
    first ??= time
    if (time !== undefined && time < latest) continue
    latest = time ?? latest
    for (const key of saidBy(entry)) keys.add(key)
  }
  return { keys, first }
}

/** A piece of a log: no time in it is later than `latest`, and no message in it has one of the keys that it lacks. */
interface Piece {
  readonly from: number
  readonly to: number
  readonly latest: string
  readonly lacks: ReadonlySet<Key>
}

/** Pieces of a log: `push` them in order, each with the last bytes of the one before it, as many as a time may take. */
export interface Noted {
  readonly keys: ReadonlyArray<Key>
  readonly push: (bytes: Buffer, from: number, isLast: boolean) => void
  readonly pieces: ReadonlyArray<Piece>
}

/** Up to six bytes are searched for by the last one, if from the end: a colon is rare. */
const needleOf = (key: string): Buffer => Buffer.from(`"${key}":`.slice(-6))

/** Bytes that two pieces have in common. */
export const OVERLAP = 2 * Times.AROUND

/** Notes what there is of times, and of those of the keys that are not said behind. */
export const noting = (behind: ReadonlyArray<Line.Located>, keys: ReadonlyArray<Key>): Noted => {
  const known = said(behind).keys
  const open = keys.filter((key) => !known.has(key)).map((key) => [key, needleOf(key)] as const)
  const pieces: Array<Piece> = []
  return {
    keys,
    push: (bytes, from, isLast) => {
      const lacks = new Set(open.flatMap(([key, needle]) => (bytes.lastIndexOf(needle) < 0 ? [key] : [])))
      const latest = latestIn(bytes, isLast ? bytes.length : bytes.length - Times.AROUND)
      pieces.push({ from, to: from + bytes.length, latest, lacks })
    },
    pieces
  }
}

const latestIn = (bytes: Buffer, to: number): string => {
  let latest: Times.Time = { text: "", at: to }
  for (let next: Times.Time | undefined = latest; next !== undefined; next = Times.later(bytes, next.at, latest.text)) {
    latest = next
  }
  return latest.text
}

/** A message of a piece: where it stands, when it was written, and what it says. */
interface Message extends Pick<Line.Located, "at"> {
  readonly time: string | undefined
  readonly says: ReadonlyArray<Key>
}

/** The messages of pieces that last said what none of those behind says, in order. */
export const last = Effect.fnUntraced(function* (
  reader: EntryLog.Reader,
  { keys, pieces }: Noted,
  behind: ReadonlyArray<Line.Located>
) {
  const decoded = new Map<Piece, ReadonlyArray<Message>>()
  const messagesOf = Effect.fnUntraced(function* (piece: Piece) {
    const messages = decoded.get(piece) ?? (yield* messagesIn(reader, piece))
    decoded.set(piece, messages)
    return messages
  })
  const isOvertaken = Effect.fnUntraced(function* ({ at, time }: Message) {
    if (time === undefined) return false
    for (const piece of pieces) {
      if (piece.from >= at.byteStart || piece.latest <= time) continue
      const messages = yield* messagesOf(piece)
      if (messages.some((one) => one.at.byteStart < at.byteStart && one.time !== undefined && one.time > time))
        return true
    }
    return false
  })
  const found = new Map<number, Message>()
  let latest = said(behind).first ?? ""
  for (const piece of pieces.toSorted((a, b) => (a.latest > b.latest ? -1 : 1))) {
    if (piece.latest <= latest) break
    for (const message of yield* messagesOf(piece)) {
      if (message.time === undefined || message.time <= latest) continue
      latest = message.time
      found.clear()
      found.set(message.at.byteStart, message)
    }
  }
  const known = said(behind, latest).keys
  const open = new Set(keys.filter((key) => !known.has(key)))
  for (const piece of pieces.toReversed()) {
    if ([...open].every((key) => piece.lacks.has(key))) continue
    for (const message of (yield* messagesOf(piece)).toReversed()) {
      const says = message.says.filter((key) => open.has(key))
      if (says.length === 0 || (yield* isOvertaken(message))) continue
      for (const key of says) open.delete(key)
      found.set(message.at.byteStart, message)
    }
  }
  const inOrder = [...found.values()].toSorted((a, b) => a.at.byteStart - b.at.byteStart)
  return (yield* Effect.forEach(inOrder, ({ at }) => read(reader, at))).flat()
})

/** The messages on the lines of a piece. */
const messagesIn = Effect.fnUntraced(function* (reader: EntryLog.Reader, { from, to }: Piece) {
  const messages: Array<Message> = []
  const { start } = yield* Backward.lineAround(reader, from, reader.size)
  const splitter = LineSplitter.make(
    (line, position) => {
      if (position.byteStart >= to) return
      for (const { at, entry } of Line.decode(line, position)) {
        if (isMain(entry)) messages.push({ at, time: SessionMetadata.timeOf(entry), says: saidBy(entry) })
      }
    },
    { line: 1, byte: start }
  )
  const buffer = Buffer.allocUnsafe(1 << 16)
  for (let at = start; splitter.mark().byte < to;) {
    const count = yield* reader.read(at, buffer)
    if (count === 0) {
      splitter.end()
      break
    }
    splitter.push(buffer.subarray(0, count))
    at += count
  }
  return messages
})

/** A message again, by its place. */
const read = Effect.fnUntraced(function* (reader: EntryLog.Reader, at: Line.Located["at"]) {
  const bytes = Buffer.allocUnsafe(at.byteEnd - at.byteStart)
  yield* fill(reader, at.byteStart, bytes)
  return Line.decode(bytes, at)
})
