/**
 * Lines of a log found by bytes, from a place backward, window by window.
 *
 *   │ ………………………………│◀─ window ─│◀─ window ─│ before
 *                        ▲ a needle ─▶ its whole line, read once ─▶ the next one stands before that line
 *
 * A hit says only that the line is worth a look: payloads quote whatever they like. A line is as long as it is, and may
 * begin many windows before the hit.
 */
import { Buffer } from "node:buffer"
import * as Effect from "effect/Effect"
import type * as EntryLog from "../EntryLog.ts"
import { fill } from "./fill.ts"
import { LF } from "./lines.ts"

/** A line without its LF, and where it stands. */
export interface Line {
  readonly start: number
  readonly end: number
  readonly bytes: Uint8Array
}

/** 256 KiB: a few reads for a megabyte, and no more than a few are held. */
const WINDOW = 1 << 18

/** The whole line that holds the byte `at`, in a log that ends at `size`. */
export const lineAround = Effect.fnUntraced(function* (reader: EntryLog.Reader, at: number, size: number) {
  for (let reach = 1 << 13; ; reach *= 8) {
    const low = Math.max(0, at - reach)
    const bytes = yield* fill(reader, low, Buffer.allocUnsafe(Math.min(size, at + reach) - low))
    const before = at === low ? -1 : bytes.lastIndexOf(LF, at - low - 1)
    const after = bytes.indexOf(LF, at - low)
    if ((before < 0 && low > 0) || (after < 0 && low + bytes.length < size)) continue
    const [start, end] = [before + 1, after < 0 ? bytes.length : after]
    return { start: low + start, end: low + end, bytes: bytes.subarray(start, end) }
  }
})

/** Bytes to read at a time (256 KiB), and where the first needle may begin (0). */
export interface Options {
  readonly window?: number
  readonly from?: number
}

/**
 * Calls `onLine` with each line that holds one of the needles before `before`, the last one first, until it answers true
 * or none is left. `needles` is asked for each window.
 */
export const linesWith = Effect.fnUntraced(function* (
  reader: EntryLog.Reader,
  needles: () => ReadonlyArray<Uint8Array>,
  before: number,
  onLine: (line: Line) => boolean,
  { from = 0, window = WINDOW }: Options = {}
) {
  let high = before
  let buffer = Buffer.allocUnsafe(0)
  while (high > from) {
    const low = Math.max(from, high - window)
    const overlap = Math.max(...needles().map(({ length }) => length)) - 1
    if (buffer.length < window + overlap) buffer = Buffer.allocUnsafe(window + overlap)
    const bytes = yield* fill(reader, low, buffer.subarray(0, Math.min(high + overlap, before) - low))
    while (high > low) {
      const last = Math.max(...needles().map((needle) => bytes.lastIndexOf(needle, high - low - 1)))
      if (last < 0) break
      const line: Line = yield* lineAround(reader, low + last, reader.size)
      if (onLine(line)) return
      high = line.start
    }
    high = Math.min(high, low)
  }
})
