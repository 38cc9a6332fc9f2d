/**
 * Round: one reply of the model with the calls it makes, their results, and what hangs on those.
 *
 *   prompt ─ text ─ call a ─ call b          one reply: entries that share `message.id`
 *                     │        └─ result b ─ next reply …
 *                     └─ result a ─ note     notes: attachments, injected meta lines, system lines
 *
 * The words in which RECOVERY §7, §8, §10 and §11 speak of single entries.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import type * as Entry from "@reprise/domain/Entry"

/**
 * A message with the reply that it is a part of and the ids of the calls that it makes and answers, read once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Part {
  readonly entry: Entry.Message
  readonly reply: string | undefined
  readonly calls: ReadonlyArray<string>
  readonly answers: ReadonlyArray<string>
}

/**
 * Reads the reply, the calls and the answers of a message.
 *
 * @category constructors
 * @since 0.1.0
 */
export const read = (entry: Entry.Message): Part => ({
  entry,
  reply: replyOf(entry),
  calls: callsOf(entry),
  answers: answersOf(entry)
})

/**
 * The reply that an assistant entry is a part of: its `message.id`. Grouping needs an id; an entry without one is a
 * reply of its own.
 *
 * @category getters
 * @since 0.1.0
 */
export const replyOf = (entry: Entry.Message): string | undefined =>
  entry.type === "assistant" ? entry.message.id : undefined

/**
 * The ids of the calls that an entry makes.
 *
 * @category getters
 * @since 0.1.0
 */
export const callsOf = (entry: Entry.Message): ReadonlyArray<string> =>
  entry.type === "assistant" ? blockIds(entry.message.content, Content.isToolUse, (block) => block.id) : none

/**
 * The ids of the calls that an entry answers.
 *
 * @category getters
 * @since 0.1.0
 */
export const answersOf = (entry: Entry.Message): ReadonlyArray<string> =>
  entry.type === "user" ? blockIds(entry.message.content, Content.isToolResult, (block) => block.tool_use_id) : none

const none: ReadonlyArray<string> = []

const blockIds = <B>(
  content: string | ReadonlyArray<unknown>,
  is: (block: unknown) => block is B,
  id: (block: B) => string
): ReadonlyArray<string> => {
  if (typeof content === "string") return none
  let ids: Array<string> | undefined
  for (const block of content) if (is(block)) (ids ??= []).push(id(block))
  return ids ?? none
}

/**
 * Whether a person or program said something: a user entry that is neither injected nor a tool result.
 *
 * @category guards
 * @since 0.1.0
 */
export const isPrompt = ({ answers, entry }: Part): boolean =>
  entry.type === "user" && entry.isMeta !== true && answers.length === 0

/**
 * Whether an entry is a turn of its own: a prompt or a part of a reply.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTurn = (part: Part): boolean => part.entry.type === "assistant" || isPrompt(part)

/**
 * Whether an entry only accompanies what it hangs on: an attachment, an injected line, a system line. A rewind and a
 * boundary do more than that.
 *
 * @category guards
 * @since 0.1.0
 */
export const isNote = ({ answers, entry }: Part): boolean =>
  entry.type === "attachment" ||
  (entry.type === "system" && !isRewind(entry) && !Boundary.isCompact(entry) && !Boundary.isSnip(entry)) ||
  (entry.type === "user" && entry.isMeta === true && answers.length === 0)

/**
 * Whether an entry is the marker of a rewind: the conversation goes on from its parent (RECOVERY §8).
 *
 * @category guards
 * @since 0.1.0
 */
export const isRewind = (entry: Entry.Message): boolean =>
  entry.type === "system" && entry.subtype === "informational" && entry.isMeta === true

/**
 * Whether an entry makes a chain a conversation: a user, an assistant, or a local command, which the model sees as user
 * text.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSpeech = (entry: Entry.Message): boolean =>
  entry.type === "user" || entry.type === "assistant" || (entry.type === "system" && entry.subtype === "local_command")
