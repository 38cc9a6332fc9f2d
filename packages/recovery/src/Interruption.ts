/**
 * Interruption: how the last turn ended, and what makes it go on (RECOVERY §11).
 *
 *   … a prompt                     interrupted-prompt   run it again as it is
 *   … a call, its result           interrupted-turn     append a meta prompt: Continue from where you left off.
 *   … a reply, a system line       none
 *
 * Judged on the tail of the conversation after filtering. Deciding and injecting are pure and nothing is written until
 * the next prompt, so resuming many times is resuming once.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import type * as Entry from "@reprise/domain/Entry"
import * as ModelContent from "./ModelContent.ts"
import * as ModelMessages from "./ModelMessages.ts"
import type { ModelView } from "./ModelMessages.ts"
import * as Round from "./Round.ts"
import type { Node } from "./SessionGraph.ts"

/**
 * How the last turn ended; `uuid` is the entry that it ended on.
 *
 * @category models
 * @since 0.1.0
 */
export type Interruption =
  | { readonly kind: "none" }
  | { readonly kind: "interrupted-prompt"; readonly uuid: string }
  | { readonly kind: "interrupted-turn"; readonly uuid: string }

const none: Interruption = { kind: "none" }

/**
 * What the model is told when a turn was interrupted between a result and the reply to it.
 *
 * @category constants
 * @since 0.1.0
 */
export const continuation = "Continue from where you left off."

/**
 * Judges how the conversation ended.
 *
 * @category combinators
 * @since 0.1.0
 */
export const judge = (conversation: ReadonlyArray<Node>, view: ModelView): Interruption => {
  const dropped = new Set(view.omitted.flatMap(({ uuid, why }) => (isTail.has(why) ? [] : [uuid])))
  for (let i = conversation.length - 1; i >= 0; i--) {
    const { answers, entry, uuid } = conversation[i]!
    if (entry.type === "attachment" || dropped.has(uuid)) continue
    if (entry.type === "assistant") {
      return ModelContent.isReply(entry) && endsWithResults(conversation, view)
        ? { kind: "interrupted-turn", uuid }
        : none
    }
    if (entry.type !== "user") return none
    return answers.length > 0 ? { kind: "interrupted-turn", uuid } : judgePrompt(entry, uuid)
  }
  return none
}

/** Entries that are not sent and end a turn all the same. */
const isTail: ReadonlySet<string> = new Set([
  "api-error",
  "system",
  "collapsed",
  "before-boundary",
  "leading-assistant"
])

const judgePrompt = (entry: Entry.OfKind<"user">, uuid: string): Interruption => {
  if (entry.isMeta === true || Boundary.isCompactSummary(entry)) return none
  return isMarker.test(Content.textOf(entry.message.content)) ? none : { kind: "interrupted-prompt", uuid }
}

/** What a program wrote in a person's place and nobody waits for an answer to. */
const isMarker = /^\s*(?:\[Request interrupted by user|<local-command-|<bash-std)/

/**
 * Whether what is sent ends with results, and nothing was said to them: inside a round the order of entries is free, and
 * notes may follow.
 */
const endsWithResults = (conversation: ReadonlyArray<Node>, view: ModelView): boolean => {
  const last = view.messages.at(-1)
  if (last?.role !== "user" || !last.parts.some(({ block }) => Content.isToolResult(block))) return false
  const sent = new Set(last.uuids)
  return !conversation.some((node) => sent.has(node.uuid) && Round.isPrompt(node))
}

/**
 * The model view with which the session goes on: after an interrupted turn, with the continuation at its end.
 *
 * @category combinators
 * @since 0.1.0
 */
export const inject = (view: ModelView, interruption: Interruption): ModelView =>
  interruption.kind === "interrupted-turn"
    ? { ...view, messages: ModelMessages.followedBy(view.messages, [Content.text(continuation)]) }
    : view
