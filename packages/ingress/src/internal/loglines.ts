/**
 * Loglines: the entries of `{"loglines":[…]}` as the texts that they are, while the answer comes in.
 *
 *   {"loglines":[{"n":1.0},{"s":"\/"}],"more":…}   ─▶   {"n":1.0}   {"s":"\/"}
 *
 * 1. A text is cut out and not made anew, so numbers and escapes stay as they were.
 * 2. What is kept is the entry that is on its way; the answer is never held.
 * 3. It is a walk over brackets and strings. Whoever reads an entry finds out whether it is one.
 */
import { Buffer } from "node:buffer"

/** Bytes of one entry, or of one line of a stream; what is longer is none. */
export const LONGEST = 64 << 20

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const ESCAPE = 0x5c
const OPEN = 0x7b
const OPEN_LIST = 0x5b
const CLOSE = 0x7d
const CLOSE_LIST = 0x5d
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** Gives each text, one after the other; `end` says whether the answer was such an object, and whole. */
export const make = (onEntry: (text: string) => void) => {
  const kept = keeper()
  let depth = 0
  let isIn: "nothing" | "key" | "text" = "nothing"
  let isEscaped = false
  /** Of the object: the key that came last, and whether its value is next. */
  let key = ""
  let isValue = false
  let isEntries = false
  const found = { isObject: false, hasEntries: false, isWhole: false, isBroken: false }

  const inText = (chunk: Uint8Array, i: number, byte: number): void => {
    if (isEscaped) isEscaped = false
    else if (byte === ESCAPE) isEscaped = true
    else if (byte === QUOTE) {
      if (isIn === "key") key = textOf(kept.take(chunk, i + 1))
      isIn = "nothing"
    }
  }
  const open = (i: number, byte: number): void => {
    depth++
    if (depth === 1) {
      found.isBroken ||= found.isObject || byte !== OPEN
      found.isObject = true
    } else if (depth === 2 && byte === OPEN_LIST && isValue && key === "loglines") {
      isEntries = true
      found.hasEntries = true
    } else if (depth === 3 && isEntries) kept.begin(i)
  }
  const close = (chunk: Uint8Array, i: number): void => {
    if (depth === 3 && isEntries) onEntry(kept.take(chunk, i + 1))
    if (depth === 2) isEntries = false
    if (depth === 1) found.isWhole = true
    found.isBroken ||= depth === 0
    depth--
  }
  const outside = (chunk: Uint8Array, i: number, byte: number): void => {
    if (byte === QUOTE) {
      isIn = depth === 1 && !isValue ? "key" : "text"
      if (isIn === "key") kept.begin(i)
      found.isBroken ||= depth === 0 || (depth === 2 && isEntries)
    } else if (byte === OPEN || byte === OPEN_LIST) open(i, byte)
    else if (byte === CLOSE || byte === CLOSE_LIST) close(chunk, i)
    else if (depth === 1 && (byte === COLON || byte === COMMA)) isValue = byte === COLON
    else if (depth === 0 || (depth === 2 && isEntries && byte !== COMMA)) found.isBroken ||= !blanks.has(byte)
  }
  return {
    push: (chunk: Uint8Array): void => {
      kept.goOn()
      for (let i = 0; i < chunk.length; i++) {
        if (isIn === "nothing") outside(chunk, i, chunk[i]!)
        else inText(chunk, i, chunk[i]!)
      }
      kept.carry(chunk)
    },
    /** An entry that goes on for ever is none, and is not kept. */
    isTooLong: kept.isTooLong,
    end: (): boolean => found.isWhole && found.hasEntries && !found.isBroken && depth === 0
  }
}

/** The bytes from a place on, over chunks. */
const keeper = () => {
  let parts: Array<Uint8Array> = []
  let size = 0
  let from = -1
  return {
    begin: (i: number): void => void (from = i),
    goOn: (): void => void (from = Math.min(from, 0)),
    carry: (chunk: Uint8Array): void => {
      // A copy: the chunk may be used again.
      if (from < 0) return
      size += chunk.length - from
      parts.push(Uint8Array.from(chunk.subarray(from)))
    },
    isTooLong: (): boolean => size > LONGEST,
    take: (chunk: Uint8Array, end: number): string => {
      parts.push(chunk.subarray(from, end))
      const text = Buffer.concat(parts).toString()
      parts = []
      size = 0
      from = -1
      return text
    }
  }
}

const textOf = (quoted: string): string => {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return ""
  }
}
