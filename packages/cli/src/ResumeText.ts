/**
 * ResumeText: what was recovered from one file, for people.
 *
 *   title · session · what became of every message
 *   the conversation, a line for each entry (faint: not sent to the model)
 *   what stands beside it · how much the model is sent · findings · how the last turn ended
 *
 * 1. Each thing is one line. What was said is cut to the width of the terminal, what was found is not.
 * 2. UUIDs are shown by their first eight digits where that is enough to tell them apart.
 * 3. The counts of the third line add up: nothing that the log holds is passed over. Where not all of it was read, that
 *    line says so instead.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Interruption from "@reprise/recovery/Interruption"
import * as Extent from "./Extent.ts"
import * as Phrase from "./Phrase.ts"
import type { Resumed } from "./ResumeJson.ts"
import * as Said from "./Said.ts"
import * as Style from "./Style.ts"

/**
 * A recovered file, without a line feed at the end.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (resumed: Resumed, style: Style.Style = Style.plain()): string => {
  const short = shorten(resumed)
  return [header, conversation, beside, model, findings, interruption]
    .map((section) => section(resumed, style, short))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")
}

/**
 * A file that could not be read, in one line.
 *
 * @category rendering
 * @since 0.1.0
 */
export const renderError = (
  error: { readonly _tag: string; readonly message: string },
  style: Style.Style = Style.plain()
): string => `${style.paint("loss", error._tag)}  ${Style.clean(error.message)}`

type Section = (resumed: Resumed, style: Style.Style, short: Phrase.Short) => ReadonlyArray<string>

const shorten = ({ state }: Resumed): Phrase.Short =>
  Phrase.shorten([
    ...state.conversation.map(({ uuid }) => uuid),
    ...state.removed,
    ...state.branches.map(({ leaf }) => leaf)
  ])

/**
 * Title, session and file, and what became of every message.
 *
 * @category rendering
 * @since 0.1.0
 */
export const header = ({ file, sessionId, state }: Resumed, style: Style.Style): ReadonlyArray<string> => {
  const where = Phrase.oneLine([...(sessionId === null ? [] : [`session ${sessionId}`]), file].join(" · "))
  return [
    style.paint("title", Style.cut(Phrase.oneLine(state.metadata.title ?? "") || "(no title)", style.columns)),
    style.paint("faint", where),
    Extent.sum(state)
  ]
}

const conversation: Section = ({ state, view }, style, short) => {
  if (state.conversation.length === 0) return [nothing(state)]
  const unsent = new Set(view.omitted.map(({ uuid }) => uuid))
  const tools = Said.tools(state.conversation)
  const longest = state.conversation.reduce((most, { uuid }) => Math.max(most, Style.width(short(uuid))), 0)
  const ids = Math.min(36, longest)
  return state.conversation.map((node) => {
    const { role, text } = Said.of(node.entry, tools)
    const id = Style.fill(Style.cut(Phrase.oneLine(short(node.uuid)), ids), ids)
    const said = Style.cut(Phrase.oneLine(text), style.columns - ids - 16)
    const start = role.padEnd(10)
    if (unsent.has(node.uuid)) return style.paint("faint", `  ${id}  ${start}  ${said}`.trimEnd())
    const tone = role === "user" || role === "assistant" ? role : undefined
    return `  ${style.paint("faint", id)}  ${tone === undefined ? start : style.paint(tone, start)}  ${said}`.trimEnd()
  })
}

const nothing = ({ messages, sidechains }: Resumed["state"]): string => {
  if (messages > 0) return "There is no conversation: nothing was said."
  return sidechains.length > 0
    ? "The main lane is empty: all entries belong to sidechains. --sidechain recovers the log of one."
    : "The log holds no messages."
}

/** Branches that are named one by one; of more, only the number is of use. */
const named = 5

const beside: Section = ({ progress, state }, style, short) => {
  const { archived, branches, conversation, removed, sidechains } = state
  const all: Array<readonly [string, string]> = []
  const first = conversation[0]
  const isWhole = state.extent.partial === undefined
  if (first !== undefined && archived > 0 && isWhole && Boundary.isCompact(first.entry)) {
    const kept = conversation.filter(({ index }) => index < first.index).length
    const keeps = kept === 0 ? "" : `; ${kept} from before it ${kept === 1 ? "is" : "are"} kept`
    all.push(["archived", `${Phrase.times(archived, "message")} before the boundary on line ${first.at.line}${keeps}`])
  }
  if (removed.length > 0)
    all.push(["removed", `${Phrase.times(removed.length, "message")} by a snip: ${removed.map(short).join(" ")}`])
  for (const { entries, forkPoint, leaf } of branches.slice(0, named)) {
    const start = forkPoint === null ? "with a root of its own" : `that left at ${short(forkPoint)}`
    all.push(["branch", `${Phrase.times(entries, "message")} up to ${short(leaf)}, ${start}`])
  }
  if (branches.length > named) all.push(["branches", `${branches.length - named} more`])
  for (const { agentId, entries, root } of sidechains) {
    const whose = agentId === null ? "no named agent" : `agent ${agentId}`
    all.push(["sidechain", `${Phrase.times(entries, "entry", "entries")} of ${whose}, from ${short(root)}`])
  }
  if (progress > 0) {
    all.push([
      "progress",
      `${Phrase.times(progress, "legacy entry", "legacy entries")}, looked through: no messages, but parents of some`
    ])
  }
  return all.length === 0 ? [] : [style.paint("title", "Beside the conversation"), ...Phrase.rows(style, all)]
}

const model: Section = ({ state, view }, style) => {
  if (state.conversation.length === 0) return []
  const reasons = new Map<string, number>()
  for (const { why } of view.omitted) reasons.set(why, (reasons.get(why) ?? 0) + 1)
  const unsent = Array.from(reasons, ([why, count]) => `${count} ${why}`).join(", ")
  const entries = state.conversation.length - view.omitted.length
  const sent = `${Phrase.times(view.messages.length, "message")} from ${Phrase.times(entries, "entry", "entries")}`
  return [`${style.paint("title", "To the model:")} ${sent}${unsent === "" ? "" : `; left out: ${unsent}`}`]
}

const findings: Section = ({ findings: all }, style, short) =>
  all.length === 0 ? [] : [style.paint("title", "Findings"), ...Phrase.findings(style, all, short)]

const interruption: Section = ({ interruption: ended, state }, style, short) => {
  const leaf = state.conversation.at(-1)
  if (leaf === undefined) return []
  const heading = style.paint("title", "The last turn")
  switch (ended.kind) {
    case "none":
      return [`${heading} has ended; nothing is sent before the next prompt.`]
    case "interrupted-prompt":
      return [
        `${heading} ended before the reply to ${Phrase.oneLine(short(ended.uuid))}; that prompt is sent again as it is.`
      ]
    case "interrupted-turn":
      return [
        `${heading} was interrupted after ${Phrase.oneLine(short(ended.uuid))}; the model is sent ${JSON.stringify(Interruption.continuation)}`
      ]
  }
}
