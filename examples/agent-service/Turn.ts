/**
 * Turn: from a prompt to the end of the answer, as a function of the log.
 *
 *   prompt ─▶ reply: text, calls ─▶ results ─▶ reply … ─▶ reply that ends the turn ─▶ checkpoint
 *     └──────────────── open ────────────────────────┘        └──── answered ───┘      └ over
 *
 * How far a turn is, is asked of the log alone. So a turn that goes on after a kill runs through the same lines as one
 * that begins, and what was written is neither lost nor made twice. Each line is on its way to the disk before the next.
 */
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as Consistency from "@reprise/recovery/Consistency"
import * as Interruption from "@reprise/recovery/Interruption"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import type * as SessionState from "@reprise/recovery/SessionState"
import type * as Transcript from "@reprise/storage/Transcript"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Event } from "./Api.ts"
import { Model } from "./Model.ts"

/** How far the last turn of a session is. */
export const progress = ({
  conversation
}: Pick<SessionState.SessionState, "conversation">): "open" | "answered" | "over" => {
  const last = conversation.findLast(({ entry }) => eventOf(entry) !== undefined)?.entry
  if (last === undefined || last.type === "system") return "over"
  return last.type === "assistant" && last.message.stop_reason === "end_turn" ? "answered" : "open"
}

/** The prompt of the last turn. */
export const promptOf = ({ conversation }: Pick<SessionState.SessionState, "conversation">): string | undefined =>
  conversation.findLast(({ entry }) => eventOf(entry)?.type === "prompt")?.uuid

/**
 * What the model is sent when a turn begins or goes on. Recovery knows of prompts and results that nothing was said to;
 * that a reply broke off between two of its lines only its program can know, which says when one is complete.
 */
const messagesOf = (state: SessionState.SessionState): ReadonlyArray<ModelMessages.ModelMessage> => {
  const view = ModelMessages.make(state)
  const interruption = Interruption.judge(state.conversation, view)
  const { messages } = Interruption.inject(view, interruption)
  return interruption.kind === "none"
    ? ModelMessages.followedBy(messages, [Content.text(Interruption.continuation)])
    : messages
}

/** Runs the last turn of a session to its end, from wherever its log ends. */
export const run = Effect.fn("Turn.run")(function* (transcript: Transcript.Transcript) {
  const model = yield* Model
  const begun = yield* Clock.currentTimeMillis
  const append = (body: Message.MessageBody) => Effect.andThen(transcript.append(body), transcript.flush)
  for (let isFirst = true; ; isFirst = false) {
    const state = yield* transcript.project(Recovery.projection)
    const at = progress(state)
    if (at === "over") return
    if (at === "answered") {
      yield* transcript.endTurn({ durationMs: (yield* Clock.currentTimeMillis) - begun })
      return yield* transcript.flush
    }
    const calls: Array<Content.ToolUse> = []
    const messages = isFirst ? messagesOf(state) : ModelMessages.make(state).messages
    yield* Stream.runForEach(model.reply(messages), (line) => {
      calls.push(...Content.blocks(line.message.content).filter(Content.isToolUse))
      return append(line)
    })
    for (const call of calls) yield* append(Message.toolResults([yield* model.run(call)]))
  }
})

/** What clients hear of an entry; nothing of metadata and the like. */
export const eventOf = (entry: Entry.Entry): Event | undefined => {
  const event = (type: Event["type"], uuid: string, content: unknown = []): Event => ({
    uuid,
    type,
    content: Content.blocks(content)
  })
  if (Entry.is("assistant")(entry)) return event("reply", entry.uuid, entry.message.content)
  if (Entry.is("system")(entry)) return Consistency.countOf(entry) === undefined ? undefined : event("end", entry.uuid)
  if (!Entry.is("user")(entry) || entry.isMeta === true) return undefined
  const isResult = Content.blocks(entry.message.content).some(Content.isToolResult)
  return event(isResult ? "result" : "prompt", entry.uuid, entry.message.content)
}
