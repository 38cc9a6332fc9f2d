/**
 * ModelMessages: what may be sent to the Messages API, from the conversation, and what was left out (RECOVERY §10).
 *
 *   conversation   u1  a1(text) a2(call T1) r1 a3(call T2) r2   t1   a4
 *   messages       user u1 · assistant text T1 T2 · user r1 r2 t1 · assistant a4
 *
 * 1. Every call is followed by exactly one result, in the next user message, before its text. Roles alternate, the first
 *    is user, nothing is empty, text is well-formed Unicode.
 * 2. A reply is one assistant message with all its blocks, also where results arrived between its entries. A prompt ends
 *    a reply: the same `message.id` behind it is another one.
 * 3. Each entry of the conversation stands in a message or in `omitted` with the reason.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import type * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import * as ModelContent from "./ModelContent.ts"
import * as Round from "./Round.ts"
import type { Node } from "./SessionGraph.ts"
import type { SessionState } from "./SessionState.ts"
import * as ToolPairs from "./ToolPairs.ts"

/**
 * A block as it is sent; `synthetic` blocks stand in no entry.
 *
 * @category models
 * @since 0.1.0
 */
export interface Part {
  readonly block: Content.Block
  readonly synthetic?: true
}

/**
 * A message as it is sent, with the ids of the entries that it was made from.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelMessage {
  readonly role: "user" | "assistant"
  readonly parts: ReadonlyArray<Part>
  readonly uuids: ReadonlyArray<string>
}

/**
 * Why an entry of the conversation is not sent (RECOVERY §10).
 *
 * @category models
 * @since 0.1.0
 */
export type Why =
  | "unresolved-call"
  | "thinking-only"
  | "empty"
  | "api-error"
  | "system"
  | "orphan-result"
  | "duplicate-result"
  | "not-rendered"
  | "replaced"
  | "collapsed"
  | "before-boundary"
  | "leading-assistant"

/**
 * The model view.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelView {
  readonly messages: ReadonlyArray<ModelMessage>
  readonly omitted: ReadonlyArray<{ readonly uuid: string; readonly why: Why }>
  readonly findings: ReadonlyArray<Finding.Finding>
  /** Calls without a result: left out, or closed. */
  readonly open: ReadonlyArray<{
    readonly uuid: string
    readonly toolUseId: string
    readonly reply: string | undefined
  }>
}

/**
 * `drop`: a call without a result is left out. `close`: it gets an error result that says that it was interrupted.
 *
 * @category models
 * @since 0.1.0
 */
export type Unresolved = "drop" | "close"

/**
 * The model view of a recovered session.
 *
 * @category combinators
 * @since 0.1.0
 */
export const make = (
  state: Pick<SessionState, "conversation" | "snapshots">,
  options: { readonly unresolved?: Unresolved; readonly agentId?: string } = {}
): ModelView => {
  const start = Math.max(
    state.conversation.findLastIndex(({ entry }) => Boundary.isCompact(entry)),
    0
  )
  const context = state.conversation.slice(start)
  const { hidden, summaries } = ModelContent.collapse(context, state.snapshots.collapse.commits)
  const shown = context.filter(({ index }) => !hidden.has(index))
  const pairs = ToolPairs.make(shown, state.snapshots.replacements.get(options.agentId ?? ""))
  const draft = begin(shown, pairs, options.unresolved ?? "drop")
  for (const { uuid } of state.conversation.slice(0, start)) draft.omitted.push({ uuid, why: "before-boundary" })
  for (const node of context) {
    const summary = summaries.get(node.index)
    if (summary) say(draft, [{ block: ModelContent.wellFormed(Content.text(summary)), synthetic: true }])
    if (hidden.has(node.index)) draft.omitted.push({ uuid: node.uuid, why: "collapsed" })
    else if (node.entry.type === "assistant") addAssistant(draft, node, node.entry)
    else if (node.entry.type === "user") addUser(draft, node, node.entry)
    else addNote(draft, node, node.entry)
  }
  return finish(draft)
}

/**
 * The messages with blocks of the user behind them that stand in no entry: they join the last message where that is the
 * user's.
 *
 * @category combinators
 * @since 0.1.0
 */
