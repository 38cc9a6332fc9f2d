/**
 * EntryIndex: where each entry of a log stands, by its id; the entries stay in the log until they are asked for.
 *
 *   line 1  {…"uuid":"a"…}        starts   0 ─── 318 ─── 902 …       8 bytes for each line
 *   line 2  {…"uuid":"b"…}        lines    a ─▶ 1   b ─▶ 2 …         one id for each entry
 *
 *   get(b) ─▶ read [318, 902) ─▶ decode ─▶ entry
 *
 * 1. An id is found by the bytes of its key: a quote inside of a string is escaped, so `"uuid":` is a key wherever it
 *    stands. Whether it is that of the entry or of something inside it, `get` sees when it decodes the line.
 * 2. `get` answers as reading the whole log would: with the first entry of the id. Damage changes nothing of that.
 * 3. A line in another style than that of JSON.stringify is decoded for its ids. Not seen is a key that is written with
 *    escapes (`\u0075uid`), or with a space before its colon where the first key of the line has none: no writer does that.
 * 4. It knows what the log held when it was read; what is appended later is not in it, and moves nothing.
 */
import * as Line from "@reprise/domain/Line"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import type * as Scope from "effect/Scope"
import * as EntryLog from "./EntryLog.ts"
import { fill } from "./internal/fill.ts"
import * as Ids from "./internal/ids.ts"
import * as LineReader from "./LineReader.ts"

/**
 * The index of a log that stays open: the number of its lines, the entries of one of them (1-based), and the first entry
 * of an id; undefined where no entry has it.
 *
 * @category models
 * @since 0.1.0
 */
export interface EntryIndex {
  readonly lines: number
  readonly line: (line: number) => Effect.Effect<ReadonlyArray<Line.Located>, EntryLog.EntryLogError>
  readonly get: (uuid: string) => Effect.Effect<Line.Located | undefined, EntryLog.EntryLogError>
}

/**
 * Reads a log to its index: a scan of its bytes, in which no line is decoded. The log is closed with the scope.
 *
 * @category constructors
 * @since 0.1.0
 */
export const read = Effect.fn("EntryIndex.read")(function* (
  log: EntryLog.LogId
): Effect.fn.Return<EntryIndex, EntryLog.EntryLogError, EntryLog.EntryLog | Scope.Scope> {
  const port = yield* EntryLog.EntryLog
  const reader = yield* port.reader(log)
  const places = placing()
  yield* LineReader.forEachLine(log, (bytes, at) => places.add(bytes, at.byteStart, at.byteEnd))
  const { endOf, linesOf, starts } = places.make()
  const line: EntryIndex["line"] = Effect.fnUntraced(function* (line) {
    const start = starts[line - 1]
    if (start === undefined) return []
    const end = endOf(line)
    const bytes = yield* fill(reader, start, Buffer.allocUnsafe(end - start))
    return Line.decode(bytes, { line, byteStart: start, byteEnd: end })
  })
  return {
    lines: starts.length,
    line,
    get: Effect.fnUntraced(function* (uuid) {
      for (const one of linesOf(uuid)) {
        const found = (yield* line(one)).find(({ entry }) => "uuid" in entry && entry.uuid === uuid)
        if (found !== undefined) return found
      }
      return undefined
    })
  }
})

/** Collects the places of lines and ids. */
const placing = () => {
  let starts = new Float64Array(1024)
  let count = 0
  let end = 0
  const first = new Map<string, number>()
  const others = new Map<string, Array<number>>()
  const addId = (uuid: string): void => {
    const known = first.get(uuid)
    if (known === undefined) first.set(uuid, count)
    else if (known !== count) {
      const more = others.get(uuid)
      if (more === undefined) others.set(uuid, [count])
      else more.push(count)
    }
  }
  return {
    add: (line: Uint8Array, byteStart: number, byteEnd: number): void => {
      if (count === starts.length) starts = grown(starts)
      starts[count++] = byteStart
      end = byteEnd
      const bytes = Buffer.from(line.buffer, line.byteOffset, line.length)
      if (!Ids.inBytes(bytes, addId)) for (const uuid of idsOf(bytes)) addId(uuid)
    },
    make: () => ({
      starts: starts.slice(0, count),
      endOf: (line: number): number => (line < count ? starts[line]! - 1 : end),
      linesOf: (uuid: string): ReadonlyArray<number> => {
        const one = first.get(uuid)
        return one === undefined ? [] : [one, ...(others.get(uuid) ?? [])]
      }
    })
  }
}

const grown = (array: Float64Array) => {
  const longer = new Float64Array(2 * array.length)
  longer.set(array)
  return longer
}

const idsOf = (line: Buffer): ReadonlyArray<string> =>
  Line.decode(line, { line: 1, byteStart: 0, byteEnd: line.length }).flatMap(({ entry }) =>
    "uuid" in entry && typeof entry.uuid === "string" ? [entry.uuid] : []
  )
