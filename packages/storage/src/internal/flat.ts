/**
 * Flat: a line of metadata that is an object of strings, read without being parsed.
 *
 *   {"type":"tag","tag":"web","sessionId":"…"}      the value of a key, and where it stands
 *
 * A line that is not surely that is not flat and has to be decoded: one with another value, a second type, an escape that is
 * none, or a control character.
 */
import type { Buffer } from "node:buffer"

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const ESCAPE = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d
const U = 0x75

const escapes = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)))

/** Where a value stands, without its quotes. */
export interface Span {
  readonly from: number
  readonly to: number
}

const isHex = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)

/** The quote that ends the string which begins at a place; -1 where it is no string of JSON. */
const endOf = (bytes: Buffer, from: number, to: number): number => {
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) return at
    if (byte < 0x20) return -1
    if (byte !== ESCAPE) continue
    at++
    if (bytes[at] === U) {
      for (const end = at + 4; at < end;) if (!isHex(bytes[++at]!)) return -1
    } else if (!escapes.has(bytes[at]!)) return -1
  }
  return -1
}

const isName = (bytes: Buffer, from: number, to: number, name: string): boolean => {
  if (to - from !== name.length) return false
  for (let i = 0; i < name.length; i++) if (bytes[from + i] !== name.charCodeAt(i)) return false
  return true
}

/** The value of a key of the line `[from, to)`, which begins with its type; undefined where the line is not flat. */
export const find = (bytes: Buffer, from: number, to: number, key: string): Span | undefined => {
  if (bytes[from] !== OPEN) return undefined
  let found: Span | undefined
  for (let at = from; ;) {
    const name = at + 2
    if (bytes[name - 1] !== QUOTE) return undefined
    const nameEnd = endOf(bytes, name, to)
    const value = nameEnd + 3
    if (nameEnd < 0 || bytes[value - 2] !== COLON || bytes[value - 1] !== QUOTE) return undefined
    const valueEnd = endOf(bytes, value, to)
    if (valueEnd < 0) return undefined
    if (isName(bytes, name, nameEnd, key)) found = { from: value, to: valueEnd }
    else if (at > from && isName(bytes, name, nameEnd, "type")) return undefined
    at = valueEnd + 1
    if (bytes[at] === CLOSE) return at === to - 1 ? found : undefined
    if (bytes[at] !== COMMA) return undefined
  }
}

/** The text of a value. */
export const textOf = (bytes: Buffer, { from, to }: Span): string => {
  const text = bytes.toString("utf8", from, to)
  return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text
}
