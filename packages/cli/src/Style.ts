/**
 * Style: how text looks on a terminal: colours where they are wanted, and lines that fit.
 *
 * 1. What a log says is not trusted with the terminal: control sequences and direction marks are taken out of it.
 * 2. Width is counted in columns: a wide character takes two, a mark on another one none.
 * 3. Colour never carries meaning alone: without it the same words are there.
 */
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Terminal from "effect/Terminal"
import { stripVTControlCharacters, styleText } from "node:util"

/**
 * What a piece of text is, which decides how it looks.
 *
 * @category models
 * @since 0.1.0
 */
export type Tone = "title" | "faint" | "user" | "assistant" | "loss" | "repair"

/**
 * How output looks: columns of a line, and the colour of a tone.
 *
 * @category models
 * @since 0.1.0
 */
export interface Style {
  readonly columns: number
  readonly paint: (tone: Tone, text: string) => string
}

/** Where output is no terminal, lines have a length that people can read. */
const readable = 100

/**
 * Without colours.
 *
 * @category constructors
 * @since 0.1.0
 */
export const plain = (columns: number = readable): Style => ({ columns, paint: (_, text) => text })

const formats = {
  title: "bold",
  faint: "dim",
  user: "cyan",
  assistant: "green",
  loss: "red",
  repair: "yellow"
} as const satisfies { readonly [K in Tone]: string }

/**
 * With colours.
 *
 * @category constructors
 * @since 0.1.0
 */
export const colored = (columns: number = readable): Style => ({
  columns,
  // Whether there is a terminal is settled already.
  paint: (tone, text) => styleText(formats[tone], text, { validateStream: false })
})

/**
 * The style that fits where output goes: the width of the terminal, and colours where the terminal takes them and
 * nobody asked for none (`NO_COLOR`).
 *
 * @category constructors
 * @since 0.1.0
 */
export const current: Effect.Effect<Style, never, Terminal.Terminal> = Effect.gen(function* () {
  const terminal = yield* Terminal.Terminal
  const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
  const columns = (yield* terminal.columns) || readable
  return canColor ? colored(columns) : plain(columns)
})

/** Marks that turn the direction of all that follows, and the byte order mark. */
const direction = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\ufeff]/g
const gaps = /[\s\p{Cc}]+/gu

/**
 * Text of a log as one line: no control characters, single spaces, well-formed.
 *
 * @category combinators
 * @since 0.1.0
 */
export const clean = (text: string): string =>
  stripVTControlCharacters(text).replace(direction, "").replace(gaps, " ").trim().toWellFormed()

/**
 * Text of a log as its lines: no control characters, spaces as they are, a tab as two, well-formed.
 *
 * @category combinators
 * @since 0.1.0
 */
export const lines = (text: string): ReadonlyArray<string> =>
  stripVTControlCharacters(text)
    .replace(direction, "")
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .map((line) => line.replaceAll("\t", "  ").replace(controls, "").trimEnd().toWellFormed())

const controls = /\p{Cc}+/gu

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })
const wide =
  /\p{Emoji_Presentation}|\ufe0f|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u
const ascii = /^[\x20-\x7e]*$/

/**
 * The columns that a clean text takes.
 *
 * @category combinators
 * @since 0.1.0
 */
export const width = (text: string): number => {
  if (ascii.test(text)) return text.length
  let columns = 0
  for (const { segment } of graphemes.segment(text)) columns += widthOf(segment)
  return columns
}

const widthOf = (grapheme: string): number => (wide.test(grapheme) ? 2 : 1)

/**
 * A clean text cut to so many columns; one that was cut ends in `…`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const cut = (text: string, columns: number): string => {
  if (text.length <= columns && ascii.test(text)) return text
  const room = Math.max(columns, 1)
  let taken = 0
  let fits = 0
  for (const { index, segment } of graphemes.segment(text)) {
    taken += widthOf(segment)
    if (taken > room) return `${text.slice(0, fits).trimEnd()}…`
    if (taken < room) fits = index + segment.length
  }
  return text
}

/**
 * A clean text cut to so many columns at its start, which then is `…`: of a path, the end says more.
 *
 * @category combinators
 * @since 0.1.0
 */
export const cutStart = (text: string, columns: number): string => {
  if (width(text) <= columns) return text
  const parts = Array.from(graphemes.segment(text), ({ segment }) => segment)
  let taken = 1
  let from = parts.length
  while (from > 0 && taken + widthOf(parts[from - 1]!) <= Math.max(columns, 1)) taken += widthOf(parts[--from]!)
  return `…${parts.slice(from).join("")}`
}

/**
 * A clean text filled up with spaces to so many columns.
 *
 * @category combinators
 * @since 0.1.0
 */
export const fill = (text: string, columns: number): string => text + " ".repeat(Math.max(0, columns - width(text)))

/**
 * A value as one line of JSON in which no character steers a terminal: those that JSON leaves as they are, are escaped,
 * which keeps the value.
 *
 * @category rendering
 * @since 0.1.0
 */
export const json = (value: unknown): string =>
  JSON.stringify(value).replace(steering, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Controls above U+007F, line separators, and marks of direction. */
const steering = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g
