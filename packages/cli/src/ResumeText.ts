/**
 * ResumeText: what was recovered from one file, for people.
 *
 *   title · session · what became of every message
 *   the conversation, a line for each entry (faint: not sent to the model)
 *   what stands beside it · how much the model is sent · findings · how the last turn ended
 *
 * 1. Each thing is one line. What was said is cut to the width of the terminal, what was found is not.
 * 2. UUIDs are shown by their first eight digits where that is enough to tell them apart.
 * 3. The counts of the third line add up: nothing that the log holds is passed over.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import type * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import * as Message from "@reprise/domain/Message"
import * as Interruption from "@reprise/recovery/Interruption"
import type { Node } from "@reprise/recovery/SessionGraph"
import type { Resumed } from "./ResumeJson.ts"
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

type Short = (text: string) => string
type Section = (resumed: Resumed, style: Style.Style, short: Short) => ReadonlyArray<string>

const uuids = /\b([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi
const firstDigits: Short = (text) => text.replace(uuids, "$1")

/** Shortens the UUIDs in a text, unless two of the log's would then look the same (made by hand, or by the clock). */
const shorten = ({ state }: Resumed): Short => {
  const ids = [
    ...state.conversation.map(({ uuid }) => uuid),
    ...state.removed,
    ...state.branches.map(({ leaf }) => leaf)
  ]
  return new Set(ids.map(firstDigits)).size === new Set(ids).size ? firstDigits : (text) => text
}

const times = (count: number, one: string, many = `${one}s`): string => (count === 1 ? `1 ${one}` : `${count} ${many}`)

/** As much of a text as a line can show; what follows need not be looked at. */
const oneLine = (text: string): string => Style.clean(text.slice(0, 2000))

/** Rows of a label and a text, aligned. */
const rows = (
  style: Style.Style,
  all: ReadonlyArray<readonly [label: string, text: string, tone?: Style.Tone | undefined]>
): ReadonlyArray<string> => {
  const labels = Math.max(...all.map(([label]) => label.length))
  return all.map(([label, text, tone]) => {
    const shown = label.padEnd(labels)
    return `  ${tone === undefined ? shown : style.paint(tone, shown)}  ${Style.clean(text)}`
  })
}

const header: Section = ({ file, sessionId, state }, style) => {
  const { archived, branches, conversation, messages, metadata, removed } = state
  const counts = [
    times(conversation.length, "in the conversation", "in the conversation"),
    archived > 0 && `${archived} archived`,
    removed.length > 0 && `${removed.length} removed`,
    branches.length > 0 && `${ownEntries(branches)} on ${times(branches.length, "branch", "branches")}`
  ].filter((count) => count !== false)
  const where = oneLine([...(sessionId === null ? [] : [`session ${sessionId}`]), file].join(" · "))
  return [
    style.paint("title", Style.cut(oneLine(metadata.title ?? "") || "(no title)", style.columns)),
    style.paint("faint", where),
    messages === 0 ? "0 messages" : `${times(messages, "message")}: ${counts.join(", ")}`
  ]
}

const ownEntries = (branches: ReadonlyArray<{ readonly entries: number }>): number =>
  branches.reduce((sum, { entries }) => sum + entries, 0)

