/**
 * ErrorJson: the line that tells programs of an error, the same of every command.
 *
 *   {"file": …, "ok": false, "error": {"_tag": …, "message": …, …}}
 *
 * 1. A line that tells of an error has `ok: false` and `error`, whatever else it has; no other line has an `error`.
 * 2. `_tag` names the kind. Beside `message` stands what the kind says of itself, where that is a text, a number, a truth
 *    value or a list of those: `paths`, `near`, `pid`, …
 */
import * as Style from "./Style.ts"

/**
 * An error with a name for its kind.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tagged {
  readonly _tag: string
  readonly message: string
}

/**
 * What a line has that tells of an error; `message`: what is said instead of its own.
 *
 * @category encoding
 * @since 0.1.0
 */
export const fields = (error: Tagged, message: string = error.message) => ({
  ok: false,
  error: { _tag: error._tag, message, ...Object.fromEntries(Object.entries(error).filter(isTold)) }
})

/** How an error came about is for who mends it, not for who called. */
const silent = new Set(["_tag", "name", "message", "stack", "cause"])

const isTold = ([key, value]: readonly [string, unknown]): boolean =>
  !silent.has(key) && (isPlain(value) || (Array.isArray(value) && value.every(isPlain)))

const isPlain = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/**
 * The line of a file, or of what stands for one.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (file: string, error: Tagged, message?: string): string =>
  Style.json({ file, ...fields(error, message) })
