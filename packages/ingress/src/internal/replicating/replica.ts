/**
 * Replica: one stream of a session that is replicated: its log, its cursor, and what is known of its other end.
 */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import * as ReplicaCursor from "../../ReplicaCursor.ts"
import type { ReplicaStatus } from "../../ReplicaStatus.ts"
import * as Conflicts from "../conflicts.ts"
import type * as Tail from "./tail.ts"

/** Hears of a line that the remote does not take. */
export type OnAside = (aside: { readonly stream: string; readonly key: string; readonly why: string }) => void

/** What is known of one stream. */
export interface Replica {
  readonly stream: string
  readonly log: EntryLog.LogId
  readonly file: string
  readonly onAside: OnAside
  cursor: ReplicaCursor.ReplicaCursor
  /** The next lines go to the end of the stream, wherever that is: all before it is known to be ours. */
  isAnywhere: boolean
  /** The head that the last request was refused with. */
  refused: string | undefined
  /** Nobody knows whether the next line was stored before: an answer was lost, or this program has just begun. */
  isDoubtful: boolean
  /** Lines that the remote does not take, by their first bytes, which are kept beside the log; and how many since it last took one. */
  readonly aside: Set<number>
  asideInRow: number
  /** What is sent at once; less when the remote says that it is too much. */
  most: Tail.Most
  /** Why it is not tried before a time, in milliseconds since 1970. */
  blocked: { readonly until: number; readonly status: ReplicaStatus } | undefined
}

/** The replica of a log, from the cursor beside it. */
export const open = Effect.fnUntraced(function* (
  stream: string,
  log: EntryLog.LogId,
  most: Tail.Most,
  onAside: OnAside
) {
  const file = EntryLog.pathOf("/", log)
  const replica: Replica = {
    stream,
    log,
    file,
    onAside,
    cursor: (yield* ReplicaCursor.read(file)) ?? ReplicaCursor.start,
    isAnywhere: false,
    refused: undefined,
    isDoubtful: true,
    aside: new Set(),
    asideInRow: 0,
    most,
    blocked: undefined
  }
  return replica
})

/** Is a line one to be sent? What came from the remote is not, nor what it does not take. */
export const isSent = ({ aside, cursor: { received } }: Replica, byteStart: number): boolean =>
  !aside.has(byteStart) && !received.some(([from, to]) => byteStart >= from && byteStart < to)

/** What is known of the other end. */
export type Known = Partial<Pick<ReplicaCursor.ReplicaCursor, "head" | "seq" | "backend" | "writer">>

/** Puts down what is known of the other end, where the cursor is. */
export const note = (replica: Replica, known: Known) =>
  Effect.suspend(() => {
    replica.cursor = { ...replica.cursor, ...known }
    return ReplicaCursor.write(replica.file, replica.cursor)
  })

/** Moves the cursor to a place in the log as it is now, and puts it on the disk. */
export const move = Effect.fnUntraced(function* (replica: Replica, { byte, line }: Tail.Place, known: Known = {}) {
  const identity = yield* ReplicaCursor.identify(replica.file, byte)
  const { cursor } = replica
  // What was sent is of a log that is gone by now: the next look finds that out.
  if (cursor.byte > 0 && identity !== undefined && identity.file !== cursor.file) return yield* note(replica, known)
  const at = identity ?? ReplicaCursor.start
  const received = cursor.received.filter(([, end]) => end > at.byte)
  const place = { byte: at.byte, file: at.file, known: at.known, line: identity ? line : 1 }
  replica.cursor = { ...cursor, ...place, received }
  yield* note(replica, known)
})

/** Begins anew: nothing of the log is known to be at the remote, whose end is not known either. */
export const restart = (replica: Replica, known: Known = {}) =>
  Effect.suspend(() => {
    const { writer } = replica.cursor
    replica.cursor = { ...ReplicaCursor.start, ...(writer !== undefined && { writer }) }
    replica.refused = undefined
    replica.isAnywhere = false
    return move(replica, ReplicaCursor.start, known)
  })

/** Keeps lines beside the log that the remote does not take. */
export const setAside = Effect.fnUntraced(function* (replica: Replica, pieces: ReadonlyArray<Tail.Piece>, why: string) {
  yield* Conflicts.record(
    Conflicts.fileOf(replica.file),
    Buffer.concat(pieces.map(({ line }) => Conflicts.encode("local", line)))
  )
  for (const { byteStart, line } of pieces) {
    replica.aside.add(byteStart)
    replica.onAside({ stream: replica.stream, key: line.key, why })
  }
  replica.asideInRow += pieces.length
})

/** The remote took what was sent. */
export const tookAll = (replica: Replica, all: Tail.Most): void => {
  replica.refused = undefined
  replica.isAnywhere = false
  replica.asideInRow = 0
  replica.aside.clear()
  const { bytes, lines } = replica.most
  replica.most = { bytes: Math.min(all.bytes, bytes * 2), lines: Math.min(all.lines, lines * 2) }
}
