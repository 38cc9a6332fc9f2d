/**
 * ToolPairs: which result answers which call, over the entries that may be sent.
 *
 *   call A ── result A ── result A         the first result answers, the second is a duplicate
 *   call B                                 open
 *             result C                     an orphan
 *
 * Ids pair, not places: a result may stand before its call or turns behind it. Of calls that share an id the first one
 * is answered, since an id may be sent once. Ids pair as they are sent: as well-formed Unicode.
 */
import * as Content from "@reprise/domain/Content"
import * as ModelContent from "./ModelContent.ts"
import type { Node } from "./SessionGraph.ts"

/**
 * A result as it is sent, and the entry that holds it; `order` is its place among the entries.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer {
  readonly order: number
  readonly uuid: string
  readonly block: Content.ToolResult
}

/**
 * The pairs.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolPairs {
  /** Whether another entry made a call of this id before: it is sent once. */
  readonly isRepeated: (uuid: string, call: string) => boolean
  /** The answer to a call of an entry; nothing: the call is open. */
  readonly answerTo: (uuid: string, call: string) => Answer | undefined
  /** What a result of an entry is. */
  readonly roleOf: (uuid: string, call: string) => "answer" | "duplicate-result" | "orphan-result"
}

/**
 * Pairs the calls and results of entries; `replaced` holds the texts that stand for results.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (nodes: ReadonlyArray<Node>, replaced: ReadonlyMap<string, unknown> | undefined): ToolPairs => {
  const answers = new Map<string, Answer>()
  const callers = new Map<string, string>()
  nodes.forEach(({ answers: ids, calls, entry, uuid }, order) => {
    if (entry.type === "user") {
      if (ids.length === 0) return
      for (const block of Content.blocks(entry.message.content)) {
        if (!Content.isToolResult(block)) continue
        const call = block.tool_use_id.toWellFormed()
        if (!answers.has(call)) answers.set(call, { order, uuid, block: ModelContent.replace(block, replaced) })
      }
    } else if (ModelContent.isReply(entry)) {
      for (const id of calls) {
        const call = id.toWellFormed()
        if (!callers.has(call)) callers.set(call, uuid)
      }
    }
  })
  const callerOf = (call: string): string | undefined => callers.get(call.toWellFormed())
  const answerOf = (call: string): Answer | undefined => answers.get(call.toWellFormed())
  return {
    isRepeated: (uuid, call) => callerOf(call) !== uuid,
    answerTo: (uuid, call) => (callerOf(call) === uuid ? answerOf(call) : undefined),
    roleOf: (uuid, call) =>
      callerOf(call) === undefined ? "orphan-result" : answerOf(call)?.uuid === uuid ? "answer" : "duplicate-result"
  }
}
