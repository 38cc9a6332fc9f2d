/**
 * BoundaryScan: where a log has to be read from, found from its end.
 *
 *   │ … u2 ─ a2 ─ u3 ─ a3 │ B{u3,a3} ─ S ─ u4 … │
 *                ▲ kept    ◀── windows of 256 KiB ── end
 *                └ from
 *
 * 1. The last boundary is found by the bytes of its subtype; then its line is read and decoded, and its type, subtype
 *    and lane are looked at: payloads quote boundaries, sidechains have their own, a torn one is none.
 * 2. The messages that it keeps are found by their ids, backward from it, in either form of the record; reading begins at
 *    the first of them, and so sees all that was written since. An id that is in no line is looked for up to the start.
 * 3. What is read grows with what stands behind the boundary and its kept messages, not with the log.
 * 4. Whether the conversation passes the boundary is not known here: the projection judges what it read (`Suffix`).
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Effect from "effect/Effect"
import type * as EntryLog from "./EntryLog.ts"
import * as Backward from "./internal/backward.ts"

/**
 * A boundary: its entry, the bytes of its line, and the first byte that has to be read for it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found {
  readonly boundary: Entry.Message
  readonly start: number
  readonly end: number
  readonly from: number
}

/**
 * Which lane's boundaries count (`sidechain`: the log is one agent's, all do), and the bytes read at a time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly lane?: "main" | "sidechain"
  readonly window?: number
}

/**
 * The last boundary before a byte of the log (by default: its end), or undefined.
 *
 * @category running
 * @since 0.1.0
 */
export const last = Effect.fnUntraced(function* (
  reader: EntryLog.Reader,
  before: number = reader.size,
  options: Options = {}
) {
  let found: Omit<Found, "from"> | undefined
  const find = (line: Backward.Line): boolean => {
    const boundary = messagesOf(line, options).findLast(Boundary.isCompact)
    if (boundary !== undefined) found = { boundary, start: line.start, end: line.end }
    return found !== undefined
  }
  yield* Backward.linesWith(reader, () => subtype, before, find, options)
  if (found === undefined) return undefined
  const from = yield* firstOf(reader, keptBy(found.boundary), found.start, options)
  return { ...found, from } satisfies Found
})

const encoder = new TextEncoder()
const subtype = [encoder.encode('"compact_boundary"')]

/** The messages of the lane on a line. */
const messagesOf = (line: Backward.Line, { lane = "main" }: Options): ReadonlyArray<Entry.Message> =>
  Line.decode(line.bytes, { line: 1, byteStart: line.start, byteEnd: line.end }).flatMap(({ entry }) =>
    Entry.isMessage(entry) && (lane === "sidechain" || entry.isSidechain !== true) ? [entry] : []
  )

/** The ids by which a boundary names what it keeps: all of a list, both ends of a segment. */
const keptBy = (boundary: Entry.Message): ReadonlyArray<string> => {
  const record = Boundary.preserved(boundary)
  if (record === undefined) return []
  return record.kind === "messages" ? record.uuids : [record.head, record.tail]
}

/** Where the first of these messages stands before the boundary; the boundary's own place where there is none. */
const firstOf = Effect.fnUntraced(function* (
  reader: EntryLog.Reader,
  ids: ReadonlyArray<string>,
  boundary: number,
  options: Options
) {
  const pending = new Map(ids.map((id) => [id, encoder.encode(JSON.stringify(id))]))
  if (pending.size === 0) return boundary
  let from = boundary
  const find = (line: Backward.Line): boolean => {
    for (const { uuid } of messagesOf(line, options)) if (pending.delete(uuid)) from = line.start
    return pending.size === 0
  }
  yield* Backward.linesWith(reader, () => [...pending.values()], boundary, find, options)
  return from
})
