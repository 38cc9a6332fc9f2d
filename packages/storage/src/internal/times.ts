/**
 * Times: where messages in bytes of a log may say when they were written, without decoding them.
 *
 *   … "timestamp":"2026-01-01T12:00:00.000Z" …
 *                            └ the T, which is rarer than a quote or a colon
 *
 * A message's own time is among those that stand on its line, and quoted ones may be: so the latest of a line, or of many, is
 * a bound. Times are looked for as JSON spells them, without escapes.
 */
import { Buffer } from "node:buffer"
import * as Sift from "./sift.ts"

/** A time, and a place within it. */
export interface Time {
  readonly text: string
  readonly at: number
}

/** Bytes that are looked at before and behind the T, at most. */
export const AROUND = 32

/** Later than any time: what may be one that is spelled in another way. */
const LATEST = "\uffff"

const KEY = Buffer.from('tamp":')
const DATE = "2026-01-01".length
const T = 0x54
const DASH = 0x2d
const QUOTE = 0x22
const SPACE = 0x20

/** The last time before a place that is later than another one. */
export const later = (bytes: Buffer, before: number, than: string): Time | undefined => {
  const known = Buffer.from(than)
  for (let at = before; at > DATE && (at = bytes.lastIndexOf(T, at - 1)) > DATE;) {
    const from = at - DATE
    if (bytes[at - 3] !== DASH || bytes[from - 1] !== QUOTE || !isLater(bytes, from, known)) continue
    let key = from - 2
    while (bytes[key] === SPACE) key--
    if (!Sift.isAt(bytes, key + 1 - KEY.length, KEY)) continue
    const end = bytes.indexOf(QUOTE, from)
    const text = bytes.toString("latin1", from, end)
    return { text: end < 0 || end > at + AROUND || !isPlain.test(text) ? LATEST : text, at }
  }
  return undefined
}

/** What is spelled with an escape is later than what is not, as bytes. */
const isPlain = /^[\d:.TZ+-]+$/

/** Whether the text at a place is later than another; equal ones are not. */
const isLater = (bytes: Buffer, from: number, than: Buffer): boolean => {
  for (let i = 0; i < than.length; i++) if (bytes[from + i] !== than[i]) return bytes[from + i]! > than[i]!
  return bytes[from + than.length] !== QUOTE
}
