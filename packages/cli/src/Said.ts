/**
 * Said: what a message says, as one line for people.
 *
 *   user        Which of the two pages is slow?
 *   assistant   → Bash time curl /a
 *   result      ← Bash: 0.2 s
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import type * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"

/**
 * Who says it, in one word, and what; neither cut nor cleaned.
 *
 * @category models
 * @since 0.1.0
 */
export interface Said {
  readonly role: string
  readonly text: string
}

/**
 * Names of tools by the ids of their calls.
 *
 * @category models
 * @since 0.1.0
 */
export type Tools = ReadonlyMap<string, string>

/**
 * The tools that messages call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const tools = (messages: Iterable<{ readonly entry: Entry.Message }>): Tools => {
  const names = new Map<string, string>()
  for (const { entry } of messages) {
    if (entry.type !== "assistant") continue
    for (const block of Content.blocks(entry.message.content))
      if (Content.isToolUse(block)) names.set(block.id, block.name)
  }
  return names
}

/**
 * What a message says; the results of calls name the tool.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (entry: Entry.Message, names: Tools): Said => {
  switch (entry.type) {
    case "user":
      return ofUser(entry, names)
    case "assistant":
      return { role: "assistant", text: blocksText(Content.blocks(entry.message.content), names) }
    case "attachment":
      return {
        role: "attachment",
        text: [entry.attachment?.type ?? "", blocksText(Message.sent(entry), names)].join(" ")
      }
    case "system":
      return { role: "system", text: [entry.subtype ?? "", entry.content ?? ""].join(" ") }
  }
}

const ofUser = (entry: Entry.OfKind<"user">, names: Tools): Said => {
  const blocks = Content.blocks(entry.message.content)
  const role = blocks.some(Content.isToolResult)
    ? "result"
    : Boundary.isCompactSummary(entry)
      ? "summary"
      : entry.isMeta === true
        ? "meta"
        : "user"
  return { role, text: blocksText(blocks, names) }
}

const blocksText = (blocks: ReadonlyArray<Content.Block>, names: Tools): string =>
  blocks.map((block) => blockText(block, names)).join(" ")

const blockText = (block: Content.Block, names: Tools): string => {
  if (Content.isText(block)) return block.text
  if (Content.isThinking(block)) return `(thinking) ${block.thinking}`
  if (Content.isToolUse(block)) return call(block)
  if (!Content.isToolResult(block)) return `[${block.type}]`
  const name = names.get(block.tool_use_id) ?? block.tool_use_id
  return `← ${name}${block.is_error === true ? " failed" : ""}: ${Content.textOf(block.content)}`
}

/**
 * A call: the tool, and the first text among its arguments.
 *
 * @category getters
 * @since 0.1.0
 */
export const call = ({ input, name }: Content.ToolUse): string => `→ ${name} ${firstText(input)}`

/** The first text among a call's arguments: the path, the command, the question. */
const firstText = (input: unknown): string =>
  Object.values(typeof input === "object" && input !== null ? input : {}).find((value) => typeof value === "string") ??
  ""
