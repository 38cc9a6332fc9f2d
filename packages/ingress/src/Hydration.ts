/**
 * Hydration: a session gets what its remote copy has and it has not, before anybody writes to it.
 *
 *   lock ─▶ remote lines ─ Merge ─▶ spool, until all have come ─▶ logs of agents, main log ─▶ conflicts, cursors
 *
 * 1. A local line stays where it is, byte for byte: lines are added at the end, and nothing is cut or written over.
 * 2. A remote that fails, that says what is no log, or that is empty changes nothing.
 * 3. A log that is not there comes into being as a whole; all others grow by whole lines. A torn last line keeps its
 *    bytes, and what is added begins on the next.
 * 4. Twice is once; after a crash in the middle, again is once.
 * 5. The remote is not trusted: a stream with another name than streams have is refused, and so is one whose place is
 *    reached through a link. Nothing is written outside of the session's own files.
 */
import * as Line from "@reprise/domain/Line"
import * as Metadata from "@reprise/domain/Metadata"
import type * as SessionSource from "@reprise/domain/SessionSource"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as SessionLock from "@reprise/storage/SessionLock"
import * as SideFile from "@reprise/storage/SideFile"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import * as path from "node:path"
import * as Conflicts from "./internal/conflicts.ts"
import * as LocalLog from "./internal/localLog.ts"
import * as Places from "./internal/places.ts"
import * as Spool from "./internal/spool.ts"
import * as Merge from "./Merge.ts"
import type * as RemoteLog from "./RemoteLog.ts"
import * as ReplicaCursor from "./ReplicaCursor.ts"
import * as StreamLine from "./StreamLine.ts"

/**
 * How a session is hydrated. `prefer`: whose branch it goes on from (the local one where both have messages of their
 * own, else the newest). `leaf` finds the leaf of the local log: `Recovery.leaf` does; by default it is its last message.
 * `lock: false`: the caller has claimed the session.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly prefer?: Merge.Side
  readonly leaf?: SessionSource.FindLeaf
  readonly lock?: boolean
}

/**
 * What became of a stream: lines that were added, lines of the log that the remote lacks, lines of the remote that have
 * the id of another one (kept in `conflicts`), the last message of either side, and the leaf that was named.
 *
 * @category models
 * @since 0.1.0
 */
export interface HydratedStream {
  readonly stream: string
  readonly path: string
  readonly outcome: Merge.Outcome
  readonly added: number
  readonly ahead: number
  readonly conflicts: number
  readonly leaves: { readonly local?: string; readonly remote?: string; readonly named?: string }
}

/**
 * What became of a session: its streams, the main one first; and the streams that were refused, and why.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hydrated {
  readonly streams: ReadonlyArray<HydratedStream>
  readonly refused: ReadonlyArray<{ readonly stream: string; readonly why: string }>
}

/**
 * The log of a session cannot be hydrated; nothing was changed.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotHydrated extends Schema.TaggedError<NotHydrated>()("NotHydrated", {
  path: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.path}: expected the main log of a session, or none yet; ${this.found}; nothing was changed`
  }
}

/**
 * Hydrates the session of the main log at a path.
 *
 * @category running
 * @since 0.1.0
 */
