/**
 * Talk: prompts, replies without calls, and what stands beside them, each on the one before it.
 */
import * as Content from "../../Content.ts"
import * as Message from "../../Message.ts"
import type * as Step from "../Step.ts"
import type { LiveSession } from "./Session.ts"

type Of<T extends Step.Step["_tag"]> = Extract<Step.Step, { readonly _tag: T }>

/**
 * A prompt, or what programs write in its place.
 *
 * @category combinators
 * @since 0.1.0
 */
export const say = (session: LiveSession, { text }: Of<"Say">): void => {
  const id = session.fresh(text === "injected" ? "m" : "u")
  if (text === "injected") session.say("injected", { ...Message.user(`[${id}]`), isMeta: true }, { id })
  else if (text === "marker") session.say("marker", Message.user("[Request interrupted by user]"), { id })
  else if (text === "output")
    session.say("output", Message.user(`<local-command-stdout>${id}</local-command-stdout>`), { id })
  else session.say("prompt", Message.user(text === "blocks" ? [Content.text(`[${id}]`)] : `[${id}]`), { id })
  if (text === "plain" || text === "blocks") session.firstPrompt ??= `[${id}]`
}

const model = "model"

/**
 * A reply without calls.
 *
 * @category combinators
 * @since 0.1.0
 */
export const reply = (session: LiveSession, { parts }: Of<"Reply">): void => {
  const one = (content: string | ReadonlyArray<Content.Block>, more: object = {}): void => {
    const id = session.fresh("a")
    session.say(
      "error" in more ? "error" : "reply",
      { ...Message.assistant({ id: `msg-${id}`, model, content }), ...more },
      { id }
    )
  }
  if (parts === "text") return one("[text]")
  if (parts === "error") return one("API Error", { error: "overloaded", isApiErrorMessage: true })
  const round = session.fresh("m")
  const blocks =
    parts === "thinking"
      ? [Content.thinking("[thinking]", "signature"), Content.text("[text]")]
      : [Content.text("[one]"), Content.text("[two]"), Content.text("[three]")]
  for (const block of blocks) session.say("reply", Message.assistant({ id: round, model, content: [block] }), { round })
}

/**
 * What a program adds, or an event.
 *
 * @category combinators
 * @since 0.1.0
 */
export const attach = (session: LiveSession, { kind }: Of<"Attach">): void => {
  if (kind === "command")
    session.say("command", Message.localCommand("<local-command-stdout>out</local-command-stdout>"))
  else if (kind === "event") session.say("event", Message.system("away_summary", { content: "[event]" }))
  else if (kind === "sent")
    session.say("attachment", Message.attachment({ type: "critical_system_reminder", content: "[sent]" }))
  else session.say("attachment", Message.attachment({ type: "hook_success" }))
}

/**
 * A checkpoint.
 *
 * @category combinators
 * @since 0.1.0
 */
export const endTurn = (session: LiveSession): void => {
  const messageCount = session.visible.length
  const { id } = session.say("event", Message.turnDuration({ durationMs: 1000, messageCount }))
  session.checkpoints.set(id, messageCount)
}

/**
 * An entry as only older versions wrote it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const oldShape = (
  session: LiveSession,
  { shape }: { readonly shape: Exclude<Step.Shape, "root" | "rewritten"> }
): void => {
  if (shape === "string") {
    const { message, ...body } = Message.assistant({ id: session.fresh("m"), model, content: "[text]" })
    session.say("reply", { ...body, message: { ...message, content: "[text]" } }, { bare: true })
  } else if (shape === "no-subtype") session.say("event", { type: "system", content: "[event]" }, { bare: true })
  else if (shape === "microcompact")
    session.say("event", Message.system("microcompact_boundary", { microcompactMetadata: {} }))
  else if (shape === "no-time") {
    session.say("prompt", Message.user("[text]"), { timeless: true })
    session.firstPrompt ??= "[text]"
  }
}
