/**
 * LogLines: a log in memory as lines, for those who move, drop and glue them.
 */
import * as Entry from "../../Entry.ts"
import * as Bytes from "../../internal/bytes.ts"
import * as Line from "../../Line.ts"

/** Of the Encoding standard, in every runtime; pure. */
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }

const encoder = new TextEncoder()
const LF = 0x0a
const SLASH = 0x2f

/**
 * A line without its line feed, and the messages of the main lane on it.
 *
 * @category models
 * @since 0.1.0
 */
export interface LogLine {
  readonly bytes: Uint8Array
  readonly ids: ReadonlySet<string>
  readonly endsInComment?: boolean
  readonly entry?: Entry.Known | Entry.Unknown
}

/**
 * The lines of a log.
 *
 * @category decoding
 * @since 0.1.0
 */
export const linesOf = (log: Uint8Array): ReadonlyArray<LogLine> => {
  const lines: Array<LogLine> = []
  for (let from = 0; from < log.length;) {
    const lf = log.indexOf(LF, from)
    const end = lf < 0 ? log.length : lf
    const bytes = log.subarray(from, end)
    const entries = Line.decode(bytes, { line: lines.length + 1, byteStart: from, byteEnd: end }).map(
      ({ entry }) => entry
    )
    const [entry] = entries
    const ids = new Set(
      entries.flatMap((entry) => (Entry.isMessage(entry) && entry.isSidechain !== true ? [entry.uuid] : []))
    )
    const last = entries.at(-1)
    const endsInComment = last instanceof Entry.Malformed && last.bytes[0] === SLASH && last.bytes[1] === SLASH
    lines.push(
      entries.length === 1 && entry !== undefined && !(entry instanceof Entry.Malformed)
        ? { bytes, ids, endsInComment, entry }
        : { bytes, ids, endsInComment }
    )
    from = end + 1
  }
  return lines
}

/**
 * Bytes one after the other.
 *
 * @category encoding
 * @since 0.1.0
 */
export const concat: (parts: ReadonlyArray<Uint8Array>) => Uint8Array = Bytes.concat

/**
 * Lines with a line feed behind each, but for those that are glued to the next one.
 *
 * @category encoding
 * @since 0.1.0
 */
export const join = (lines: ReadonlyArray<LogLine>, glued: ReadonlySet<number> = new Set()): Uint8Array =>
  concat(lines.flatMap(({ bytes }, i) => (glued.has(i) ? [bytes] : [bytes, Uint8Array.of(LF)])))

/**
 * The messages of the main lane that have a line of their own.
 *
 * @category getters
 * @since 0.1.0
 */
export const messagesOf = (lines: ReadonlyArray<LogLine>) =>
  lines.flatMap(({ entry, ids }, at) =>
    entry !== undefined && ids.size === 1 ? [{ at, entry: entry as Entry.Message }] : []
  )

/**
 * The line of an entry; whose it is does not matter.
 *
 * @category encoding
 * @since 0.1.0
 */
export const lineOf = (entry: object): LogLine => ({ bytes: encoder.encode(JSON.stringify(entry)), ids: new Set() })
