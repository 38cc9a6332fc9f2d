/**
 * Memory: the bytes of a log that is kept nowhere else.
 */
import type { Ends } from "../EntryLog.ts"
import type { LogId } from "./address.ts"

/** A log in memory; of `bytes`, the first `size` are its own. */
export interface Log {
  readonly id: LogId
  bytes: Uint8Array
  size: number
  mtime: number
}

/** An empty one. */
export const make = (id: LogId, mtime: number): Log => ({ id, bytes: new Uint8Array(1024), size: 0, mtime })

/** Adds bytes at the end. */
export const add = (log: Log, bytes: Uint8Array): void => {
  if (log.size + bytes.length > log.bytes.length) {
    const grown = new Uint8Array(Math.max(2 * log.bytes.length, log.size + bytes.length))
    grown.set(log.bytes.subarray(0, log.size))
    log.bytes = grown
  }
  log.bytes.set(bytes, log.size)
  log.size += bytes.length
}

/** Reads both ends. */
export const ends = ({ bytes, mtime, size }: Log, into: Uint8Array): Ends => {
  const half = into.length >> 1
  const head = Math.min(size, half)
  const tail = Math.min(size - head, into.length - half)
  into.set(bytes.subarray(0, head))
  into.set(bytes.subarray(size - tail, size), half)
  return { size, mtime, head, tail }
}
