/**
 * ShowText: a conversation as people read it.
 *
 *   title · session
 *
 *   user  2026-01-01 12:00
 *     Which of the two pages is slow?
 *
 *   assistant  2026-01-01 12:00
 *     I will look.
 *     → Bash time curl /a
 *       ← 0.2 s
 *
 *   how many findings there are, and what tells them
 *
 * 1. Lines are wrapped to the terminal and keep their indent. Results, and what programs put in, are shortened.
 * 2. A result stands where it was written; it names its call where that is not the one right above.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import type * as Entry from "@reprise/domain/Entry"
import type { Resumed } from "./ResumeJson.ts"
import * as Phrase from "./Phrase.ts"
import * as ResumeText from "./ResumeText.ts"
import * as Said from "./Said.ts"
import * as Style from "./Style.ts"

/**
 * How many lines of a result are shown, and whether thinking is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  readonly lines: number
  readonly thinking: boolean
}

/**
 * As much as one wants to read.
 *
 * @category constants
 * @since 0.1.0
 */
export const some: Limits = { lines: 5, thinking: false }

/**
 * Everything.
 *
 * @category constants
 * @since 0.1.0
 */
export const all: Limits = { lines: Infinity, thinking: true }

/**
 * A recovered file as texts to be printed one after the other; `explain` is the command that tells more of what was
 * found in it.
 *
 * @category rendering
 * @since 0.1.0
 */
export function* render(
  resumed: Resumed,
  style: Style.Style,
  limits: Limits,
  explain: string
): Generator<string, void, void> {
  yield `${ResumeText.header(resumed, style).join("\n")}\n`
  const { archived, conversation, extent } = resumed.state
  if (archived > 0 && extent.partial === undefined)
    yield `\n${style.paint("faint", `(${Phrase.times(archived, "message")} before a compaction)`)}\n`
  const tell = teller(style, limits, Said.tools(conversation))
  for (const { entry } of conversation) {
    const told = tell(entry)
    if (told !== "") yield told
  }
  if (conversation.length === 0) yield "\nThere is no conversation: nothing was said.\n"
  const { findings } = resumed
  if (findings.length > 0) yield `\n${style.paint("title", "Findings:")} ${Phrase.tally(findings)}; see ${explain}\n`
}

/**
 * Tells messages one after the other, each under a heading where another one speaks; what says nothing is no text.
 * `tools` are those that were called before.
 *
 * @category rendering
 * @since 0.1.0
 */
export const teller = (style: Style.Style, limits: Limits, tools: Said.Tools): ((entry: Entry.Message) => string) => {
  const known = new Map(tools)
  let last = ""
  let call: string | undefined
  return (entry) => {
    for (const [id, name] of Said.tools([{ entry }])) known.set(id, name)
    const lines = message(entry, { tools: known, style, limits, call })
    call = callsOf(entry).at(-1) ?? call
    if (lines.length === 0) return ""
    const { role } = Said.of(entry, known)
    // A reply is written in pieces, and its results between them: one heading is enough.
    const goesOn = role === last || (role === "result" && last !== "")
    const heading = goesOn ? [] : ["", headingOf(entry, role, style)]
    if (role !== "result" || last === "") last = role
    return [...heading, ...lines].map((line) => `${line}\n`).join("")
  }
}

const headingOf = (entry: Entry.Message, role: string, style: Style.Style): string => {
  const time = entry.timestamp === undefined ? "" : `  ${style.paint("faint", Phrase.minute(entry.timestamp))}`
  return style.paint(role === "user" || role === "assistant" ? role : "title", role) + time
}

/** What the texts of a message need: `call` is the one right above. */
interface Look {
  readonly tools: Said.Tools
  readonly style: Style.Style
  readonly limits: Limits
  readonly call: string | undefined
}

const callsOf = (entry: Entry.Message): ReadonlyArray<string> =>
  entry.type === "assistant"
    ? Content.blocks(entry.message.content)
        .filter(Content.isToolUse)
        .map(({ id }) => id)
    : []

const message = (entry: Entry.Message, look: Look): ReadonlyArray<string> => {
  const { limits, style, tools } = look
  switch (entry.type) {
    case "user": {
      const isPut = entry.isMeta === true || Boundary.isCompactSummary(entry)
      return blocks(entry.message.content, look, isPut ? limits.lines : Infinity)
    }
    case "assistant":
      return blocks(entry.message.content, look, Infinity)
    default: {
      const text = Said.of(entry, tools).text.trim()
      return text === "" ? [] : [style.paint("faint", Style.cut(`  ${Phrase.oneLine(text)}`, style.columns))]
    }
  }
}

const blocks = (content: unknown, look: Look, most: number): ReadonlyArray<string> => {
  const { limits, style } = look
  return Content.blocks(content).flatMap((block) => {
    if (Content.isText(block)) return text(block.text, "  ", style, most)
    if (Content.isThinking(block)) {
      if (!limits.thinking || block.thinking === "") return []
      return text(block.thinking, "  ", style, Infinity).map((line) => style.paint("faint", line))
    }
    if (Content.isToolUse(block)) {
      const called = Style.cut(Phrase.oneLine(Said.call(block)), style.columns - 2)
      return [`  ${called}`]
    }
    if (!Content.isToolResult(block)) return [style.paint("faint", `  [${Phrase.oneLine(block.type)}]`)]
    return result(block, look)
  })
}

const result = (block: Content.ToolResult, { call, limits, style, tools }: Look): ReadonlyArray<string> => {
  const name = tools.get(block.tool_use_id) ?? block.tool_use_id
  const named = block.tool_use_id === call ? "" : `${Phrase.oneLine(name)}: `
  const failed = block.is_error === true ? "failed: " : ""
  const said = named + failed + Content.textOf(block.content).trim()
  const [first = "", ...others] = text(said, "      ", style, limits.lines)
  const shown = first.trimStart().replace(failed, style.paint("loss", failed))
  return [`    ← ${failed === "" ? first.trimStart() : shown}`.trimEnd(), ...others]
}

/** A text in lines that fit, the first ones of it. */
const text = (written: string, indent: string, style: Style.Style, most: number): ReadonlyArray<string> => {
  const lines = Style.lines(written.trim())
  const { more, shown } = Phrase.first(lines, most)
  const left = more === 0 ? [] : [style.paint("faint", `${indent}… and ${more} more lines (--full shows them)`)]
  return [...shown.flatMap((line) => fitted(line, indent, style.columns)), ...left]
}

const fitted = (line: string, indent: string, columns: number): ReadonlyArray<string> => {
  const room = Math.max(20, columns - indent.length)
  if (Style.width(line) <= room) return [(indent + line).trimEnd()]
  const own = /^ */.exec(line)![0].slice(0, room >> 1)
  return Phrase.wrap(line.trim().split(" "), room - own.length).map((part) => indent + own + part)
}
