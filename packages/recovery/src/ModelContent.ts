/**
 * ModelContent: single blocks and texts as the Messages API accepts them. Nothing here looks at more than one entry,
 * but for a collapsed span.
 *
 * 1. A block that needs no change is the block that was read.
 * 2. Lone surrogates become U+FFFD: here, and never in the log.
 */
import * as Content from "@reprise/domain/Content"
import type * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as Json from "./internal/json.ts"
import type { Node } from "./SessionGraph.ts"

/**
 * Whether a block is thinking, readable or not.
 *
 * @category guards
 * @since 0.1.0
 */
export const isThinking = (block: Content.Block): boolean =>
  block.type === "thinking" || block.type === "redacted_thinking"

/**
 * Whether an entry is a reply of the model, and no error that only looks like one.
 *
 * @category guards
 * @since 0.1.0
 */
export const isReply = (entry: Entry.Message): entry is Entry.OfKind<"assistant"> =>
  entry.type === "assistant" && entry.isApiErrorMessage !== true

const isBlank = (block: Content.Block): boolean => Content.isText(block) && block.text.trim() === ""

/** Blocks that only a reply holds. */
const isSpoken = (block: Content.Block): boolean =>
  isThinking(block) || block.type === "tool_use" || block.type === "server_tool_use"

/**
 * The blocks of an assistant entry that can be sent: none that lacks what its type asks for, no blank text, no result of
 * ours, no call of a server tool that was left open, no call twice; a call's input is an object.
 *
 * @category combinators
 * @since 0.1.0
 */
export const ofAssistant = (content: unknown): ReadonlyArray<Content.Block> => {
  const blocks = Content.blocks(content)
  const answered = new Set(blocks.flatMap((block) => ("tool_use_id" in block ? [block.tool_use_id] : [])))
  const calls = new Set<string>()
  const isNew = (call: string): boolean => calls.size < calls.add(call.toWellFormed()).size
  return blocks
    .filter((block) => !Content.isIllFormed(block) && !isBlank(block) && block.type !== "tool_result")
    .filter((block) => !Content.is("server_tool_use", block) || answered.has(block.id))
    .filter((block) => !Content.isToolUse(block) || isNew(block.id))
    .map((block) =>
      Json.toWellFormed(Content.isToolUse(block) && !isObject(block.input) ? { ...block, input: {} } : block)
    )
}

/**
 * The blocks of user text that can be sent: none that lacks what its type asks for, or that only a reply holds; an empty
 * text is none.
 *
 * @category combinators
 * @since 0.1.0
 */
export const ofUser = (blocks: ReadonlyArray<Content.Block>): ReadonlyArray<Content.Block> =>
  blocks
    .filter((block) => !Content.isIllFormed(block) && !isSpoken(block) && block.type !== "tool_result")
    .filter((block) => !Content.isText(block) || block.text !== "")
    .map(Json.toWellFormed)

/**
 * The blocks of a note that can be sent: what an attachment says, or a command that was run beside the model; other
 * system messages say nothing to it. An entry, or its body alone.
 *
 * @category combinators
 * @since 0.1.0
 */
export const ofNote = (note: Message.MessageBody<"attachment" | "system">): ReadonlyArray<Content.Block> => {
  if (note.type === "attachment") return ofUser(Message.sent(note))
  const isSaid = note.subtype === "local_command" && typeof note.content === "string"
  return isSaid ? ofUser([Content.text(note.content)]) : []
}

/**
 * A result as it can be sent, with the text that stands for it where one does. Of a list, the blocks that lack nothing
 * stay; content that is neither text nor a list says nothing to the model.
 *
 * @category combinators
 * @since 0.1.0
 */
export const replace = (
  block: Content.ToolResult,
  replaced: ReadonlyMap<string, unknown> | undefined
): Content.ToolResult => {
  const { content: written, is_error: isError } = block
  const replacement = replaced?.get(block.tool_use_id)
  const content = inside(typeof replacement === "string" || Array.isArray(replacement) ? replacement : written)
  if (content === written && (isError === undefined || typeof isError === "boolean")) return Json.toWellFormed(block)
  const { content: _, is_error: __, ...rest } = block
  return Json.toWellFormed({
    ...rest,
    ...(content === undefined ? undefined : { content }),
    ...(typeof isError === "boolean" ? { is_error: isError } : undefined)
  })
}

/** The content of a result, without what cannot be sent; the content itself where all can. */
const inside = (content: unknown): unknown => {
  if (!Array.isArray(content)) return typeof content === "string" ? content : undefined
  const blocks = Content.blocks(content).filter((block) => !Content.isIllFormed(block))
  return blocks.length === content.length && blocks.every((block, i) => block === content[i]) ? content : blocks
}

/**
 * The result that closes a call which was never answered.
 *
 * @category constructors
 * @since 0.1.0
 */
export const interrupted = (toolUseId: string): Content.ToolResult =>
  Content.toolResult({
    tool_use_id: toolUseId,
    content: "The call was interrupted before it gave a result.",
    is_error: true
  })

/**
 * The spans of a conversation that commits hide, and the summary that stands at the start of each (by node index).
 *
 * @category models
 * @since 0.1.0
 */
export interface Collapsed {
  readonly hidden: ReadonlySet<number>
  readonly summaries: ReadonlyMap<number, string>
}

/**
 * What the commits of context collapse hide. A commit counts where both its ends are on the conversation, in order; a
 * later commit may hide an earlier one.
 *
 * @category combinators
 * @since 0.1.0
 */
export const collapse = (
  nodes: ReadonlyArray<Node>,
  commits: ReadonlyArray<Entry.OfKind<"marble-origami-commit">>
): Collapsed => {
  const hidden = new Set<number>()
  const summaries = new Map<number, string>()
  if (commits.length === 0) return { hidden, summaries }
  const places = new Map(nodes.map((node, place) => [node.uuid, place]))
  // From the last commit on, each place is hidden once: `next` leads over those that are.
  const next = Int32Array.from({ length: nodes.length + 1 }, (_, place) => place)
  const shown = (from: number): number => {
    let place = from
    while (next[place] !== place) place = next[place] = next[next[place]!]!
    return place
  }
  for (const { firstArchivedUuid, lastArchivedUuid, summary, summaryContent } of commits.toReversed()) {
    const first = places.get(firstArchivedUuid ?? "")
    const last = places.get(lastArchivedUuid ?? "")
    const text = summaryContent ?? summary
    if (first === undefined || last === undefined || last < first || text === undefined) continue
    const { index } = nodes[first]!
    if (!hidden.has(index)) summaries.set(index, text)
    for (let place = shown(first); place <= last; place = shown(place)) {
      hidden.add(nodes[place]!.index)
      next[place] = place + 1
    }
  }
  return { hidden, summaries }
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * The value with U+FFFD for every lone surrogate; the value itself where there is none.
 *
 * @category combinators
 * @since 0.1.0
 */
export const wellFormed: <A>(value: A) => A = Json.toWellFormed
