/**
 * SessionSummary: what a list tells of a session, from both ends of its log.
 *
 *   │◀─ 64 KiB ─▶│ ………………………………………………………… │◀─ 64 KiB ─▶│
 *     first prompt,   looked through line by line     the last title, tag, mode, …,
 *     directory       for what the tail leaves open   branch, version and time
 *
 * 1. It is what the whole log says: `projection` folded over all of it gives the same, whatever the size of the windows.
 *    The rules of title and first prompt are those of SessionMetadata.
 * 2. The middle is read where a window leaves something open: then lines are told by their first bytes, and those of
 *    messages are passed over. A log in which all is said again near its end costs two windows, however long it is.
 * 3. The one exception: a message in the middle whose time is later than all at the end is not seen to be the last.
 */
import type * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import type * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import * as EntryLog from "./EntryLog.ts"
import { LF } from "./internal/lines.ts"
import * as Older from "./internal/older.ts"
import * as Piece from "./internal/piece.ts"
import * as Sayings from "./internal/sayings.ts"
import * as Sift from "./internal/sift.ts"

/**
 * Who held a session, by its first message: a person, a program (an SDK, a task in the background), or an agent of
 * another session.
 *
 * @category models
 * @since 0.1.0
 */
export type Origin = "human" | "agent" | "sidechain"

/**
 * What a log says of its session; what it does not say is absent. Times are ISO 8601 as written; `updatedAt` is that of
 * the last message, `branch` the git branch it was written on. No `origin`: the log holds no message; `isEmpty`: nor
 * anything about the session.
 *
 * @category models
 * @since 0.1.0
 */
export interface Said {
  readonly origin?: Origin
  readonly isEmpty: boolean
  readonly title?: string
  readonly tag?: string
  readonly firstPrompt?: string
  readonly lastPrompt?: string
  readonly mode?: string
  readonly permissionMode?: string
  readonly agentName?: string
  readonly agentSetting?: string
  readonly pullRequest?: Metadata.Of<"pr-link">
  readonly cwd?: string
  readonly branch?: string
  readonly version?: string
  readonly createdAt?: string
  readonly updatedAt?: string
}

/**
 * What is said, the log, its size in bytes, and the time of its last change in milliseconds since 1970.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionSummary extends Said, EntryLog.Stat {
  readonly log: EntryLog.LogId
}

const originOf = (first: Entry.Message): Origin => {
  if (first.isSidechain === true) return "sidechain"
  return first.sessionKind !== undefined || first.entrypoint?.startsWith("sdk") === true ? "agent" : "human"
}

interface Seen {
  origin?: Origin
  isEmpty: boolean
}

const messages = ["user", "assistant", "attachment", "system"] as const

const seen = Projection.match<Seen>(
  () => ({ isEmpty: true }),
  Object.fromEntries([
    ...messages.map((kind) => [
      kind,
      (state: Seen, entry: Entry.Message): Seen => {
        state.origin ??= originOf(entry)
        state.isEmpty = false
        return state
      }
    ]),
    ...Piece.kinds.map((kind) => [
      kind,
      (state: Seen): Seen => {
        state.isEmpty = false
        return state
      }
    ])
  ])
)

const same = [
  ...(["title", "tag", "firstPrompt", "lastPrompt", "mode", "permissionMode", "agentName", "agentSetting"] as const),
  ...(["cwd", "version", "createdAt", "updatedAt"] as const)
]

/**
 * What a log says of its session, folded over all of it.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection: Projection.Projection<Entry.Entry, Said> = Projection.map(
  Projection.struct({ metadata: SessionMetadata.projection, seen }),
  ({ metadata, seen: { isEmpty, origin } }) => {
    const said: { -readonly [K in keyof Said]: Said[K] } = { isEmpty }
    const set = <K extends keyof Said>(key: K, value: Said[K] | undefined): void => {
      if (value !== undefined) said[key] = value
    }
    set("origin", origin)
    for (const key of same) set(key, metadata[key])
    set("branch", metadata.gitBranch)
    set("pullRequest", metadata.pullRequests.at(-1))
    return said
  }
)

/**
 * The bytes of each window (64 KiB), and the kinds of metadata for whose sake the middle of a log is looked through when
 * the tail does not say them (all that a summary tells). Less of them reads less, and may tell less than the log says.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly window?: number
  readonly lookFor?: ReadonlyArray<Metadata.Kind>
}

const WINDOW = 1 << 16

/** Bytes of the middle that are read at a time, at least. */
const LEAST = 1 << 16

/**
 * Reads summaries, one after the other, through windows of its own.
 *
 * @category models
 * @since 0.1.0
 */