export const followedBy = (
  messages: ReadonlyArray<ModelMessage>,
  blocks: ReadonlyArray<Content.Block>
): ReadonlyArray<ModelMessage> => {
  if (blocks.length === 0) return messages
  const parts = blocks.map((block) => ({ block, synthetic: true as const }))
  const last = messages.at(-1)
  return last?.role === "user"
    ? [...messages.slice(0, -1), { ...last, parts: [...last.parts, ...parts] }]
    : [...messages, { role: "user", parts, uuids: [] }]
}

/** An assistant message under construction, with the results that will follow it. */
interface Speech {
  readonly role: "assistant"
  readonly reply: string | undefined
  readonly parts: Array<Part>
  readonly uuids: Array<string>
  readonly results: Array<{ readonly order: number; readonly part: Part; readonly uuid: string | undefined }>
}

/** User parts under construction. */
interface Said {
  readonly role: "user"
  readonly parts: ReadonlyArray<Part>
  readonly uuids: ReadonlyArray<string>
}

interface Draft {
  readonly pairs: ToolPairs.ToolPairs
  readonly unresolved: Unresolved
  /** Entries that hold nothing but thinking, and stand in a message with more of their reply. */
  readonly thoughts: ReadonlySet<string>
  readonly flow: Array<Speech | Said>
  readonly omitted: Array<ModelView["omitted"][number]>
  readonly findings: Array<Finding.Finding>
  readonly open: Array<ModelView["open"][number]>
  /** The reply under way: until the next prompt, or another reply. */
  current: Speech | undefined
}

const begin = (nodes: ReadonlyArray<Node>, pairs: ToolPairs.ToolPairs, unresolved: Unresolved): Draft => ({
  pairs,
  unresolved,
  thoughts: thoughtsOf(nodes, pairs, unresolved),
  flow: [],
  omitted: [],
  findings: [],
  open: [],
  current: undefined
})

/** Thinking goes with what its own reply says before or after it, with no other reply and no prompt between. */
const thoughtsOf = (
  nodes: ReadonlyArray<Node>,
  pairs: ToolPairs.ToolPairs,
  unresolved: Unresolved
): ReadonlySet<string> => {
  const thoughts = new Set<string>()
  let waiting: Array<Node> = []
  let current: string | undefined
  for (const node of nodes) {
    const { entry, reply, uuid } = node
    if (Round.isPrompt(node)) {
      waiting = []
      current = undefined
    }
    if (!ModelContent.isReply(entry)) continue
    const blocks = sendable(entry, uuid, pairs, unresolved)
    if (blocks.length === 0) continue
    if (!blocks.every(ModelContent.isThinking)) {
      for (const thought of waiting) if (thought.reply === reply) thoughts.add(thought.uuid)
      waiting = []
      current = reply
    } else if (reply !== undefined && reply === current) thoughts.add(uuid)
    else if (reply !== undefined) waiting.push(node)
  }
  return thoughts
}

/**
 * An entry all of whose calls are open, or were made before, is left out as a whole; of several calls, those with a
 * result stay.
 */
const sendable = (
  entry: Entry.OfKind<"assistant">,
  uuid: string,
  pairs: ToolPairs.ToolPairs,
  unresolved: Unresolved
): ReadonlyArray<Content.Block> => {
  const blocks = ModelContent.ofAssistant(entry.message.content)
  const isLeftOut = (block: Content.Block): boolean =>
    Content.isToolUse(block) &&
    (pairs.isRepeated(uuid, block.id) || (unresolved === "drop" && pairs.answerTo(uuid, block.id) === undefined))
  const calls = blocks.filter(Content.isToolUse)
  return calls.length > 0 && calls.every(isLeftOut) ? [] : blocks.filter((block) => !isLeftOut(block))
}

const say = (draft: Draft, parts: ReadonlyArray<Part>, uuid?: string): void => {
  draft.flow.push({ role: "user", parts, uuids: uuid === undefined ? [] : [uuid] })
}

const addNote = (draft: Draft, { uuid }: Node, entry: Entry.OfKind<"attachment" | "system">): void => {
  const blocks = ModelContent.ofNote(entry)
  if (blocks.length > 0) say(draft, blocks.map(part), uuid)
  else draft.omitted.push({ uuid, why: entry.type === "attachment" ? "not-rendered" : "system" })
}

