/**
 * Checkpoint: the state of a projection, put aside with the place up to which it has read.
 *
 *   │ lines ……………… last line LF │ tail …            byte, line: the place · hash: of the last bytes before it
 *                               └ checkpoint
 *
 * 1. A checkpoint and the tail give what the whole log gives, wherever the checkpoint was made.
 * 2. It is used only for the log that it was made of, and for the same version of the projection; else the log is folded
 *    again from its beginning. A log only grows, so the bytes before the place tell whether it is the same.
 * 3. It stands between whole lines: a last line without LF may yet grow, and is not in it.
 */
import * as Schema from "effect/Schema"

/**
 * A checkpoint, as JSON: `byte` and `line` (1-based) are where the next line begins.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Checkpoint = Schema.Struct({
  version: Schema.String,
  line: Schema.Int,
  byte: Schema.Int,
  hash: Schema.String,
  state: Schema.Unknown
})

/**
 * What {@link Checkpoint} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type Checkpoint = typeof Checkpoint.Type

/**
 * Is it a checkpoint, of whatever projection?
 *
 * @category guards
 * @since 0.1.0
 */
export const is: (value: unknown) => value is Checkpoint = Schema.is(Checkpoint)

/**
 * How many bytes before its place a checkpoint knows its log by: the last line, or the end of a long one.
 *
 * @category constants
 * @since 0.1.0
 */
export const KNOWN = 4096

/**
 * A hash of bytes, to tell one log from another, not from a forged one: twice FNV-1a, with two starts.
 *
 * @category combinators
 * @since 0.1.0
 */
export const hash = (bytes: Uint8Array): string => {
  let [a, b] = [0x811c9dc5, 0x01234567]
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193)
    b = Math.imul(b ^ byte, 0x01000193) ^ (b >>> 13)
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("")
}
