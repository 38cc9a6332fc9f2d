/**
 * Backlog: what one log was promised and is not committed yet.
 *
 *   put ─▶ │ piece │ piece │ open piece │ ─ append ─▶ written │ batch │ batch │ ─ (sync) ─▶ committed
 *
 * 1. A line is encoded once, when it is accepted, straight into the buffer that is written; nothing can change it then.
 * 2. A piece is what one append writes. It grows with what is pending, so that an idle session takes little memory and
 *    a busy one few writes; buffers are used again.
 * 3. Bytes are kept until they are committed: after a `sync` that failed they are written again.
 */
import type * as Entry from "@reprise/domain/Entry"
import type * as EntryLog from "../EntryLog.ts"

/** An entry that goes to a log as it is. */
export type Written = Entry.Known | Entry.Unknown

/** Whole lines: the bytes `from` to `end` of a buffer, and their entries. */
export interface Piece {
  readonly buffer: Buffer
  /** Whether the buffer is the pool's. */
  readonly isPooled: boolean
  from: number
  end: number
  entries: Array<Written>
}

/** A piece that is in the log, at `start` if that is known. */
export interface Batch extends Piece {
  readonly start: number | undefined
  mustRewrite: boolean
}

/** A failed attempt: when the next one is due, and since when attempts fail, in milliseconds since 1970. */
export interface Failure {
  readonly error: EntryLog.EntryLogError
  readonly attempts: number
  readonly since: number
  readonly retryAt: number
}

/** The state of one log. `accepted` and `committed` count lines. */
export interface Backlog {
  readonly log: EntryLog.LogId
  readonly key: string
  readonly pieces: Array<Piece>
  readonly batches: Array<Batch>
  /** The last piece, while it may still grow. */
  open: Piece | undefined
  accepted: number
  committed: number
  failure: Failure | undefined
  /** Whether all of it was committed, so that another takes its place. */
  isDone: boolean
  /** Whether the queue holds it. */
  isListed: boolean
  /** Whether the disk is being asked. */
  isSyncing: boolean
  /** Whether the disk must have what is pending, whatever the policy: somebody waits for it, or it failed to sync. */
  mustSync: boolean
}

/** An empty one. */
export const make = (log: EntryLog.LogId, key: string): Backlog => ({
  log,
  key,
  pieces: [],
  batches: [],
  open: undefined,
  accepted: 0,
  committed: 0,
  failure: undefined,
  isDone: false,
  isListed: false,
  isSyncing: false,
  mustSync: false
})

/** The number of lines that are not committed. */
export const queued = (backlog: Backlog): number => backlog.accepted - backlog.committed

/** Buffers that are used again. A write is of about `most` bytes; a buffer has room for a long line behind it. */
export interface Pool {
  readonly most: number
  readonly longest: number
  out: number
  readonly free: Map<number, Array<Buffer>>
}

const SMALLEST = 16 * 1024
const KEPT = 8
const LF = 0x0a

/** Buffers for writes of up to `most` bytes; a line that takes more is a write, and may need a buffer, of its own. */
export const pool = (most: number): Pool => ({ most, longest: 2 * most, out: 0, free: new Map() })

const take = (self: Pool, size: number): Buffer => {
  self.out++
  return self.free.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
}

/** Takes the buffer of a committed batch back. */
export const give = (self: Pool, { buffer, isPooled }: Piece): void => {
  if (!isPooled) return
  self.out--
  const free = self.free.get(buffer.length)
  if (free === undefined) self.free.set(buffer.length, [buffer])
  else if (free.length < KEPT) free.push(buffer)
}

/** Encodes a line behind the others and gives the number of its bytes. */
export const put = (self: Pool, backlog: Backlog, entry: Written, line: string): number => {
  let piece = backlog.open
  if (piece === undefined || piece.end + line.length >= self.most || piece.end + mostOf(line) > piece.buffer.length) {
    piece = fitting(self, backlog, line)
  }
  const start = piece.end
  const lf = start + piece.buffer.write(line, start)
  piece.buffer[lf] = LF
  piece.end = lf + 1
  piece.entries.push(entry)
  backlog.accepted++
  return piece.end - start
}