export type Read = (log: EntryLog.LogId) => Effect.Effect<SessionSummary, EntryLog.EntryLogError, EntryLog.EntryLog>

/**
 * A reader of many summaries; one at a time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reader = ({ lookFor, window = WINDOW }: Options = {}): Read => {
  const all = Buffer.allocUnsafe(Math.max(2 * window, LEAST))
  const buffer = all.subarray(0, 2 * window)
  const wanted: ReadonlySet<string> | undefined = lookFor && new Set(lookFor)
  return Effect.fnUntraced(function* (log: EntryLog.LogId) {
    const port = yield* EntryLog.EntryLog
    const ends = yield* port.ends(log, buffer)
    const { middle, start, told } = windows(buffer, ends)
    const open = [...told.open].filter((kind) => wanted?.has(kind) !== false)
    const isOpen =
      middle.from < middle.to && (!start.isRead || open.length > 0 || told.keys.length > 0 || !told.isTimed)
    const found = isOpen
      ? [...told.found, ...(yield* between(port, log, { middle, start, told: { ...told, open } }, all))]
      : told.found
    return { log, size: ends.size, mtime: ends.mtime, ...Projection.fold(projection, inOrder(found)) }
  })
}

/**
 * The summary of one log.
 *
 * @category running
 * @since 0.1.0
 */
export const read = (
  log: EntryLog.LogId,
  options?: Options
): Effect.Effect<SessionSummary, EntryLog.EntryLogError, EntryLog.EntryLog> =>
  Effect.suspend(() => reader(options)(log))

/** What the windows say, and what of the log they leave unread. */
interface Windows {
  readonly middle: { readonly from: number; readonly to: number }
  readonly start: Sift.Start
  readonly told: {
    readonly found: ReadonlyArray<Line.Located>
    /** Of what was found, that which stands behind the middle. */
    readonly behind: ReadonlyArray<Line.Located>
    readonly open: Iterable<string>
    readonly keys: ReadonlyArray<Sayings.Key>
    readonly isTimed: boolean
  }
}

const windows = (buffer: Buffer, { head, size, tail }: EntryLog.Ends): Windows => {
  const half = buffer.length >> 1
  const isWhole = head + tail >= size
  const [headEnd, tailStart] = isWhole
    ? [size, 0]
    : [
        buffer.subarray(0, head).lastIndexOf(LF) + 1,
        size - tail + (buffer.subarray(half, half + tail).indexOf(LF) + 1 || tail)
      ]
  const filled = half + tail
  const end = Piece.end({
    bytes: isWhole ? buffer.subarray(0, size) : buffer.subarray(filled - (size - tailStart), filled),
    start: tailStart
  })
  const start = Sift.starting({ first: true })
  const first = { bytes: buffer.subarray(0, headEnd), start: 0 }
  const found = [...Piece.beginning(first, start), ...end.found]
  // What the tail leaves open is open in the middle too, whatever the head says.
  if (!isWhole && end.open.size > 0) found.push(...Piece.metadata(first, new Set(end.open)))
  return { middle: { from: headEnd, to: tailStart }, start, told: { ...end, behind: end.found, found } }
}

/** What the middle says of what is open. */
const between = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  { middle, start, told }: Windows,
  buffer: Buffer
) {
  const opened = yield* port.reader(log)
  const found: Array<Line.Located> = []
  const push = (located: Line.Located): void => void found.push(located)
  const hears = new Set(told.open)
  if (told.keys.length === 0 && told.isTimed) {
    const until = () => hears.size === 0 && start.isRead
    yield* Older.forEach(opened, middle.to, push, { from: middle.from, start, hears, until, buffer })
  } else {
    const noted = Sayings.noting(told.behind, told.keys)
    yield* Older.forEach(opened, middle.to, push, { start, hears, noted, buffer })
    found.push(...(yield* Sayings.last(opened, noted, told.behind)))
  }
  // Where nothing before the tail was a prompt, the tail may hold the first one; it was looked through from its end.
  if (!start.isRead) {
    const until = () => start.isRead
    yield* Older.forEach(opened, opened.size, push, { from: middle.to, start, hears: nothing, until, buffer })
  }
  return found
}, Effect.scoped)

const nothing: ReadonlySet<string> = new Set()

/** Each once, as they stand in the log. */
const inOrder = (found: ReadonlyArray<Line.Located>): ReadonlyArray<Entry.Entry> => {
  const sorted = found.toSorted((a, b) => a.at.byteStart - b.at.byteStart)
  return sorted.filter(({ at }, i) => i === 0 || sorted[i - 1]!.at.byteStart !== at.byteStart).map(({ entry }) => entry)
}
