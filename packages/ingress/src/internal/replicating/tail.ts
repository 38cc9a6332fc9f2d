/**
 * Tail: what of a log is still to be sent, a batch at a time.
 *
 *   │ sent │ line LF line LF line LF │ li
 *          └ cursor   batch          └ waits for its LF
 */
import type * as EntryLog from "@reprise/storage/EntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import { Buffer } from "node:buffer"
import * as LineKey from "../../LineKey.ts"
import * as ReplicaCursor from "../../ReplicaCursor.ts"
import * as StreamLine from "../../StreamLine.ts"
import { LONGEST } from "../loglines.ts"

/** A place between two lines: where the next one begins, and its number, from 1. */
export type Place = Pick<ReplicaCursor.ReplicaCursor, "byte" | "line">

/** A line to be sent, the byte that it begins with, and the place behind it. */
export interface Piece {
  readonly line: StreamLine.StreamLine
  readonly byteStart: number
  readonly end: Place
}

/** How much is sent at once. */
export interface Most {
  readonly bytes: number
  readonly lines: number
}

/**
 * What is there: lines, and the place behind all that was looked at; nothing that has ended; a line that is longer than
 * any remote takes; or another log than the one that the cursor is of.
 */
export type Look =
  | { readonly _tag: "Lines"; readonly pieces: ReadonlyArray<Piece>; readonly end: Place }
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "TooLong" }
  | { readonly _tag: "Replaced" }

const LF = 0x0a

/** Looks behind the cursor of a log; `isSent`: lines that it refuses are passed by. */
export const look = Effect.fnUntraced(
  function* (
    port: EntryLog.EntryLog["Service"],
    log: EntryLog.LogId,
    file: string,
    cursor: ReplicaCursor.ReplicaCursor,
    most: Most,
    isSent: (line: StreamLine.StreamLine, byteStart: number) => boolean
  ) {
    const reader = yield* port.reader(log)
    const open = reader.size - cursor.byte
    if (open < 0 || !(yield* ReplicaCursor.holds(file, cursor))) return replaced
    if (open === 0) return nothing
    for (let size = Math.min(open, most.bytes); ; size = Math.min(open, size * 2)) {
      const bytes = Buffer.allocUnsafe(size)
      const count = yield* reader.read(cursor.byte, bytes)
      const end = bytes.lastIndexOf(LF, count - 1)
      if (end >= 0) return linesOf(bytes.subarray(0, end + 1), cursor, most.lines, isSent)
      if (size > LONGEST) return tooLong
      if (size === open || count < size) return nothing
    }
  },
  Effect.scoped,
  Effect.map((look): Look => look),
  // One that is gone says nothing; should it come back, it is another.
  Effect.catchIf(
    ({ reason }) => reason === "NotFound",
    () => Effect.succeed(nothing)
  )
)

const nothing: Look = { _tag: "Nothing" }
const tooLong: Look = { _tag: "TooLong" }
const replaced: Look = { _tag: "Replaced" }

const linesOf = (
  bytes: Buffer,
  { byte, line }: Place,
  most: number,
  isSent: (line: StreamLine.StreamLine, byteStart: number) => boolean
): Look => {
  const pieces: Array<Piece> = []
  let number = line
  let start = 0
  while (start < bytes.length && pieces.length < most) {
    const end = bytes.indexOf(LF, start)
    const one = LineKey.lineAt(number++, bytes.subarray(start, end))
    const byteStart = byte + start
    if (isSent(one, byteStart)) pieces.push({ line: one, byteStart, end: { byte: byte + end + 1, line: number } })
    start = end + 1
  }
  return { _tag: "Lines", pieces, end: { byte: byte + start, line: number } }
}

/**
 * The place behind the line with an id, among those that are sent; undefined where no line that has ended has it. The first
 * of an id counts.
 */
export const find = Effect.fnUntraced(function* (
  log: EntryLog.LogId,
  uuid: string,
  isSent: (line: StreamLine.StreamLine) => boolean = constTrue
) {
  const sought = Buffer.from(JSON.stringify(uuid).slice(1, -1))
  let found: Place | undefined
  yield* LineReader.forEachLine(log, (bytes, { byteEnd, line }, terminated) => {
    if (
      found !== undefined ||
      !terminated ||
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(sought) < 0
    )
      return
    const one = StreamLine.ofBytes(bytes, "~")
    if (one.uuid === uuid && isSent(one)) found = { byte: byteEnd + 1, line: line + 1 }
  })
  return found
})
