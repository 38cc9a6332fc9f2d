/**
 * Line: one line of a log ⇄ its entries.
 *
 *   {…}                  one entry
 *   {…}{…}               both entries, finding glued-lines
 *   {"type":"us{…}       Malformed (torn), then the entry
 *   NUL NUL {…}          the entry, finding nul-bytes
 *   [1] · // · {…        Malformed, kept byte for byte
 *
 * 1. Decoding is total: every line gives at least one entry, and one bad line costs that line only.
 * 2. Encoding keeps the JSON value, its key order and unknown keys; what must be moved verbatim is moved as bytes.
 * 3. The usual line costs one UTF-8 decoding, one `JSON.parse` and one check; everything else is off that path.
 */
import * as Entry from "./Entry.ts"
import * as Finding from "./Finding.ts"
import * as LineSplitter from "./LineSplitter.ts"
import * as Metadata from "./Metadata.ts"
import * as Json from "./internal/json.ts"
import * as Pieces from "./internal/pieces.ts"

/**
 * An entry, where it stands, and what was damaged on its line.
 *
 * @category models
 * @since 0.1.0
 */
export interface Located {
  readonly entry: Entry.Entry
  readonly at: Finding.Position
  readonly damage: ReadonlyArray<Finding.Finding>
}

/**
 * The same, so many lines further down: where a log is read from its end, the lines before are counted later.
 *
 * @category combinators
 * @since 0.1.0
 */
export const shift = ({ at, damage, entry }: Located, lines: number): Located => ({
  entry,
  at: { ...at, line: at.line + lines },
  damage: damage.map((one) => (one.line === undefined ? one : { ...one, line: one.line + lines }))
})

const undamaged: ReadonlyArray<Finding.Finding> = []
const CR = 0x0d

/**
 * The entries of one line, without its LF; the bytes are not kept, so their buffer may be used again.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = (line: Uint8Array, at: Finding.Position): ReadonlyArray<Located> => {
  const text = Json.textOf(line)
  const value = Json.parse(text)
  if (!Json.isTyped(value)) return decodeDamaged(line, at)
  if (line[line.length - 1] !== CR && !text.includes("\ufffd")) return [located(value, at, undamaged)]
  return [located(value, at, [...carriageReturn(line, at), ...invalidUtf8(line, at)])]
}

/**
 * The entries of a whole log held in memory, in order.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeAll = (log: Uint8Array): ReadonlyArray<Located> => {
  const all: Array<Located> = []
  const splitter = LineSplitter.make((line, at) => {
    for (const one of decode(line, at)) all.push(one)
  })
  splitter.push(log)
  splitter.end()
  return all
}

/**
 * The line of an entry, without LF. Lone surrogates become escapes, so the text is always well-formed. The text of a
 * Malformed entry is its bytes as far as they are UTF-8: move such a line as bytes instead.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (entry: Entry.Entry): string =>
  entry instanceof Entry.Malformed ? Json.textOf(entry.bytes) : Json.stringify(Entry.original(entry))

const located = (value: Entry.Unknown, at: Finding.Position, damage: ReadonlyArray<Finding.Finding>): Located => {
  const { entry, illFormed } = Entry.read(value)
  if (illFormed.length === 0) return { entry, at, damage }
  const uuid = "uuid" in entry && typeof entry.uuid === "string" && entry.uuid !== "" ? { uuid: entry.uuid } : undefined
  const { type } = entry
  const found = [Finding.make("ill-formed", { type, keys: illFormed, ...uuid }, at)]
  if (Metadata.isKind(type)) found.push(Finding.make("bad-metadata", { type }, at))
  return { entry, at, damage: [...damage, ...found] }
}

const carriageReturn = (line: Uint8Array, at: Finding.Position): ReadonlyArray<Finding.Finding> =>
  line[line.length - 1] === CR ? [Finding.make("carriage-return", { count: 1 }, at)] : undamaged

const invalidUtf8 = (line: Uint8Array, at: Finding.Position): ReadonlyArray<Finding.Finding> =>
  Json.isUtf8(line) ? undamaged : [Finding.make("invalid-utf8", {}, at)]

/** The line that is not one object with a type: everything below is off the usual path. */
const decodeDamaged = (line: Uint8Array, at: Finding.Position): ReadonlyArray<Located> => {
  const damage: Array<Finding.Finding> = [...carriageReturn(line, at), ...invalidUtf8(line, at)]
  const within = (start: number, end: number): Finding.Position => ({
    line: at.line,
    byteStart: at.byteStart + start,
    byteEnd: at.byteStart + end
  })
  const pieces = Pieces.cut(line, (kind, start, end) => {
    damage.push(
      kind === "bom"
        ? Finding.make("bom", {}, within(start, end))
        : Finding.make("nul-bytes", { count: end - start }, within(start, end))
    )
  })
  if (pieces.length === 0) {
    if (!damage.some((f) => f.kind !== "carriage-return")) damage.push(Finding.make("blank-line", { count: 1 }, at))
    return [{ entry: new Entry.Malformed(line, "blank"), at, damage }]
  }
  const entries = pieces.filter((piece) => piece.value !== undefined).length
  if (pieces.length > 1 && entries > 0) damage.push(Finding.make("glued-lines", { count: entries }, at))
  return pieces.map((piece, i) => {
    const where = within(piece.start, piece.end)
    const own = i === 0 ? damage : undamaged
    if (piece.value !== undefined) return located(piece.value, where, own)
    const bytes = piece.end - piece.start
    const kind = piece.reason === "torn" ? "torn-line" : "malformed-line"
    return {
      entry: new Entry.Malformed(line.subarray(piece.start, piece.end), piece.reason ?? "not-json"),
      at: where,
      damage: [...own, Finding.make(kind, { bytes }, where)]
    }
  })
}
