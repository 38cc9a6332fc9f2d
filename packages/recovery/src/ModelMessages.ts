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
import * as Message from "@reprise/domain/Message"
import * as ModelContent from "./ModelContent.ts"
import * as Round from "./Round.ts"
import type { Node } from "./SessionGraph.ts"
import type { SessionState } from "./SessionState.ts"

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
 * Why an entry of the conversation is not sent (the closed list of RECOVERY §15).
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
  readonly open: ReadonlyArray<{ readonly uuid: string; readonly toolUseId: string; readonly reply: string | undefined }>
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
  const view = new Draft(options.unresolved ?? "drop")
  const start = state.conversation.findLastIndex(({ entry }) => Boundary.isCompact(entry))
  const context = state.conversation.slice(Math.max(start, 0))
  for (const { uuid } of state.conversation.slice(0, Math.max(start, 0))) view.omit(uuid, "before-boundary")
  const replaced = state.snapshots.replacements.get(options.agentId ?? "")
  const collapsed = ModelContent.collapse(context, state.snapshots.collapse.commits)
  const shown = context.filter(({ index }) => !collapsed.hidden.has(index))
  view.index(shown, replaced)
  for (const node of context) {
    const summary = collapsed.summaries.get(node.index)
    if (summary !== undefined) view.say([{ block: Content.text(summary), synthetic: true }])
    if (collapsed.hidden.has(node.index)) view.omit(node.uuid, "collapsed")
    else view.add(node)
  }
  return view.finish()
}

/** An assistant message under construction, with the results that will follow it. */
interface Speech {
  readonly reply: string | undefined
  readonly parts: Array<Part>
  readonly uuids: Array<string>
  readonly results: Array<{ readonly order: number; readonly part: Part; readonly uuid: string | undefined }>
}

/** User parts under construction. */
interface Said {
  readonly parts: Array<Part>
  readonly uuids: Array<string>
}

interface Result {
  readonly order: number
  readonly uuid: string
  readonly block: Content.ToolResult
}

class Draft {
  private readonly unresolved: Unresolved
  private readonly flow: Array<Speech | Said> = []
  private readonly omitted: Array<{ readonly uuid: string; readonly why: Why }> = []
  private readonly findings: Array<Finding.Finding> = []
  private readonly open: Array<ModelView["open"][number]> = []
  /** The first result of each call, until a call takes it. */
  private readonly results = new Map<string, Result>()
  private readonly answers = new Map<string, Result>()
  private readonly taken = new Set<string>()
  /** Replies of which more than thinking is sent. */
  private readonly spoken = new Set<string>()
  private current: Speech | undefined

  constructor(unresolved: Unresolved) {
    this.unresolved = unresolved
  }

  omit(uuid: string, why: Why): void {
    this.omitted.push({ uuid, why })
  }

  /** First pass: which result answers which call, and which replies say more than they think. */
  index(nodes: ReadonlyArray<Node>, replaced: ReadonlyMap<string, unknown> | undefined): void {
    nodes.forEach(({ entry, uuid }, order) => {
      if (entry.type !== "user") return
      for (const block of Content.blocks(entry.message.content)) {
        if (!Content.isToolResult(block) || this.results.has(block.tool_use_id)) continue
        this.results.set(block.tool_use_id, { order, uuid, block: ModelContent.replace(block, replaced) })
      }
    })
    for (const { entry, uuid } of nodes) {
      if (entry.type !== "assistant" || entry.isApiErrorMessage === true) continue
      for (const id of Round.callsOf(entry)) {
        const result = this.results.get(id)
        if (result !== undefined && !this.answers.has(id)) this.answers.set(id, result)
        else this.repeated.add(`${uuid} ${id}`)
      }
    }
    for (const { entry, uuid } of nodes) {
      if (entry.type !== "assistant" || entry.isApiErrorMessage === true) continue
      const { blocks } = this.sendable(entry, uuid)
      const reply = Round.replyOf(entry)
      if (reply !== undefined && blocks.some((block) => !ModelContent.isThinking(block))) this.spoken.add(reply)
    }
  }

  /** Calls that repeat the id of an earlier one, or that nothing answers. */
  private readonly repeated = new Set<string>()

  private isOpen(uuid: string, id: string): boolean {
    return this.repeated.has(`${uuid} ${id}`)
  }

  /** The blocks of an assistant entry that can be sent. */
  private sendable(entry: Entry.OfKind<"assistant">, uuid: string): { blocks: ReadonlyArray<Content.Block>; open: boolean } {
    const blocks = ModelContent.ofAssistant(entry.message.content)
    const isUnanswered = (block: Content.Block): boolean =>
      this.unresolved === "drop" && Content.isToolUse(block) && this.isOpen(uuid, block.id)
    const calls = blocks.filter(Content.isToolUse)
    const unanswered = calls.filter(isUnanswered)
    if (unanswered.length === 0) return { blocks, open: false }
    // An entry all of whose calls are open is left out as a whole; of several calls, those with a result stay.
    const stay = unanswered.length === calls.length ? [] : blocks.filter((block) => !isUnanswered(block))
    return { blocks: stay, open: true }
  }