export const hydrate = Effect.fn("Hydration.hydrate")(function* <E, R>(
  main: string,
  remote: RemoteLog.RemoteLog<E, R>,
  options: Options = {}
) {
  const port = yield* EntryLog.EntryLog
  const log = EntryLog.at(main)
  if (log._tag !== "Session" || log.lane._tag !== "Main")
    return yield* new NotHydrated({ path: main, found: "its name is that of no main log" })
  if (options.lock !== false) yield* (port.locks ?? (yield* SessionLock.SessionLock)).claim(log)
  const placeOf = yield* Places.make(log)
  const spool = yield* Spool.make(`${EntryLog.pathOf("/", log)}.hydration`)
  const open = new Map<string, Merging>()
  const refused = new Map<string, string>()
  const begin = Effect.fnUntraced(function* (stream: string) {
    const place = placeOf(stream)
    if (place._tag === "Nowhere") refused.set(stream, place.why)
    else open.set(stream, yield* beginMerge(stream, place))
  })
  yield* begin("")
  if (!open.has("")) return yield* new NotHydrated({ path: main, found: refused.get("")! })
  yield* Stream.runForEachArray(remote.lines, (some) =>
    Effect.gen(function* () {
      for (const { stream } of some) if (!open.has(stream) && !refused.has(stream)) yield* begin(stream)
      const doubtful = some.flatMap(({ line, stream }) => judge(spool, open.get(stream), line))
      for (const one of doubtful) yield* settle(spool, one)
      yield* spool.settle
    })
  )
  const replica = remote.replica
  // The main log last: whoever sees its new lines finds those of the agents that they name.
  const all = [...open.values()].toReversed()
  const streams: Array<HydratedStream> = []
  for (const merging of all) streams.unshift(yield* Effect.scoped(commit(port, spool, merging, options, replica)))
  const hydrated: Hydrated = { streams, refused: Array.from(refused, ([stream, why]) => ({ stream, why })) }
  return hydrated
}, Effect.scoped)

/** A stream that is being merged. */
interface Merging {
  readonly stream: string
  readonly log: EntryLog.LogId
  readonly file: string
  readonly local: LocalLog.LocalLog | undefined
  readonly merge: Merge.Merge<LocalLog.LocalLine>
  /** What the remote said: how many lines, the last id, the last message, and how many have the id of another line. */
  readonly remote: { lines: number; head: string | null; said: string | undefined; conflicts: number }
}

const beginMerge = Effect.fnUntraced(function* (
  stream: string,
  { file, log }: { readonly log: EntryLog.LogId; readonly file: string }
) {
  const local = yield* LocalLog.read(log, stream === "")
  const remote: Merging["remote"] = { lines: 0, head: null, said: undefined, conflicts: 0 }
  const merging: Merging = { stream, log, file, local, merge: Merge.make(local?.lines ?? []), remote }
  return merging
})

type Spooling = Effect.Success<ReturnType<typeof Spool.make>>

/** A line whose id another one has: it says the same in other words, or something else. */
interface Doubtful {
  readonly merging: Merging
  readonly line: StreamLine.StreamLine
  readonly local: LocalLog.LocalLine | undefined
}

/** Takes a line of the remote in. */
const judge = (spool: Spooling, merging: Merging | undefined, line: StreamLine.StreamLine): ReadonlyArray<Doubtful> => {
  if (merging === undefined) return []
  const { merge, remote, stream } = merging
  const compared = LocalLog.compared(line, stream === "")
  const verdict = merge.judge(compared)
  remote.lines++
  if (line.uuid !== undefined) remote.head = line.uuid
  if (compared.said !== undefined) remote.said = compared.uuid
  if (verdict._tag === "Conflict") return [{ merging, line, local: verdict.local }]
  if (verdict._tag === "Missing") spool.add(stream, Buffer.concat([StreamLine.bytesOf(line), newline]))
  return []
}

const newline = Buffer.from("\n")

/** A remote that keeps entries as JSON gives them back in its own spelling: that is no conflict. */
const settle = Effect.fnUntraced(function* (spool: Spooling, { line, local, merging }: Doubtful) {
  const { log, remote, stream } = merging
  if (local !== undefined) {
    const port = yield* EntryLog.EntryLog
    const bytes = Buffer.alloc(local.byteEnd - local.byteStart)
    const reader = yield* port.reader(log)
    yield* reader.read(local.byteStart, bytes)
    if (Conflicts.saysTheSame(bytes.toString(), line)) return
  }
  remote.conflicts++
  spool.add(conflictsOf(stream), Conflicts.encode("remote", line))
}, Effect.scoped)

/** A name that no stream has. */
const conflictsOf = (stream: string): string => `${stream} conflicts`

