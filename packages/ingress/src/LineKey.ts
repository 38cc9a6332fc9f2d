/**
 * LineKey: what names a line of a log to a remote, for ever.
 *
 *   a line whose entry has an id      the id
 *   any other                         ~ and a digest of its number and its bytes
 *
 * 1. The key of a line is the same in every copy of the log, on whichever machine and however often it is read: a line
 *    that is sent again is known there, also when nobody knows any more that it was sent.
 * 2. Other bytes have another key, unless they claim the same id: what is written over a tail that was lost is new.
 */
import { createHash } from "node:crypto"
import * as StreamLine from "./StreamLine.ts"

/**
 * The line of these bytes, without LF, that has this number in its log, from 1.
 *
 * @category constructors
 * @since 0.1.0
 */
export const lineAt = (number: number, bytes: Uint8Array): StreamLine.StreamLine => {
  const line = StreamLine.ofBytes(bytes, UNNAMED)
  return { ...line, key: line.uuid ?? digestOf(number, bytes) }
}

/** A key for a line that gets its own at once. */
const UNNAMED = "~"

const digestOf = (number: number, bytes: Uint8Array): string =>
  `~${createHash("sha256").update(`${number}\n`).update(bytes).digest("base64url")}`