const conversation: Section = ({ state, view }, style, short) => {
  if (state.conversation.length === 0) return [nothing(state)]
  const unsent = new Set(view.omitted.map(({ uuid }) => uuid))
  const tools = toolNames(state.conversation)
  const ids = Math.min(36, Math.max(...state.conversation.map(({ uuid }) => Style.width(short(uuid)))))
  return state.conversation.map((node) => {
    const { role, text } = describe(node, tools)
    const id = Style.fill(Style.cut(oneLine(short(node.uuid)), ids), ids)
    const said = Style.cut(oneLine(text), style.columns - ids - 16)
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

const toolNames = (nodes: ReadonlyArray<Node>): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  for (const { entry } of nodes) {
    if (entry.type !== "assistant") continue
    for (const block of Content.blocks(entry.message.content))
      if (Content.isToolUse(block)) names.set(block.id, block.name)
  }
  return names
}

interface Described {
  readonly role: string
  readonly text: string
}

const describe = ({ entry }: Node, tools: ReadonlyMap<string, string>): Described => {
  switch (entry.type) {
    case "user":
      return describeUser(entry, tools)
    case "assistant":
      return { role: "assistant", text: blocksText(Content.blocks(entry.message.content), tools) }
    case "attachment":
      return {
        role: "attachment",
        text: [entry.attachment?.type ?? "", blocksText(Message.sent(entry), tools)].join(" ")
      }
    case "system":
      return { role: "system", text: [entry.subtype ?? "", entry.content ?? ""].join(" ") }
  }
}

const describeUser = (entry: Entry.OfKind<"user">, tools: ReadonlyMap<string, string>): Described => {
  const blocks = Content.blocks(entry.message.content)
  const role = blocks.some(Content.isToolResult)
    ? "result"
    : Boundary.isCompactSummary(entry)
      ? "summary"
      : entry.isMeta === true
        ? "meta"
        : "user"
  return { role, text: blocksText(blocks, tools) }
}

const blocksText = (blocks: ReadonlyArray<Content.Block>, tools: ReadonlyMap<string, string>): string =>
  blocks.map((block) => blockText(block, tools)).join(" ")

const blockText = (block: Content.Block, tools: ReadonlyMap<string, string>): string => {
  if (Content.isText(block)) return block.text
  if (Content.isThinking(block)) return `(thinking) ${block.thinking}`
  if (Content.isToolUse(block)) return `→ ${block.name} ${firstText(block.input)}`
  if (!Content.isToolResult(block)) return `[${block.type}]`
  const name = tools.get(block.tool_use_id) ?? block.tool_use_id
  return `← ${name}${block.is_error === true ? " failed" : ""}: ${Content.textOf(block.content)}`
}

/** The first text among a call's arguments: the path, the command, the question. */
const firstText = (input: unknown): string =>
  Object.values(typeof input === "object" && input !== null ? input : {}).find((value) => typeof value === "string") ??
  ""

/** Branches that are named one by one; of more, only the number is of use. */
const named = 5

const beside: Section = ({ progress, state }, style, short) => {
  const { archived, branches, conversation, removed, sidechains } = state
  const all: Array<readonly [string, string]> = []
  const first = conversation[0]
  if (first !== undefined && Boundary.isCompact(first.entry)) {
    const kept = conversation.filter(({ index }) => index < first.index).length
    const keeps = kept === 0 ? "" : `; ${kept} from before it ${kept === 1 ? "is" : "are"} kept`
    all.push(["archived", `${times(archived, "message")} before the boundary on line ${first.at.line}${keeps}`])
  }
  if (removed.length > 0)
    all.push(["removed", `${times(removed.length, "message")} by a snip: ${removed.map(short).join(" ")}`])
  for (const { entries, forkPoint, leaf } of branches.slice(0, named)) {
    const start = forkPoint === null ? "with a root of its own" : `that left at ${short(forkPoint)}`
    all.push(["branch", `${times(entries, "message")} up to ${short(leaf)}, ${start}`])
  }
  if (branches.length > named) all.push(["branches", `${branches.length - named} more`])
  for (const { agentId, entries, root } of sidechains) {
    const whose = agentId === null ? "no named agent" : `agent ${agentId}`
    all.push(["sidechain", `${times(entries, "entry", "entries")} of ${whose}, from ${short(root)}`])
  }
  if (progress > 0) {
    all.push([
      "progress",
      `${times(progress, "legacy entry", "legacy entries")}, looked through: no messages, but parents of some`
    ])
  }
  return all.length === 0 ? [] : [style.paint("title", "Beside the conversation"), ...rows(style, all)]
}

const model: Section = ({ state, view }, style) => {
  if (state.conversation.length === 0) return []
  const reasons = new Map<string, number>()
  for (const { why } of view.omitted) reasons.set(why, (reasons.get(why) ?? 0) + 1)
  const unsent = Array.from(reasons, ([why, count]) => `${count} ${why}`).join(", ")
  const entries = state.conversation.length - view.omitted.length
  const sent = `${times(view.messages.length, "message")} from ${times(entries, "entry", "entries")}`
  return [`${style.paint("title", "To the model:")} ${sent}${unsent === "" ? "" : `; left out: ${unsent}`}`]
}

const severities: ReadonlyArray<Finding.Severity> = ["loss", "repair", "note"]

const findings: Section = ({ findings: all }, style, short) => {
  if (all.length === 0) return []
  const rank = ({ line, severity }: Finding.Finding): readonly [number, number] => [
    severities.indexOf(severity),
    line ?? Infinity
  ]
  const sorted = all.toSorted((a, b) => {
    const [left, right] = [rank(a), rank(b)]
    return left[0] - right[0] || (left[1] === right[1] ? 0 : left[1] - right[1])
  })
  const lines = Math.max(...sorted.map(({ line }) => String(line ?? "").length))
  return [
    style.paint("title", "Findings"),
    ...rows(
      style,
      sorted.map((finding) => {
        const { line, severity } = finding
        const place = line === undefined ? "" : `line ${String(line).padStart(lines)}`
        const label = `${severity.padEnd(6)}  ${place.padEnd(lines + 5)}`
        return [label, short(Finding.explain(finding)), severity === "note" ? undefined : severity]
      })
    )
  ]
}

const interruption: Section = ({ interruption: ended, state }, style, short) => {
  const leaf = state.conversation.at(-1)
  if (leaf === undefined) return []
  const heading = style.paint("title", "The last turn")
  switch (ended.kind) {
    case "none":
      return [`${heading} has ended; nothing is sent before the next prompt.`]
    case "interrupted-prompt":
      return [`${heading} ended before the reply to ${oneLine(short(ended.uuid))}; that prompt is sent again as it is.`]
    case "interrupted-turn":
      return [
        `${heading} was interrupted after ${oneLine(short(ended.uuid))}; the model is sent ${JSON.stringify(Interruption.continuation)}`
      ]
  }
}
