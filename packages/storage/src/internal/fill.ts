/**
 * Fill: a stretch of a log, whole: one read may give less than it was asked for.
 */
import * as Effect from "effect/Effect"
import type * as EntryLog from "../EntryLog.ts"

/** Fills the buffer from a byte on, as far as the log goes, and gives what is filled. */
export const fill = Effect.fnUntraced(function* <B extends Uint8Array>(
  reader: EntryLog.Reader,
  start: number,
  into: B
) {
  let have = 0
  while (have < into.length) {
    const count = yield* reader.read(start + have, into.subarray(have))
    if (count === 0) break
    have += count
  }
  return into.subarray(0, have) as B
})
