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

/** Of the Encoding standard, in every runtime; pure. */
declare const TextDecoder: new (
  label: string,
  options: { readonly fatal?: boolean; readonly ignoreBOM: boolean }
) => { readonly decode: (bytes: Uint8Array) => string }

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

const undamaged: ReadonlyArray<Finding.Finding> = []
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const strictUtf8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true })
const CR = 0x0d

/**
 * The entries of one line, without its LF; the bytes are not kept, so their buffer may be used again.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = (line: Uint8Array, at: Finding.Position): ReadonlyArray<Located> => {
  const text = utf8.decode(line)
  const value = parse(text)
  if (value === undefined || !isTyped(value)) return decodeDamaged(line, at)
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
  entry instanceof Entry.Malformed ? utf8.decode(entry.bytes) : JSON.stringify(Entry.original(entry))

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isTyped = (value: unknown): value is Entry.Unknown =>
  typeof value === "object" && value !== null && typeof (value as { readonly type?: unknown }).type === "string" &&
  !Array.isArray(value)

const located = (value: Entry.Unknown, at: Finding.Position, damage: ReadonlyArray<Finding.Finding>): Located => {
  const { entry, illFormed } = Entry.read(value)
  if (illFormed.length === 0) return { entry, at, damage }
  const uuid = "uuid" in entry && typeof entry.uuid === "string" && entry.uuid !== "" ? { uuid: entry.uuid } : undefined
  return { entry, at, damage: [...damage, Finding.make("ill-formed", { type: entry.type, keys: illFormed, ...uuid }, at)] }
}

const carriageReturn = (line: Uint8Array, at: Finding.Position): ReadonlyArray<Finding.Finding> =>
  line[line.length - 1] === CR ? [Finding.make("carriage-return", { count: 1 }, at)] : undamaged

const invalidUtf8 = (line: Uint8Array, at: Finding.Position): ReadonlyArray<Finding.Finding> => {
  try {
    strictUtf8.decode(line)
    return undamaged
  } catch {
    return [Finding.make("invalid-utf8", {}, at)]
  }
}

// ---- the damaged line: everything below runs only for lines that are not one object with a type

/** A part of a damaged line, by offsets into it; no `value`: bytes that are no entry. */
interface Piece {
  readonly start: number
  readonly end: number
  readonly value?: Entry.Unknown
  readonly reason?: Entry.Malformed["reason"]
}

const decodeDamaged = (line: Uint8Array, at: Finding.Position): ReadonlyArray<Located> => {
  const damage: Array<Finding.Finding> = [...carriageReturn(line, at), ...invalidUtf8(line, at)]
  const within = (start: number, end: number): Finding.Position => ({
    line: at.line,
    byteStart: at.byteStart + start,
    byteEnd: at.byteStart + end
  })
  const pieces = cut(line, (kind, start, end) => {
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

const OPEN = 0x7b
const QUOTE = 0x22

/** Cuts a line into objects and what lies between them; blanks, NUL runs and marks belong to no piece. */
const cut = (line: Uint8Array, onMark: (kind: "bom" | "nul", start: number, end: number) => void): Array<Piece> => {
  const pieces: Array<Piece> = []
  // Searching for an entry behind each brace is quadratic at worst; a line gets work in proportion to its length.
  const work = { left: 64 * line.length + 65536 }
  let at = 0
  while (at < line.length) {
    const next = skipMarks(line, at, onMark)
    if (next > at) {
      at = next
      continue
    }
    const whole = line[at] === OPEN ? objectAt(line, at, work) : restAt(line, at)
    const end = whole?.end ?? nextEntry(line, at + 1, work)
    pieces.push(whole ?? { start: at, end: trimEnd(line, at, end), reason: reasonOf(line, at, end) })
    at = end
  }
  return pieces
}

const skipMarks = (
  line: Uint8Array,
  from: number,
  onMark: (kind: "bom" | "nul", start: number, end: number) => void
): number => {
  let at = from
  while (line[at] === 0x20 || line[at] === 0x09 || line[at] === CR) at++
  if (at > from) return at
  while (line[at] === 0) at++
  if (at > from) {
    onMark("nul", from, at)
  } else if (line[at] === 0xef && line[at + 1] === 0xbb && line[at + 2] === 0xbf) {
    at += 3
    onMark("bom", from, at)
  }
  return at
}

const trimEnd = (line: Uint8Array, start: number, end: number): number => {
  let at = end
  while (at > start + 1 && (line[at - 1] === CR || line[at - 1] === 0x20 || line[at - 1] === 0x09)) at--
  return at
}

/** The JSON object that starts here and parses, or nothing. */
const objectAt = (line: Uint8Array, start: number, work: { left: number }): Piece | undefined => {
  const end = balancedEnd(line, start, work)
  if (end < 0) return undefined
  const value = parse(utf8.decode(line.subarray(start, end)))
  if (value === undefined) return undefined
  return isTyped(value) ? { start, end, value } : { start, end, reason: "no-type" }
}

/** The rest of the line, where it is one JSON value that is no object: an array of entries is no entry. */
const restAt = (line: Uint8Array, start: number): Piece | undefined =>
  parse(utf8.decode(line.subarray(start))) === undefined
    ? undefined
    : { start, end: line.length, reason: "not-object" }

/** The end of the bracketed value that starts here, by braces outside strings; -1 when it is not closed. */
const balancedEnd = (line: Uint8Array, start: number, work: { left: number }): number => {
  let depth = 0
  let inString = false
  for (let at = start; at < line.length; at++) {
    if (--work.left < 0) return -1
    const byte = line[at]
    if (inString) {
      if (byte === 0x5c) at++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === OPEN) depth++
    else if (byte === 0x7d && --depth === 0) return at + 1
  }
  return -1
}

/** Where the next whole entry starts behind a torn or foreign piece; the end of the line when there is none. */
const nextEntry = (line: Uint8Array, from: number, work: { left: number }): number => {
  for (let at = line.indexOf(OPEN, from); at >= 0; at = line.indexOf(OPEN, at + 1)) {
    if (line[at + 1] !== QUOTE) continue
    const piece = objectAt(line, at, work)
    if (piece?.value !== undefined && isEntryLike(piece.value)) return at
  }
  return line.length
}

/** Content blocks and bodies have a `type` too: behind a torn piece only what is surely an entry counts as one. */
const isEntryLike = (value: Entry.Unknown): boolean =>
  Entry.kindOf(value) !== "unknown" || typeof value.uuid === "string" || typeof value.sessionId === "string"

const reasonOf = (line: Uint8Array, start: number, end: number): Entry.Malformed["reason"] => {
  const bytes = line.subarray(start, end)
  return bytes[0] === OPEN && balancedEnd(bytes, 0, { left: Infinity }) < 0 ? "torn" : "not-json"
}
