/**
 * Look: how the texts about the repair of one log look: their ids, their lists, their changes.
 *
 *   line 12  u3  x9 (in no line) → a2
 *            The parent x9 of u3 is in no line; it hangs on a2.
 *   … and 7 more (--full shows them)
 */
import * as Explanation from "./Explanation.ts"
import * as Phrase from "./Phrase.ts"
import type * as Style from "./Style.ts"
import type * as Trace from "./Trace.ts"

/**
 * How many members of a list are shown: some, or all.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  readonly changes: number
  readonly ids: number
}

/**
 * As much as one wants to read.
 *
 * @category constants
 * @since 0.1.0
 */
export const some: Limits = { changes: 10, ids: 20 }

/**
 * Everything.
 *
 * @category constants
 * @since 0.1.0
 */
export const all: Limits = { changes: Infinity, ids: Infinity }

/**
 * How a text about one log looks: the style, its ids, and how much of a list is shown.
 *
 * @category models
 * @since 0.1.0
 */
export interface Look {
  readonly style: Style.Style
  readonly id: Phrase.Short
  readonly limits: Limits
}

/**
 * The look of a log's texts.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (explanation: Explanation.Explanation, style: Style.Style, limits: Limits): Look => {
  const ids = Array.from(explanation.trace.written.nodes, ({ uuid }) => uuid)
  for (const { changes } of Explanation.steps(explanation))
    for (const { from } of changes) if ("uuid" in from) ids.push(from.uuid)
  const short = Phrase.shorten(ids)
  return { style, limits, id: (text) => Phrase.oneLine(short(text)) }
}

/** Columns of what a line is about. */
const names = 12

/**
 * A line about one thing.
 *
 * @category rendering
 * @since 0.1.0
 */
export const heading = (style: Style.Style, name: string, text: string): string =>
  `${style.paint("title", name.padEnd(names))}  ${text}`

/**
 * How many members of a list are not shown.
 *
 * @category rendering
 * @since 0.1.0
 */
export const more = (count: number, indent = "  "): ReadonlyArray<string> =>
  count === 0 ? [] : [`${indent}… and ${count} more (--full shows them)`]

/**
 * Ids in lines, the first of many.
 *
 * @category rendering
 * @since 0.1.0
 */
export const list = (
  ids: ReadonlyArray<string>,
  { id, limits, style }: Look,
  indent: string
): ReadonlyArray<string> => {
  const { more: hidden, shown } = Phrase.first(ids, limits.ids)
  const lines = Phrase.wrap(shown.map(id), style.columns - indent.length).map((line) => indent + line)
  return [...lines, ...more(hidden, indent)]
}

/**
 * Changes, one to a line; the reason stands below the last one that it is true of.
 *
 * @category rendering
 * @since 0.1.0
 */
export const changed = (changes: ReadonlyArray<Trace.Change>, look: Look): ReadonlyArray<string> => {
  const { id, style } = look
  const lines = changes.reduce((most, { line }) => Math.max(most, String(line).length), 0)
  const indent = " ".repeat(lines + 9)
  return changes.flatMap(({ from, line, to, uuid, why }, index) => {
    const after = style.paint("repair", stand(to, uuid, id))
    const change = `  line ${String(line).padStart(lines)}  ${id(uuid)}  ${stand(from, uuid, id)} → ${after}`
    const next = changes[index + 1]?.why
    const goesOn = next?.length === why.length && why.every((sentence, i) => sentence === next[i])
    return [change, ...(goesOn ? [] : why.map((sentence) => style.paint("faint", indent + id(sentence))))]
  })
}

/**
 * Where a message stands, in a few words.
 *
 * @category rendering
 * @since 0.1.0
 */
export const stand = (stand: Trace.Stand, own: string, id: Phrase.Short): string => {
  switch (stand.is) {
    case "root":
      return "a root"
    case "message":
      return stand.uuid === own ? "itself" : id(stand.uuid)
    case "link":
      return `${id(stand.uuid)} (no message)`
    case "missing":
      return `${id(stand.uuid)} (in no line)`
    case "sidechain":
      return `${id(stand.uuid)} (in a sidechain)`
    case "loop":
      return `${id(stand.uuid)} (leads back to itself)`
    case "behind":
      return `behind ${id(stand.uuid)}`
    case "walk":
      return "on the walk"
    case "beside":
      return "beside the walk"
    case "removed":
    case "archived":
      return stand.is
  }
}