  add({ at, entry, index, uuid }: Node): void {
    if (entry.type === "assistant") return this.addAssistant(entry, uuid, at, index)
    if (entry.type === "user") return this.addUser(entry, uuid, at)
    const blocks =
      entry.type === "attachment"
        ? Message.sent(entry)
        : entry.subtype === "local_command" && typeof entry.content === "string"
          ? [Content.text(entry.content)]
          : []
    const text = ModelContent.ofUser(blocks)
    if (text.length > 0) this.say(text.map((block) => ({ block })), uuid)
    else this.omit(uuid, entry.type === "attachment" ? "not-rendered" : "system")
  }

  /** User parts at this place of the conversation. */
  say(parts: ReadonlyArray<Part>, uuid?: string): void {
    this.flow.push({ parts: [...parts], uuids: uuid === undefined ? [] : [uuid] })
  }

  private addUser(entry: Entry.OfKind<"user">, uuid: string, at: Finding.Position): void {
    if (Round.isPrompt(entry)) this.current = undefined
    const rest: Array<Content.Block> = []
    let used = false
    let why: Why = "empty"
    for (const block of Content.blocks(entry.message.content)) {
      if (!Content.isToolResult(block)) {
        rest.push(block)
        continue
      }
      const id = block.tool_use_id
      const isFirst = this.results.get(id)?.uuid === uuid && !this.taken.has(id)
      this.taken.add(id)
      if (isFirst && this.answers.has(id)) {
        used = true
        continue
      }
      const kind = isFirst || !this.answers.has(id) ? "orphan-result" : "duplicate-result"
      why = kind
      this.findings.push(Finding.make(kind, { uuid, toolUseId: id }, at))
    }
    const blocks = ModelContent.ofUser(rest)
    if (blocks.length > 0) this.say(blocks.map((block) => ({ block })), uuid)
    else if (!used) this.omit(uuid, why)
  }

  private addAssistant(entry: Entry.OfKind<"assistant">, uuid: string, at: Finding.Position, order: number): void {
    if (entry.isApiErrorMessage === true) return this.omit(uuid, "api-error")
    const reply = Round.replyOf(entry)
    for (const toolUseId of Round.callsOf(entry)) {
      if (!this.isOpen(uuid, toolUseId)) continue
      this.open.push({ uuid, toolUseId, reply })
      this.findings.push(Finding.make("unresolved-call", { uuid, toolUseId }, at))
    }
    const { blocks, open } = this.sendable(entry, uuid)
    if (blocks.length === 0) {
      const server = Content.blocks(entry.message.content).some((block) => Content.is("server_tool_use", block))
      return this.omit(uuid, open || server ? "unresolved-call" : "empty")
    }
    if (blocks.every(ModelContent.isThinking) && (reply === undefined || !this.spoken.has(reply))) {
      return this.omit(uuid, "thinking-only")
    }
    const speech = this.speechOf(reply)
    speech.uuids.push(uuid)
    for (const block of blocks) {
      speech.parts.push({ block })
      if (!Content.isToolUse(block)) continue
      const answer = this.isOpen(uuid, block.id) ? undefined : this.answers.get(block.id)
      speech.results.push(
        answer === undefined
          ? { order, part: { block: ModelContent.interrupted(block.id), synthetic: true }, uuid: undefined }
          : { order: answer.order, part: { block: answer.block }, uuid: answer.uuid }
      )
    }
  }

  /** The message of the reply that is under way, or a new one. */
  private speechOf(reply: string | undefined): Speech {
    if (this.current !== undefined && reply !== undefined && this.current.reply === reply) return this.current
    this.current = { reply, parts: [], uuids: [], results: [] }
    this.flow.push(this.current)
    return this.current
  }

  /** Puts the results behind their calls, joins neighbours of one role, and starts with a user. */
  finish(): ModelView {
    const messages: Array<{ role: "user" | "assistant"; parts: Array<Part>; uuids: Array<string> }> = []
    const push = (role: "user" | "assistant", parts: ReadonlyArray<Part>, uuids: ReadonlyArray<string>): void => {
      const last = messages.at(-1)
      if (last?.role !== role) messages.push({ role, parts: [...parts], uuids: [...new Set(uuids)] })
      else {
        last.parts.push(...parts)
        for (const uuid of uuids) if (!last.uuids.includes(uuid)) last.uuids.push(uuid)
      }
    }
    for (const step of this.flow) {
      if (!("results" in step)) {
        push("user", step.parts, step.uuids)
        continue
      }
      if (messages.length === 0) {
        for (const uuid of [...step.uuids, ...this.onlyResults(step)]) this.omit(uuid, "leading-assistant")
        continue
      }
      push("assistant", step.parts, step.uuids)
      const results = step.results.sort((a, b) => a.order - b.order)
      if (results.length > 0) {
        push("user", results.map(({ part }) => part), results.flatMap(({ uuid }) => uuid ?? []))
      }
    }
    return { messages, omitted: this.omitted, findings: this.findings, open: this.open }
  }

  /** Entries that hold nothing but results of this message. */
  private onlyResults(step: Speech): ReadonlyArray<string> {
    const said = new Set(this.flow.flatMap((other) => (other === step ? [] : other.uuids)))
    return step.results.flatMap(({ uuid }) => (uuid === undefined || said.has(uuid) ? [] : [uuid]))
  }
}
