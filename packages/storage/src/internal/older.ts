/**
 * What the part of a log before its last boundary says about the session: metadata and snapshots, and the few messages
 * from which metadata is taken.
 *
 *   │ start ─ prompt, directory │ … tag … mode … title … │ last branch, version │ end
 *
 * 1. A line is told by its bytes (Sift); the message lines of which a log is full are neither decoded nor copied.
 * 2. The messages at the start are read up to the first prompt, and those that last said what later ones do not say.
 * 3. Which chunks hold the bytes of a key is noted as they pass, so what no message says is not looked for again.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import type * as EntryLog from "../EntryLog.ts"
import * as Backward from "./backward.ts"
import * as Sift from "./sift.ts"

const CHUNK = 1 << 20

/** Where reading begins (0), what of the start was read before, and the kinds of entry that matter (all). */
export interface Options {
  readonly from?: number
  readonly start?: Sift.Start
  readonly hears?: ReadonlySet<string>
  /** Bytes to read into. */
  readonly buffer?: Buffer
  /** Asked after each chunk: whether the rest may stay unread. */
  readonly until?: () => boolean
  /** Told of each chunk. */
  readonly sayings?: Sayings
}

/** The entries before `end` that say something about the session, in order, and the mark at `end`. */
export const read = Effect.fnUntraced(function* (reader: EntryLog.Reader, end: number, options: Options = {}) {
  const { from = 0, start = Sift.starting(), until } = options
  const found: Array<Line.Located> = []
  // Of a Buffer, a byte is found five times as fast.
  const buffer = options.buffer ?? Buffer.allocUnsafe(Math.min(CHUNK, Math.max(end - from, 1)))
  const isPassed = Sift.passing(options.hears)
  const splitter = LineSplitter.make(
    (line, at) => {
      for (const located of Line.decode(line, at)) {
        if (!Entry.isMessage(located.entry) || start.take(located.entry)) found.push(located)
      }
    },
    { line: 1, byte: from },
    (bytes, from, to) => start.isRead && isPassed(bytes, from, to)
  )
  for (let offset = from; offset < end;) {
    if (until?.() === true) return { found, mark: splitter.mark() }
    const count = yield* reader.read(offset, buffer.subarray(0, Math.min(buffer.length, end - offset)))
    if (count === 0) break
    const chunk = buffer.subarray(0, count)
    options.sayings?.push(chunk, offset)
    splitter.push(chunk)
    offset += count
    if (offset < end) yield* Effect.yieldNow
  }
  splitter.end()
  return { found, mark: splitter.mark() }
})

/** What the last message that says it says about the session. */
const keys = ["gitBranch", "version", "entrypoint", "slug", "timestamp"]

/** Up to seven bytes are searched for by their last one: a colon is rare, and the line says whether it was the key. */
const needleOf = (key: string): Buffer => Buffer.from(`"${key}":`.slice(-7))

/** Bytes of a log, and the keys that may stand there. */
interface Part {
  readonly from: number
  readonly to: number
  readonly keys: ReadonlyArray<string>
}

/** Where messages may say something: `push` the chunks in order. */
export interface Sayings {
  readonly push: (chunk: Buffer, from: number) => void
  readonly parts: ReadonlyArray<Part>
}

/** What is noted of chunks that pass. A key that is cut by the beginning of a chunk stands in that chunk. */
export const noting = (): Sayings => {
  const needles = keys.map((key) => ({ key, bytes: needleOf(key) }))
  const most = Math.max(...needles.map(({ bytes }) => bytes.length)) - 1
  const parts: Array<Part> = []
  let before = Buffer.alloc(0)
  return {
    push: (chunk, from) => {
      const edge = Buffer.concat([before, chunk.subarray(0, most)])
      const held = needles.filter(({ bytes }) => chunk.lastIndexOf(bytes) >= 0 || edge.lastIndexOf(bytes) >= 0)
      parts.push({ from: from - before.length, to: from + chunk.length, keys: held.map(({ key }) => key) })
      before = Buffer.concat([before, chunk.subarray(-most)]).subarray(-most)
    },
    parts
  }
}

/** The messages in parts of a log that last said what none of those behind them says, in order. */
export const lastSayings = Effect.fnUntraced(function* (
  reader: EntryLog.Reader,
  parts: ReadonlyArray<Part>,
  behind: ReadonlyArray<Line.Located>
) {
  const open = new Set(parts.flatMap(({ keys }) => keys))
  const take = (entry: Entry.Entry): boolean => {
    if (!Entry.isMessage(entry) || entry.isSidechain === true) return false
    const before = open.size
    for (const key of open) if (Sift.saidBy(entry, key) !== undefined) open.delete(key)
    return open.size < before
  }
  for (let i = behind.length - 1; i >= 0 && open.size > 0; i--) take(behind[i]!.entry)
  const found: Array<Line.Located> = []
  let high = Infinity
  for (const { from, keys, to } of parts.toReversed()) {
    const wanted = () => keys.filter((key) => open.has(key))
    if (wanted().length === 0) continue
    const look = ({ bytes, end, start }: Backward.Line): boolean => {
      high = start
      const located = Line.decode(bytes, { line: 1, byteStart: start, byteEnd: end })
      // Where it stands in lines is not known, and what was damaged on its line has been told if it matters.
      for (const { at, entry } of located.toReversed()) if (take(entry)) found.unshift({ at, entry, damage: [] })
      return wanted().length === 0
    }
    yield* Backward.linesWith(reader, () => wanted().map(needleOf), Math.min(high, to), look, { from })
  }
  return found
})
