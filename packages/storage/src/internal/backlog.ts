/**
 * Backlog: what one log was promised and does not hold yet, and how its lines become bytes.
 *
 *   lines   │ batch │ batch │ not yet written │
 *           0             written           length
 *
 * A batch is what one append has put into the log; it leaves when it is committed, which is at once unless the disk is
 * waited for.
 */
import type * as Entry from "@reprise/domain/Entry"
import type * as EntryLog from "../EntryLog.ts"

/** An entry that was accepted: its line is made already, without LF, so that nothing can change it any more. */
export interface Accepted {
  readonly log: EntryLog.LogId
  readonly entry: Entry.Known | Entry.Unknown
  readonly line: string
}

/** The number of lines that one append has written, and where; of a failed one the place is not known. */
interface Batch {
  readonly count: number
  readonly at: EntryLog.Appended | undefined
}

/** A failed attempt: when the next one is due, in milliseconds since 1970. */
interface Failure {
  readonly error: EntryLog.EntryLogError
  readonly attempts: number
  readonly retryAt: number
}

/** The lines that one log waits for, in order. */
export interface Backlog {
  readonly log: EntryLog.LogId
  readonly lines: Array<Accepted>
  readonly batches: Array<Batch>
  written: number
  failure: Failure | undefined
}

/** An empty one. */
export const make = (log: EntryLog.LogId): Backlog => ({ log, lines: [], batches: [], written: 0, failure: undefined })

/** Notes that lines are in the log. */
export const add = (backlog: Backlog, count: number, at: EntryLog.Appended | undefined): void => {
  if (count === 0) return
  backlog.batches.push({ count, at })
  backlog.written += count
}

/** Takes the written batches out, each with its lines. */
export const take = (
  backlog: Backlog
): ReadonlyArray<{ readonly lines: ReadonlyArray<Accepted>; readonly at: EntryLog.Appended | undefined }> => {
  const lines = backlog.lines.splice(0, backlog.written)
  backlog.written = 0
  let from = 0
  return backlog.batches.splice(0).map(({ at, count }) => ({ lines: lines.slice(from, (from += count)), at }))
}

/** The lines as far as they fit, each with LF; `ends` holds the end of each in the bytes. Valid until the next call. */
export interface Encoded {
  readonly bytes: Uint8Array
  readonly ends: ReadonlyArray<number>
}

const LF = 0x0a

/**
 * Encodes line by line into one buffer that is used again: one wide character would make a concatenated batch a string
 * of two-byte units, and slow. A line that is longer than the buffer gets one of its own.
 */
export const encoder = (batchBytes: number): ((lines: ReadonlyArray<Accepted>, from: number) => Encoded) => {
  const shared = Buffer.allocUnsafe(batchBytes)
  return (lines, from) => {
    const ends: Array<number> = []
    let buffer = shared
    let end = 0
    for (let i = from; i < lines.length; i++) {
      const text = lines[i]!.line
      // No UTF-16 unit takes more than three bytes; counting them is for those that may not fit.
      if (end + 3 * text.length + 1 > buffer.length) {
        const size = Buffer.byteLength(text) + 1
        if (end + size > buffer.length) {
          if (i > from) break
          buffer = Buffer.allocUnsafe(size)
        }
      }
      end += buffer.write(text, end)
      buffer[end++] = LF
      ends.push(end)
    }
    return { bytes: buffer.subarray(0, end), ends }
  }
}
