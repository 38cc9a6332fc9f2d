/**
 * Candidates: the lines of a log that may hold a text, found by their bytes.
 *
 *   "Café page" ─▶ the longest part that JSON and letter case leave findable: "page" ─▶ /page|\\u/i over the bytes
 *
 * 1. No line that holds the text is passed over, however it is spelled: an escape of four digits may stand for any
 *    letter, so lines with one are candidates; and so are those with a character that folds to a plain letter.
 * 2. A candidate may hold nothing: whoever asks decodes it and looks.
 */
import type { Position } from "@reprise/domain/Finding"
import { Buffer } from "node:buffer"
import * as Effect from "effect/Effect"
import type * as EntryLog from "../EntryLog.ts"
import { LF } from "./lines.ts"

/** Characters beyond ASCII that fold to one of it, as their bytes. */
const folding: { readonly [char: string]: string } = {
  k: "\xe2\x84\xaa",
  i: "\xc4\xb0",
  ";": "\xcd\xbe",
  "`": "\xe1\xbf\xaf"
}

/** What a line that holds a text has: a match of `letters`, its bytes taken as Latin-1, or one of `others`. */
export interface Pattern {
  readonly letters: RegExp
  /** Bytes that a match takes at most. */
  readonly longest: number
  readonly others: ReadonlyArray<Buffer>
}

/** More letters pass over no more lines, and have to fit into a slice of bytes. */
const ENOUGH = 1 << 10

const ESCAPE = Buffer.from("\\u")

/** The pattern of a folded text. */
export const pattern = (folded: string): Pattern => {
  const parts = folded.match(/[!-.0-[\]-~]+/g)?.flatMap((part) => part.split('"')) ?? []
  const longest = parts.reduce((most, part) => (part.length > most.length ? part : most), "").slice(0, ENOUGH)
  if (longest !== "") {
    const others = [...new Set(longest)].flatMap((char) => folding[char] ?? [])
    return {
      letters: new RegExp(longest.replace(special, "\\$&"), "gi"),
      longest: longest.length,
      others: [ESCAPE, ...others.map((bytes) => Buffer.from(bytes, "latin1"))]
    }
  }
  // No plain letter in it: any line with another character, or with an escape.
  const isBeyond = /\P{ASCII}/u.test(folded)
  return { letters: isBeyond ? /[\x80-\xff]/g : /["\\/\s]/g, longest: 1, others: [ESCAPE] }
}

const special = /[.*+?^${}()|[\]\\]/g

/** Text is made of so many bytes at a time: what is longer does not die young. */
const SLICE = 1 << 16

/** Finds the next match from a place on, again and again; -1: there is none. */
const finding = (bytes: Buffer, { letters, longest, others }: Pattern) => {
  const next = others.map(() => -1)
  const other = (from: number): number => {
    let first = bytes.length
    for (let i = 0; i < others.length; i++) {
      if (next[i]! < from) {
        const at = bytes.indexOf(others[i]!, from)
        next[i] = at < 0 ? bytes.length : at
      }
      if (next[i]! < first) first = next[i]!
    }
    return first
  }
  return (from: number): number => {
    if (from >= bytes.length) return -1
    const limit = other(from)
    for (let start = from; start < limit; start += SLICE - longest + 1) {
      letters.lastIndex = 0
      const found = letters.exec(bytes.toString("latin1", start, Math.min(bytes.length, start + SLICE)))
      if (found !== null) return Math.min(limit, start + found.index)
    }
    return limit < bytes.length ? limit : -1
  }
}

/** The bytes that are looked at at once; more where a line is longer. */
const CHUNK = 1 << 18

/** Calls `onLine` with each line that the pattern matches; the bytes are valid during the call only. */
export const forEach = Effect.fnUntraced(function* (
  reader: EntryLog.Reader,
  pattern: Pattern,
  onLine: (line: Uint8Array, at: Position) => void,
  onRead: (bytes: number) => Effect.Effect<void>
) {
  let buffer = Buffer.allocUnsafe(CHUNK)
  let mark = { line: 1, byte: 0 }
  for (let have = 0; ;) {
    if (have === buffer.length) buffer = Buffer.concat([buffer], 2 * buffer.length)
    const count = yield* reader.read(mark.byte + have, buffer.subarray(have))
    // A last line without LF may be whole.
    const end = count === 0 ? have : buffer.subarray(have, have + count).lastIndexOf(LF) + 1
    const whole = count === 0 || end === 0 ? end : have + end
    have += count
    if (whole > 0) mark = look(buffer.subarray(0, whole), mark, pattern, onLine)
    if (count === 0) return
    buffer.copyWithin(0, whole, have)
    have -= whole
    yield* onRead(count)
  }
})

/** Looks through whole lines; gives the mark behind them. */
const look = (
  bytes: Buffer,
  start: { readonly line: number; readonly byte: number },
  pattern: Pattern,
  onLine: (line: Uint8Array, at: Position) => void
) => {
  const next = finding(bytes, pattern)
  let counted = 0
  let { line } = start
  const countTo = (end: number): void => {
    for (let lf = bytes.indexOf(LF, counted); lf >= 0 && lf < end; lf = bytes.indexOf(LF, counted)) {
      counted = lf + 1
      line++
    }
  }
  for (let found = next(0), to = 0; found >= 0; found = next(to + 1)) {
    const from = found === 0 ? 0 : bytes.lastIndexOf(LF, found - 1) + 1
    const lf = bytes.indexOf(LF, found)
    to = lf < 0 ? bytes.length : lf
    countTo(from)
    if (to > from) onLine(bytes.subarray(from, to), { line, byteStart: start.byte + from, byteEnd: start.byte + to })
  }
  countTo(bytes.length)
  return { line, byte: start.byte + bytes.length }
}