const addUser = (draft: Draft, node: Node, entry: Entry.OfKind<"user">): void => {
  const { at, uuid } = node
  if (Round.isPrompt(node)) draft.current = undefined
  const rest: Array<Content.Block> = []
  const answered = new Set<string>()
  let why: Why = "empty"
  for (const block of Content.blocks(entry.message.content)) {
    if (!Content.isToolResult(block)) {
      rest.push(block)
      continue
    }
    const toolUseId = block.tool_use_id
    const role = answered.has(toolUseId.toWellFormed()) ? "duplicate-result" : draft.pairs.roleOf(uuid, toolUseId)
    if (role === "answer") answered.add(toolUseId.toWellFormed())
    else draft.findings.push(Finding.make((why = role), { uuid, toolUseId }, at))
  }
  const blocks = ModelContent.ofUser(rest)
  if (blocks.length > 0) say(draft, blocks.map(part), uuid)
  else if (answered.size === 0) draft.omitted.push({ uuid, why })
}

const addAssistant = (draft: Draft, { at, calls, uuid }: Node, entry: Entry.OfKind<"assistant">): void => {
  const omit = (why: Why): void => void draft.omitted.push({ uuid, why })
  if (!ModelContent.isReply(entry)) return omit("api-error")
  const reply = Round.replyOf(entry)
  const open = calls.filter((id) => draft.pairs.answerTo(uuid, id) === undefined)
  for (const toolUseId of open) {
    draft.open.push({ uuid, toolUseId, reply })
    draft.findings.push(Finding.make("unresolved-call", { uuid, toolUseId }, at))
  }
  const blocks = sendable(entry, uuid, draft.pairs, draft.unresolved)
  if (blocks.length === 0) {
    const isServerCall = (block: Content.Block): boolean => Content.is("server_tool_use", block)
    return omit(
      open.length > 0 || Content.blocks(entry.message.content).some(isServerCall) ? "unresolved-call" : "empty"
    )
  }
  if (blocks.every(ModelContent.isThinking) && !draft.thoughts.has(uuid)) return omit("thinking-only")
  const speech = speechOf(draft, reply)
  speech.uuids.push(uuid)
  for (const block of blocks) {
    speech.parts.push(part(block))
    if (!Content.isToolUse(block)) continue
    const answer = draft.pairs.answerTo(uuid, block.id)
    speech.results.push(
      answer === undefined
        ? { order: Infinity, part: { block: ModelContent.interrupted(block.id), synthetic: true }, uuid: undefined }
        : { order: answer.order, part: part(answer.block), uuid: answer.uuid }
    )
  }
}

const part = (block: Content.Block): Part => ({ block })

/** The message of the reply that is under way, or a new one. */
const speechOf = (draft: Draft, reply: string | undefined): Speech => {
  if (draft.current !== undefined && reply !== undefined && draft.current.reply === reply) return draft.current
  const speech: Speech = { role: "assistant", reply, parts: [], uuids: [], results: [] }
  draft.current = speech
  draft.flow.push(speech)
  return speech
}

/** Puts the results behind their calls, joins neighbours of one role, and starts with a user. */
const finish = ({ findings, flow, omitted, open }: Draft): ModelView => {
  const messages: Array<{ role: "user" | "assistant"; parts: Array<Part>; uuids: Set<string> }> = []
  const push = (role: "user" | "assistant", parts: ReadonlyArray<Part>, uuids: ReadonlyArray<string>): void => {
    const last = messages.at(-1)
    const message = last?.role === role ? last : { role, parts: [], uuids: new Set<string>() }
    if (message !== last) messages.push(message)
    for (const part of parts) message.parts.push(part)
    for (const uuid of uuids) message.uuids.add(uuid)
  }
  const leading = new Set<string>()
  for (const step of flow) {
    if (step.role === "user") {
      push("user", step.parts, step.uuids)
      continue
    }
    const results = step.results.toSorted((a, b) => a.order - b.order)
    const answers = results.flatMap(({ uuid }) => uuid ?? [])
    if (messages.length === 0) {
      for (const uuid of [...step.uuids, ...answers]) leading.add(uuid)
      continue
    }
    push("assistant", step.parts, step.uuids)
    if (results.length > 0)
      push(
        "user",
        results.map((result) => result.part),
        answers
      )
  }
  for (const { uuids } of messages) for (const uuid of uuids) leading.delete(uuid)
  for (const uuid of leading) omitted.push({ uuid, why: "leading-assistant" })
  return { messages: messages.map((message) => ({ ...message, uuids: [...message.uuids] })), omitted, findings, open }
}