/** No UTF-16 unit takes more than three bytes. */
const mostOf = (line: string): number => 3 * line.length + 1

/** Counting the bytes of a line takes as long as encoding it: it is for lines that fit nowhere, or where room is scarce. */
const sizeOf = (self: Pool, line: string): number => {
  const most = mostOf(line)
  return most > self.longest || isScarce(self) ? Buffer.byteLength(line) + 1 : most
}

/** While few buffers are out, their memory is no matter, and one large write is better than three. */
const isScarce = (self: Pool): boolean => self.out >= KEPT

const fitting = (self: Pool, backlog: Backlog, line: string): Piece => {
  const size = sizeOf(self, line)
  const { open } = backlog
  if (open !== undefined && open.end + size <= Math.min(self.most, open.buffer.length)) return open
  const least = open === undefined ? SMALLEST : 4 * open.buffer.length
  let length = isScarce(self) ? Math.min(self.longest, least) : self.longest
  while (length < size && length < self.longest) length = Math.min(self.longest, 4 * length)
  const isPooled = size <= length
  const buffer = isPooled ? take(self, length) : Buffer.allocUnsafeSlow(size)
  backlog.open = { buffer, isPooled, from: 0, end: 0, entries: [] }
  backlog.pieces.push(backlog.open)
  return backlog.open
}

/** Where a backlog stands, so that what is put in behind can be taken back before anybody sees it. */
export const mark = (self: Pool, backlog: Backlog): (() => void) => {
  const { accepted, open, pieces } = backlog
  const count = pieces.length
  const end = open?.end ?? 0
  const entries = open?.entries.length ?? 0
  return () => {
    for (const piece of pieces.splice(count)) give(self, piece)
    backlog.open = open
    backlog.accepted = accepted
    if (open === undefined) return
    open.end = end
    open.entries.length = entries
  }
}

/** The next piece to be appended; it does not grow any more. */
export const next = (backlog: Backlog): Piece | undefined => {
  const piece = backlog.pieces[0]
  if (piece === backlog.open) backlog.open = undefined
  return piece
}

/** The bytes of a piece. */
export const bytesOf = ({ buffer, end, from }: Piece): Uint8Array => buffer.subarray(from, end)

/** Notes that the first `size` bytes of the next piece, whole lines, are in the log. */
export const wrote = (backlog: Backlog, size: number, start: number | undefined): void => {
  const piece = backlog.pieces[0]
  if (piece === undefined || size === 0) return
  if (size === piece.end - piece.from) {
    backlog.pieces.shift()
    backlog.batches.push({ ...piece, start, mustRewrite: false })
    return
  }
  const end = piece.from + size
  const entries = piece.entries.splice(0, linesIn(piece.buffer, piece.from, end))
  const buffer = Buffer.from(piece.buffer.subarray(piece.from, end))
  backlog.batches.push({ buffer, isPooled: false, from: 0, end: size, entries, start, mustRewrite: false })
  piece.from = end
}

const linesIn = (buffer: Buffer, from: number, end: number): number => {
  let count = 0
  for (let at = buffer.indexOf(LF, from); at >= 0 && at < end; at = buffer.indexOf(LF, at + 1)) count++
  return count
}

/** What was written is not in the log any more: it is to be appended anew, before all else. */
export const unwrite = (backlog: Backlog): void => {
  backlog.pieces.unshift(...backlog.batches.splice(0))
}

/** The written batches, which are committed now; the caller gives their buffers back. */
export const commit = (backlog: Backlog): ReadonlyArray<Batch> => {
  const batches = backlog.batches.splice(0)
  for (const { entries } of batches) backlog.committed += entries.length
  return batches
}
