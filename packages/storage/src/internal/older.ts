/**
 * What the part of a log before its last boundary says about the session: metadata and snapshots, and the few messages
 * from which metadata is taken.
 *
 *   │ start ─ prompt, directory │ … tag … mode … title … │ last branch, version │ end
 *
 * 1. A line is told by its bytes (Sift); the message lines of which a log is full are neither decoded nor copied.
 * 2. The messages at the start are read up to the first prompt, and those that last said what later ones do not say.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import type * as EntryLog from "../EntryLog.ts"
import type { Mark } from "../LineReader.ts"
import * as Backward from "./backward.ts"
import * as Sift from "./sift.ts"

const CHUNK = 1 << 20
const encoder = new TextEncoder()

/** Where reading begins (0), what of the start was read before, and the kinds of entry that matter (all). */
export interface Options {
  readonly from?: number
  readonly start?: Sift.Start
  readonly hears?: ReadonlySet<string>
  /** Bytes to read into. */
  readonly buffer?: Buffer
  /** Asked after each chunk: whether the rest may stay unread. */
  readonly until?: () => boolean
}

/** The entries before `end` that say something about the session, in order, and the mark at `end`. */
export const read = Effect.fnUntraced(function* (reader: EntryLog.Reader, end: number, options: Options = {}) {
  const { from = 0, start = Sift.starting(), until } = options
  const found: Array<Line.Located> = []
  // Of a Buffer, a byte is found five times as fast.
  const buffer = options.buffer ?? Buffer.allocUnsafe(Math.min(CHUNK, Math.max(end - from, 1)))
  const isPassed = Sift.passing(options.hears)
  let mark: Mark = { line: 1, byte: from }
  const splitter = LineSplitter.make((line, at) => {
    mark = { line: at.line + 1, byte: at.byteEnd + 1 }
    if (start.isRead && isPassed(line)) return
    for (const located of Line.decode(line, at)) {
      if (!Entry.isMessage(located.entry) || start.take(located.entry)) found.push(located)
    }
  }, mark)
  for (let offset = from; offset < end;) {
    if (until?.() === true) return { found, mark }
    const count = yield* reader.read(offset, buffer.subarray(0, Math.min(buffer.length, end - offset)))
    if (count === 0) break
    splitter.push(buffer.subarray(0, count))
    offset += count
    if (offset < end) yield* Effect.yieldNow
  }
  splitter.end()
  return { found, mark }
})

/** What the last message that says it says about the session. */
const sayings = ["gitBranch", "version", "entrypoint", "slug", "timestamp"]

/** The messages before `end` that last said what none of those behind it says, in order. */
export const lastSayings = Effect.fnUntraced(function* (
  reader: EntryLog.Reader,
  end: number,
  behind: ReadonlyArray<Line.Located>,
  keys: ReadonlyArray<string> = sayings
) {
  // Up to seven bytes are searched for by their last one: a colon is rare, and the line says whether it was the key.
  const open = new Map<string, Uint8Array>(keys.map((key) => [key, encoder.encode(`"${key}":`.slice(-7))]))
  const take = (entry: Entry.Entry): boolean => {
    if (!Entry.isMessage(entry) || entry.isSidechain === true) return false
    const before = open.size
    for (const key of open.keys()) if (Sift.saidBy(entry, key) !== undefined) open.delete(key)
    return open.size < before
  }
  for (let i = behind.length - 1; i >= 0 && open.size > 0; i--) take(behind[i]!.entry)
  const found: Array<Line.Located> = []
  if (open.size === 0) return found
  yield* Backward.linesWith(
    reader,
    () => [...open.values()],
    end,
    ({ bytes, end, start }) => {
      const located = Line.decode(bytes, { line: 1, byteStart: start, byteEnd: end })
      // Where it stands in lines is not known, and what was damaged on its line has been told if it matters.
      for (const { at, entry } of located.toReversed()) if (take(entry)) found.unshift({ at, entry, damage: [] })
      return open.size === 0
    }
  )
  return found
})
