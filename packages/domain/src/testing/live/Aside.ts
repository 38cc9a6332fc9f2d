/**
 * Aside: what stands between the messages, and the ends of processes.
 */
import * as Message from "../../Message.ts"
import * as Snapshot from "../../Snapshot.ts"
import type * as Step from "../Step.ts"
import type { LiveSession } from "./Session.ts"

type Of<T extends Step.Step["_tag"]> = Extract<Step.Step, { readonly _tag: T }>

/**
 * Lines of a subagent.
 *
 * @category combinators
 * @since 0.1.0
 */
export const sidechain = (session: LiveSession, { entries, named, twin, under }: Of<"Sidechain">): void => {
  let parent = under ? session.tip : null
  const agent = named ? { agentId: "abc" } : {}
  for (let i = 0; i < entries; i++) {
    const id = i === 0 && twin && session.tip !== null ? session.tip : session.fresh(i % 2 === 0 ? "u" : "a")
    const body =
      i % 2 === 0 ? Message.user("[side]") : Message.assistant({ id: `msg-${id}`, model: "model", content: "[side]" })
    session.writeAside(id, { parentUuid: parent, isSidechain: true, ...agent, ...body })
    parent = id
  }
}

/**
 * A value of the session.
 *
 * @category combinators
 * @since 0.1.0
 */
export const setMetadata = (session: LiveSession, { kind, value }: Of<"SetMetadata">): void => {
  const text = value === 5 ? "" : `${kind} ${value}`
  session.metadata.set(kind, text)
  restate(session, kind, text)
}

const restate = (session: LiveSession, kind: string, text: string | undefined): void => {
  const leaf = session.tip === null || !session.isSpoken(session.visible) ? {} : { leafUuid: session.tip }
  if (kind === "last-prompt") {
    session.note({ type: kind, ...(text === undefined ? {} : { lastPrompt: text }), ...leaf }, "leafUuid" in leaf)
  } else if (kind === "summary") session.note({ type: kind, summary: text, ...leaf })
  else session.note({ type: kind, [camel(kind)]: text })
}

const camel = (kind: string): string => kind.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/**
 * Lines beside the conversation.
 *
 * @category combinators
 * @since 0.1.0
 */
export const noise = (session: LiveSession, { kind }: Of<"Noise">): void => {
  const messageId = session.tip ?? "none"
  if (kind === "enqueue") {
    const content = session.fresh("queued")
    session.queue = [...session.queue, content]
    session.note(Snapshot.make("queue-operation", { operation: kind, content }))
  } else if (kind === "dequeue") {
    session.queue = session.queue.slice(1)
    session.note(Snapshot.make("queue-operation", { operation: kind }))
  } else if (kind === "file-history") {
    session.note(Snapshot.make("file-history-snapshot", { messageId, snapshot: { messageId, trackedFileBackups: {} } }))
  } else if (kind === "attribution") session.note(Snapshot.make("attribution-snapshot", { messageId }))
  else session.note({ type: "future-event", about: messageId })
}

/**
 * A link that the next message will hang on.
 *
 * @category combinators
 * @since 0.1.0
 */
export const link = (session: LiveSession, { behind, twice, type }: Of<"Link">): void => {
  const id = session.fresh(type === "progress" ? "p" : "q")
  session.link = { id, type: type === "progress" ? type : "future-thing", parent: session.tip, behind, twice }
}

/**
 * A prompt that is torn.
 *
 * @category combinators
 * @since 0.1.0
 */
export const crash = (session: LiveSession, { cut }: Of<"Crash">): void => {
  session.pending = []
  session.link = undefined
  const text = JSON.stringify({
    type: "user",
    message: { role: "user", content: "[torn]" },
    uuid: session.fresh("torn")
  })
  session.tear(text.slice(0, 1 + (cut % (text.length - 1))))
}

/**
 * Another process, which restates what is known.
 *
 * @category combinators
 * @since 0.1.0
 */
export const resume = (session: LiveSession): void => {
  session.pending = []
  session.link = undefined
  restate(session, "last-prompt", session.metadata.get("last-prompt"))
  for (const [kind, text] of session.metadata)
    if (kind !== "last-prompt" && kind !== "summary") restate(session, kind, text)
}