/** Adds to a log what the remote has, and says what came of it. */
const commit = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  spool: Spooling,
  merging: Merging,
  options: Options,
  replica: RemoteLog.RemoteLog["replica"]
) {
  const { file, local, log, merge, remote, stream } = merging
  const { missing, outcome, own, leaf } = merge.end(options.prefer)
  const isMain = stream === ""
  const last = local?.lines.findLast(({ said }) => said !== undefined)?.uuid
  const needsLeaf = isMain && local !== undefined && (leaf !== undefined || outcome === "diverged")
  const found = needsLeaf && options.leaf ? (yield* LineReader.fold(log, options.leaf.full)).parent : undefined
  const ours = found ?? last
  const named = isMain && leaf !== undefined ? (leaf._tag === "Local" ? ours : leaf.uuid) : undefined

  const received = missing === 0 ? undefined : yield* add(port, spool, merging)
  if (named !== undefined) yield* port.append(log, leafLine(log, named))
  if (missing > 0) yield* Effect.andThen(port.sync(log), port.release(log))
  if (remote.conflicts > 0)
    yield* spool.forEach(conflictsOf(stream), (lines) => Conflicts.record(Conflicts.fileOf(file), lines))
  if (replica !== undefined) yield* setCursor(merging, own, missing, received, replica)

  const hydrated: HydratedStream = {
    stream,
    path: file,
    outcome,
    added: missing,
    ahead: own.length,
    conflicts: remote.conflicts,
    leaves: {
      ...(ours !== undefined && { local: ours }),
      ...(remote.said !== undefined && { remote: remote.said }),
      ...(named !== undefined && { named })
    }
  }
  return hydrated
})

/** Where lines stand that were added to a log: its bytes from one to the other. */
type Received = readonly [byteStart: number, byteEnd: number]

/** Puts the lines that were missing into a log: a new one at once, one that is there behind its last line. */
const add = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  spool: Spooling,
  { file, local, log, stream }: Merging
) {
  let start: number | undefined
  let end = 0
  if (local === undefined) {
    const draft = yield* SideFile.draft(file)
    yield* spool.forEach(stream, (lines) => {
      end += lines.length
      return draft.append(lines)
    })
    if (!(yield* draft.place))
      return yield* new NotHydrated({ path: file, found: "another program made one meanwhile" })
    return [0, end] as Received
  }
  yield* spool.forEach(stream, (lines) =>
    Effect.map(port.append(log, lines), (appended) => {
      start ??= appended.start
      end = appended.end
    })
  )
  return [start ?? end, end] as Received
})

const leafLine = (log: EntryLog.LogId, leafUuid: string): Uint8Array => {
  const sessionId = log._tag === "Session" ? log.sessionId : path.parse(log.path).name
  return Buffer.from(`${Line.encode({ ...Metadata.lastPrompt({ leafUuid }), sessionId })}\n`)
}

/**
 * What is not to be sent, because the remote has it: all before the first line that it lacks, and what came from it. The
 * session was taken up here, so whoever writes to the remote next claims it anew.
 */
const setCursor = Effect.fnUntraced(function* (
  { file, local, remote }: Merging,
  own: ReadonlyArray<LocalLog.LocalLine>,
  missing: number,
  received: Received | undefined,
  { backend, profile }: NonNullable<RemoteLog.RemoteLog["replica"]>
) {
  const lines = local?.lines ?? []
  const last = lines.at(-1)
  // Of a line without LF nobody knows yet that it has ended.
  const open = missing === 0 && local?.isTorn === true ? last : undefined
  const first = (profile === "compat" ? own.find(({ said }) => said !== undefined) : own[0]) ?? open
  const byte = first?.byteStart ?? received?.[1] ?? (last === undefined ? 0 : last.byteEnd + 1)
  const identity = yield* ReplicaCursor.identify(file, byte)
  if (identity === undefined) return
  const before = yield* ReplicaCursor.read(file)
  const all = [...(before?.received ?? []), ...(received === undefined ? [] : [received])]
  yield* ReplicaCursor.write(file, {
    ...ReplicaCursor.start,
    ...identity,
    line: first?.number ?? lines.length + missing + 1,
    head: remote.head,
    seq: remote.lines,
    received: all.filter(([, end]) => end > byte),
    ...(backend !== undefined && { backend })
  })
})
