/**
 * Verbatim: a line changed at named places, all its other bytes as they were.
 *
 *   {"uuid":"a","n":1.0,"text":"caf\u00e9","uuid":"a"}     shape { uuid: (id) => id + "2" }, set { by: "me" }
 *   {"uuid":"a2","n":1.0,"text":"caf\u00e9","uuid":"a2","by":"me"}
 *
 * 1. What is not named is not read: numbers, escapes, lone surrogates, repeated keys, blanks and bytes that are no UTF-8
 *    stay as they are.
 * 2. A key counts wherever it stands in its object, also twice, and however it is escaped.
 * 3. It is a walk over the tokens, not a parser: give it what was decoded as one object.
 */
import * as Json from "./internal/json.ts"

/**
 * Makes another text of a text; of a list, of each text in it.
 *
 * @category models
 * @since 0.1.0
 */
export type Change = (text: string) => string

/**
 * What becomes of the values of an object, by key: a change, or the shape of an object (or list of objects) below it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Shape {
  readonly [key: string]: Change | Shape
}

/**
 * The changes of an object: those of its texts, keys that get a value whatever they held, and keys that get one where
 * they have none. New keys come last, in their order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Edit {
  readonly shape: Shape
  readonly set?: { readonly [key: string]: unknown }
  readonly defaults?: { readonly [key: string]: unknown }
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d

interface Cut {
  readonly from: number
  readonly to: number
  readonly text: string
}

/**
 * A changed object, not made yet: `into` writes it at a place of bytes that have room for `most`, and gives the place behind.
 *
 * @category models
 * @since 0.1.0
 */
export interface Edited {
  readonly most: number
  readonly into: (target: Uint8Array, from: number) => number
}

/**
 * The first object in `line`, changed; undefined where there is none. The line must stay as it is until that is written.
 *
 * @category combinators
 * @since 0.1.0
 */
export const edit = (line: Uint8Array, { defaults = {}, set = {}, shape }: Edit): Edited | undefined => {
  const start = line.indexOf(OPEN)
  if (start < 0) return undefined
  const cuts: Array<Cut> = []
  const seen = new Set<string>()
  const end = walk(line, start, shape, cuts, (key, from) => {
    seen.add(key)
    if (!Object.hasOwn(set, key)) return undefined
    const to = skip(line, from)
    cuts.push({ from, to, text: Json.stringify(set[key]) })
    return to
  })
  const added = Object.entries({ ...defaults, ...set }).filter(([key]) => !seen.has(key))
  if (added.length > 0) {
    const text = added.map(([key, value]) => `${JSON.stringify(key)}:${Json.stringify(value)}`).join(",")
    cuts.push({ from: end - 1, to: end - 1, text: seen.size === 0 ? text : `,${text}` })
  }
  return {
    most: cuts.reduce((most, { text }) => most + 3 * text.length, end - start),
    into: (target, from) => splice(line.subarray(0, end), start, cuts, target, from)
  }
}

/**
 * The bytes of a changed object.
 *
 * @category combinators
 * @since 0.1.0
 */
export const bytesOf = ({ into, most }: Edited): Uint8Array => {
  const target = new Uint8Array(most)
  return target.subarray(0, into(target, 0))
}

const splice = (
  line: Uint8Array,
  start: number,
  cuts: ReadonlyArray<Cut>,
  target: Uint8Array,
  from: number
): number => {
  let [read, written] = [start, from]
  for (const cut of cuts) {
    target.set(line.subarray(read, cut.from), written)
    written += cut.from - read
    written += Json.into(target.subarray(written), cut.text)
    read = cut.to
  }
  target.set(line.subarray(read), written)
  return written + line.length - read
}

/** Walks an object from its brace on; `own` may take a value itself. Gives the place behind it. */
const walk = (
  line: Uint8Array,
  from: number,
  shape: Shape,
  cuts: Array<Cut>,
  own: (key: string, from: number) => number | undefined = () => undefined
): number => {
  let at = blank(line, from + 1)
  while (at < line.length && line[at] !== CLOSE) {
    const behind = skip(line, at)
    const key = textAt(line, at, behind)
    const value = blank(line, blank(line, behind) + 1)
    const rule = Object.hasOwn(shape, key) ? shape[key] : undefined
    at = next(line, own(key, value) ?? (rule === undefined ? skip(line, value) : change(line, value, rule, cuts)))
  }
  return at + 1
}

/** Changes a value by its rule, and gives the place behind it. */
const change = (line: Uint8Array, from: number, rule: Change | Shape, cuts: Array<Cut>): number => {
  if (line[from] === OPEN_LIST) {
    let at = blank(line, from + 1)
    while (at < line.length && line[at] !== CLOSE_LIST) at = next(line, one(line, at, rule, cuts))
    return at + 1
  }
  return one(line, from, rule, cuts)
}

const one = (line: Uint8Array, from: number, rule: Change | Shape, cuts: Array<Cut>): number => {
  if (typeof rule !== "function") return line[from] === OPEN ? walk(line, from, rule, cuts) : skip(line, from)
  const to = skip(line, from)
  if (line[from] !== QUOTE) return to
  const text = textAt(line, from, to)
  const changed = rule(text)
  if (changed !== text) cuts.push({ from, to, text: JSON.stringify(changed) })
  return to
}

const textAt = (line: Uint8Array, from: number, to: number): string => {
  const text = Json.parse(Json.textOf(line.subarray(from, to)))
  return typeof text === "string" ? text : ""
}

/** Behind a value: over blanks and one comma. */
const next = (line: Uint8Array, from: number): number => {
  const at = blank(line, from)
  return line[at] === COMMA ? blank(line, at + 1) : at
}

const blank = (line: Uint8Array, from: number): number => {
  let at = from
  while (line[at] === 0x20 || line[at] === 0x09 || line[at] === 0x0d || line[at] === 0x0a) at++
  return at
}

/** The place behind a value of any depth. */
const skip = (line: Uint8Array, from: number): number => {
  if (line[from] === QUOTE) return skipText(line, from)
  let depth = 0
  for (let at = from; at < line.length; at++) {
    const byte = line[at]
    if (byte === QUOTE) at = skipText(line, at) - 1
    else if (byte === OPEN || byte === OPEN_LIST) depth++
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (depth <= 1) return depth === 1 ? at + 1 : at
      depth--
    } else if (byte === COMMA && depth === 0) return at
  }
  return line.length
}

const skipText = (line: Uint8Array, from: number): number => {
  for (let at = line.indexOf(QUOTE, from + 1); at >= 0; at = line.indexOf(QUOTE, at + 1)) {
    let escapes = 0
    while (line[at - 1 - escapes] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at + 1
  }
  return line.length
}
