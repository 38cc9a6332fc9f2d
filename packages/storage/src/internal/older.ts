/**
 * What a part of a log says about its session without being decoded as a whole: metadata and snapshots, and the messages
 * at its start.
 *
 *   │ start ─ prompt, directory │ … tag … mode … title … │ end
 *
 * 1. A line is told by its bytes (Sift); the message lines of which a log is full are neither decoded nor copied.
 * 2. The messages at the start are read until they say what the first ones say.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import type * as EntryLog from "../EntryLog.ts"
import { LF } from "./lines.ts"
import * as Sayings from "./sayings.ts"
import * as Sift from "./sift.ts"

const CHUNK = 1 << 20

/** Chunks between two turns of the event loop: that many are looked through in a few milliseconds. */
const TURN = 8

/** Where reading begins (0), what of the start was read before, and the kinds of entry that matter (all). */
export interface Options {
  readonly from?: number
  readonly start: Sift.Start
  readonly hears?: ReadonlySet<string>
  /** Bytes to read into. */
  readonly buffer?: Buffer
  /** Asked after each chunk: whether the rest may stay unread. */
  readonly until?: () => boolean
  /** Told of each chunk. */
  readonly noted?: Sayings.Noted
}

/** Calls `onLocated` with what says something about the session before `end`, and gives the mark at `end`. */
export const forEach = Effect.fnUntraced(function* (
  reader: EntryLog.Reader,
  end: number,
  onLocated: (located: Line.Located) => void,
  { from = 0, hears, noted, start, until, ...options }: Options
) {
  const decode = (line: Uint8Array, at: Line.Located["at"]): void => {
    for (const located of Line.decode(line, at)) {
      if (!Entry.isMessage(located.entry) || start.take(located.entry)) onLocated(located)
    }
  }
  const passing = Sift.passing(decode, () => splitter.mark(), hears)
  const splitter = LineSplitter.make(
    decode,
    { line: 1, byte: from },
    (bytes, from, to, byte) => start.isRead && passing.isPassed(bytes, from, to, byte)
  )
  // Of a Buffer, a byte is found five times as fast. What is read stands behind what was kept of the chunk before: a cut
  // line, and what two pieces have in common.
  const buffer = options.buffer ?? Buffer.allocUnsafeSlow(Sayings.OVERLAP + Math.min(CHUNK, Math.max(end - from, 1)))
  let [offset, kept, split] = [from, 0, 0]
  for (let chunks = 1; offset < end; chunks++) {
    if (until?.() === true) break
    const most = Math.min(buffer.length - kept, end - offset)
    const count = yield* reader.read(offset, buffer.subarray(kept, kept + most))
    if (count === 0) break
    const bytes = buffer.subarray(0, kept + count)
    noted?.push(bytes, offset - kept, offset + count >= end)
    offset += count
    const behind = bytes.lastIndexOf(LF) + 1
    const whole = offset < end && 2 * behind > buffer.length ? behind : bytes.length
    splitter.push(bytes.subarray(split, whole))
    kept = Math.min(bytes.length, Math.max(bytes.length - whole, Sayings.OVERLAP))
    split = kept - (bytes.length - whole)
    buffer.copyWithin(0, bytes.length - kept, bytes.length)
    if (chunks % TURN === 0) yield* Effect.yieldNow
  }
  if (offset >= end) splitter.end()
  passing.flush()
  return splitter.mark()
})
