/**
 * The pieces of a damaged line: whole objects, and what lies between them.
 *
 *   {"type":"us{"type":"user",…}{"type":"tag",…}
 *   torn       entry            entry
 *
 * 1. Blanks, NUL runs and byte order marks belong to no piece; all other bytes belong to one.
 * 2. Behind bytes that are no entry, only what is surely an entry is taken for one: a part of a torn value is not.
 * 3. The work is in proportion to the length of the line, whatever it holds. One pass finds the end of every object: an
 *    odd number of quotes in a torn piece turns strings inside out, so braces are matched for both ways to count. Texts
 *    that look like an object and are no JSON may be looked into {@link tries} times over, then they are skipped whole.
 */
import * as Entry from "../Entry.ts"
import * as Json from "./json.ts"

/** A part of a damaged line, by offsets into it; no `value`: bytes that are no entry. */
export interface Piece {
  readonly start: number
  readonly end: number
  readonly value?: Entry.Unknown
  readonly reason?: Entry.Malformed["reason"]
}

/** Hears of a byte order mark or a NUL run. */
export type OnMark = (kind: "bom" | "nul", start: number, end: number) => void

interface Search {
  readonly line: Uint8Array
  /** By the place of each brace that is closed, the end of its object; elsewhere 0. */
  readonly ends: Uint32Array
  /** Bytes that may still be parsed in vain more than once. */
  left: number
}

const tries = 16

const TAB = 0x09
const CR = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const SLASH = 0x2f
const COLON = 0x3a
const OPEN_LIST = 0x5b
const ESCAPE = 0x5c
const CLOSE_LIST = 0x5d
const OPEN = 0x7b
const CLOSE = 0x7d

/** Cuts a line into pieces. */
export const cut = (line: Uint8Array, onMark: OnMark): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  const search: Search = { line, ends: endsOf(line), left: tries * line.length }
  let at = 0
  while (at < line.length) {
    const next = skipMarks(line, at, onMark)
    if (next > at) {
      at = next
      continue
    }
    const piece = objectAt(search, at) ?? junkAt(search, at)
    pieces.push(piece)
    at = piece.end
  }
  return pieces
}

/**
 * A backslash hides a quote whether or not it stands in a string: where it does not, nothing is JSON anyway. As long as a
 * brace is open, its place holds the one that was opened before it, counted from 1: a line may hold more braces than a
 * map or a stack of its own can.
 */
const endsOf = (line: Uint8Array): Uint32Array => {
  const ends = new Uint32Array(line.length)
  let inside = 0
  let outside = 0
  for (let at = 0; at < line.length; at++) {
    const byte = line[at]
    if (byte === ESCAPE) {
      if (line[at + 1] === QUOTE || line[at + 1] === ESCAPE) at++
    } else if (byte === QUOTE) [inside, outside] = [outside, inside]
    else if (byte === OPEN) {
      ends[at] = outside
      outside = at + 1
    } else if (byte === CLOSE && outside > 0) {
      const open = outside - 1
      outside = ends[open]!
      ends[open] = at + 1
    }
  }
  for (let open of [inside, outside]) {
    while (open > 0) {
      const before = ends[open - 1]!
      ends[open - 1] = 0
      open = before
    }
  }
  return ends
}

const skipMarks = (line: Uint8Array, from: number, onMark: OnMark): number => {
  let at = afterBlanks(line, from)
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

const isBlank = (byte: number | undefined): boolean => byte === SPACE || byte === TAB || byte === CR

const afterBlanks = (line: Uint8Array, from: number): number => {
  let at = from
  while (isBlank(line[at])) at++
  return at
}

/** The JSON object that starts here, or nothing. */
const objectAt = (search: Search, start: number): Piece | undefined => {
  const end = search.ends[start]!
  if (end === 0) return undefined
  const value = Json.parse(Json.textOf(search.line.subarray(start, end)))
  if (value !== undefined) return Json.isTyped(value) ? { start, end, value } : { start, end, reason: "no-type" }
  search.left -= end - start
  return undefined
}

/** Bytes that are no entry, up to the next one that is whole; a comment is never looked into. */
const junkAt = (search: Search, start: number): Piece => {
  const { ends, line } = search
  const isComment = line[start] === SLASH && line[start + 1] === SLASH
  let end = isComment ? line.length : nextEntry(search, behind(search, start))
  while (end > start + 1 && (isBlank(line[end - 1]) || line[end - 1] === 0)) end--
  if (line[start] === OPEN) return { start, end, reason: (ends[start]! || Infinity) <= end ? "not-json" : "torn" }
  return {
    start,
    end,
    reason: Json.parse(Json.textOf(line.subarray(start, end))) === undefined ? "not-json" : "not-object"
  }
}

/** Where to look on behind a brace that starts no JSON. */
const behind = ({ ends, left }: Search, open: number): number => (left < 0 && ends[open]) || open + 1

/** Where the next whole entry starts; the end of the line when there is none. */
const nextEntry = (search: Search, from: number): number => {
  const { line } = search
  let at = line.indexOf(OPEN, from)
  while (at >= 0) {
    const piece = opensWithKey(line, at) ? objectAt(search, at) : undefined
    if (piece?.value !== undefined && isGlued(line, piece) && isEntryLike(piece.value, line, at)) return at
    // What stands inside an object is a part of it.
    at = line.indexOf(OPEN, piece?.end ?? behind(search, at))
  }
  return line.length
}

/** Many a brace at the end of a string is followed by its quote: only a key makes it the start of an object. */
const opensWithKey = (line: Uint8Array, open: number): boolean => {
  let at = afterBlanks(line, open + 1)
  if (line[at] !== QUOTE) return false
  for (at++; at < line.length && line[at] !== QUOTE; at++) if (line[at] === ESCAPE) at++
  return line[afterBlanks(line, at + 1)] === COLON
}

/** A member of a torn value is followed by what follows members; a line that was glued on is not. */
const isGlued = (line: Uint8Array, piece: Piece): boolean => {
  const next = line[afterBlanks(line, piece.end)]
  return next !== COMMA && next !== CLOSE && next !== CLOSE_LIST
}

/**
 * Content blocks and bodies have a `type` too, and legacy progress lines hold whole messages. So where a member of the
 * torn value may stand, an entry needs a key that only the envelope has.
 */
const isEntryLike = (value: Entry.Unknown, line: Uint8Array, start: number): boolean => {
  if (Object.hasOwn(value, "parentUuid") || typeof value.sessionId === "string") return true
  let before = start - 1
  while (isBlank(line[before])) before--
  const mayBeMember = line[before] === COLON || line[before] === COMMA || line[before] === OPEN_LIST
  return !mayBeMember && (Entry.kindOf(value) !== "unknown" || typeof value.uuid === "string")
}
