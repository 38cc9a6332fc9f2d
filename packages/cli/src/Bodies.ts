/**
 * Bodies: messages that a program gives, one JSON object to a line, without what a transcript stamps on them.
 *
 *   {"type":"user","message":{"content":"Go on"}}
 *   {"type":"assistant","message":{"id":"msg_1","model":"m","content":[{"type":"text","text":"Done"}]}}
 *
 * All lines are read before anything is written, so one that does not fit costs nothing. Keys of an envelope are
 * replaced, but for `uuid`, by which a message that was given twice is written once, and `agentId`, its lane.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import type * as Transcript from "@reprise/storage/Transcript"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * A line that is no message.
 *
 * @category errors
 * @since 0.1.0
 */
export class BodyUnfit extends Schema.TaggedError<BodyUnfit>()("BodyUnfit", {
  line: Schema.Number,
  expected: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `line ${this.line}: expected ${this.expected}, found ${this.found}; nothing was written`
  }
}

/**
 * A message to append, and how.
 *
 * @category models
 * @since 0.1.0
 */
export interface Given {
  readonly body: Message.MessageBody
  readonly options: Transcript.AppendOptions
}

/**
 * A prompt.
 *
 * @category constructors
 * @since 0.1.0
 */
export const prompt = (text: string): Given => ({ body: Message.user(text), options: {} })

/**
 * Reads lines. Blank ones say nothing.
 *
 * @category decoding
 * @since 0.1.0
 */
export const read = (bytes: Uint8Array): Effect.Effect<ReadonlyArray<Given>, BodyUnfit> =>
  Effect.forEach(
    Line.decodeAll(bytes).filter(({ entry }) => !(entry instanceof Entry.Malformed && entry.reason === "blank")),
    given
  )

const given = ({ at, damage, entry }: Line.Located): Effect.Effect<Given, BodyUnfit> => {
  const unfit = (expected: string, found: string) => Effect.fail(new BodyUnfit({ line: at.line, expected, found }))
  if (entry instanceof Entry.Malformed) return unfit("one JSON object with a type", `what is ${entry.reason}`)
  if (damage.some(({ kind }) => kind === "glued-lines")) return unfit("one JSON object", "several")
  if (!Message.isMessageType(entry.type)) {
    return unfit("a user, assistant, attachment or system message", `type ${JSON.stringify(entry.type)}`)
  }
  const from = Entry.original(entry) as Json
  const { illFormed } = Entry.read({ ...from, uuid: "0", parentUuid: null } as Entry.Unknown)
  const lacking = (needed[entry.type] ?? []).filter((key) => (valueAt(from, key) ?? "") === "")
  const [key, ...others] = new Set([...illFormed, ...lacking])
  if (key !== undefined) {
    return unfit(`${[key, ...others].join(" and ")} to fit`, `${key} ${JSON.stringify(valueAt(from, key)) ?? "absent"}`)
  }
  const { agentId, uuid } = from
  return Effect.succeed({
    body: whole(from) as unknown as Message.MessageBody,
    options: { ...(isText(agentId) ? { agentId } : {}), ...(isText(uuid) ? { uuid } : {}) }
  })
}

interface Json {
  readonly type: string
  readonly [key: string]: unknown
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/** What readers of a log cannot do without, beside what the schemas ask for. */
const needed: { readonly [type: string]: ReadonlyArray<string> } = {
  user: ["message.content"],
  assistant: ["message.id", "message.model", "message.content"],
  attachment: ["attachment.type"],
  system: ["subtype"]
}

const valueAt = (from: Json, path: string): unknown =>
  path.split(".").reduce((value: unknown, key) => (value as Json | undefined)?.[key], from)

/** With the keys of a message that are the same in all of its kind. */
const whole = (from: Json): Json => {
  const message = from["message"]
  if (typeof message !== "object" || message === null) return from
  if (from.type === "user") return { ...from, message: { role: "user", ...message } }
  if (from.type !== "assistant") return from
  const usual = Message.assistant(message as Parameters<typeof Message.assistant>[0]).message
  return { ...from, message: { ...usual, ...message } }
}
