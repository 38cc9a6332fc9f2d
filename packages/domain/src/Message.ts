/**
 * Message: the four kinds of entry that make up the parent chain (FORMAT §3.1–3.6).
 *
 *   user        a prompt, a tool result, an injected note or a compact summary
 *   assistant   one block of a reply in general; the lines of one reply share `message.id`
 *   attachment  context that a program adds
 *   system      events, and the boundaries of Boundary.ts
 *
 * 1. Only `type`, `uuid` and what carries the meaning is required; strings such as `level` are open to new values.
 * 2. Content stays `unknown` here and is read through Content.ts: checking an entry never walks its blocks.
 * 3. Constructors make bodies: everything but the envelope, which a writer stamps (FORMAT §8).
 */
import * as Schema from "effect/Schema"
import * as Attachment from "./Attachment.ts"
import * as Boundary from "./Boundary.ts"
import * as Content from "./Content.ts"
import * as Wire from "./internal/wire.ts"

/** Keys of every entry of the chain, beside `type`. */
const envelope = {
  uuid: Schema.String,
  parentUuid: Wire.nullable(Schema.String),
  isSidechain: Wire.nullable(Schema.Boolean),
  ...Wire.each(Wire.text, "timestamp", "sessionId", "agentId", "cwd", "version", "gitBranch", "slug"),
  ...Wire.each(Wire.text, "userType", "entrypoint", "sessionKind"),
  forkedFrom: Wire.nullable(Schema.Struct(Wire.each(Wire.text, "sessionId", "messageUuid")))
} as const

/** Keys that any of them may carry, kept and unused. */
const rare = Wire.each(Wire.any, "teamName", "session_id", "requestSessionId")

/**
 * What every entry of the chain has, and the links that look like one: an id and, as a rule, a parent. An absent, null
 * or empty `parentUuid` is a root; an absent or null `isSidechain` is false; `timestamp` is ISO 8601.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Envelope = Schema.Struct({ type: Schema.String, ...envelope })

/**
 * What {@link Envelope} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type Envelope = typeof Envelope.Type

const UserMessage = Schema.Struct({
  role: Wire.text,
  content: Schema.Union([Schema.String, Schema.Array(Schema.Unknown)])
})

/**
 * A prompt, a tool result, an injected note or a compact summary; told apart by its keys (FORMAT §3.2).
 *
 * @category schemas
 * @since 0.1.0
 */
export const User = Wire.open(
  {
    type: Schema.tag("user"),
    ...envelope,
    message: UserMessage,
    ...Wire.each(Wire.text, "sourceToolAssistantUUID", "sourceToolUseID", "promptId", "permissionMode"),
    ...Wire.each(Wire.flag, "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
  },
  {
    ...Wire.each(Wire.any, "toolUseResult", "promptSource", "origin", "thinkingMetadata", "todos", "mcpMeta"),
    ...Wire.each(Wire.any, "interruptedMessageId", "toolDenialKind", "planContent", "imagePasteIds", "sentAtMs"),
    ...Wire.each(Wire.any, "classifierMetaLines", "turnCompanion", "rowSource", "turnOrigin", "turnPosition"),
    ...Wire.each(Wire.any, "sandboxed", "ownNote", "permissionDecision", "summarizedTurnPromptUuids"),
    ...rare
  }
)

/**
 * What {@link User} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type User = typeof User.Type

/**
 * Tokens of one API message, open to more keys; count once per `message.id`, with the last value (FORMAT §3.3).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Usage = Wire.open(
  {
    ...Wire.each(Wire.nullable(Schema.Number), "input_tokens", "output_tokens"),
    ...Wire.each(Wire.nullable(Schema.Number), "cache_creation_input_tokens", "cache_read_input_tokens")
  },
  Wire.each(Wire.any, "cache_creation", "server_tool_use", "service_tier", "iterations", "inference_geo", "speed")
)

/**
 * What {@link Usage} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type Usage = typeof Usage.Type

/** The API message; `model` is `<synthetic>` in a line that a client made up. */
const AssistantMessage = Schema.Struct({
  ...Wire.each(Wire.text, "id", "type", "role", "model"),
  content: Schema.Union([Schema.String, Schema.Array(Schema.Unknown)]),
  ...Wire.each(Wire.nullable(Schema.String), "stop_reason", "stop_sequence"),
  usage: Wire.nullable(Usage)
})

/**
 * One line of a model's reply; `isApiErrorMessage` marks an error text that only looks like one (FORMAT §3.3).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Assistant = Wire.open(
  {
    type: Schema.tag("assistant"),
    ...envelope,
    message: AssistantMessage,
    requestId: Wire.text,
    isApiErrorMessage: Wire.flag,
    isAbortedMidStream: Wire.flag,
    apiBlockIndex: Wire.count
  },
  {
    ...Wire.each(Wire.any, "error", "errorDetails", "apiErrorStatus", "apiErrorType", "requestRef", "requestedModel"),
    ...Wire.each(Wire.any, "attributionAgent", "attributionSkill", "attributionPlugin", "attributionMcpServer"),
    ...Wire.each(Wire.any, "attributionMcpTool", "effort", "perTurnEffort", "advisorModel", "wireToolInputs"),
    ...Wire.each(Wire.any, "promptCacheRequested", "madeBy", "thinkingDurationMs", "thinkingDisplay"),
    ...Wire.each(Wire.any, "toolInputStreamMs", "failedResponseHadNoToolCall"),
    ...rare
  }
)

/**
 * What {@link Assistant} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type Assistant = typeof Assistant.Type

/**
 * Context that a program adds: a body read with Attachment.ts, and in newer versions the very text that was sent
 * (`rendered`, an array of `{ content }`; FORMAT §3.5).
 *
 * @category schemas
 * @since 0.1.0
 */
export const AttachmentEntry = Wire.open(
  {
    type: Schema.tag("attachment"),
    ...envelope,
    attachment: Wire.nullable(Schema.Struct({ type: Schema.String })),
    rendered: Wire.nullable(Schema.Array(Schema.Unknown)),
    renderedRole: Wire.text,
    renderedBesideToolResult: Wire.flag
  },
  rare
)

/**
 * What {@link AttachmentEntry} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type AttachmentEntry = typeof AttachmentEntry.Type

/**
 * An event beside the conversation; `subtype` says which, an unknown one is kept like any other (FORMAT §3.6). Only
 * `local_command` is sent to the model. `durationMs` and `retryInMs` are milliseconds.
 *
 * @category schemas
 * @since 0.1.0
 */
export const System = Wire.open(
  {
    type: Schema.tag("system"),
    ...envelope,
    ...Wire.each(Wire.text, "subtype", "content", "level", "toolUseID"),
    isMeta: Wire.flag,
    logicalParentUuid: Wire.nullable(Schema.String),
    compactMetadata: Wire.nullable(Boundary.CompactMetadata),
    microcompactMetadata: Wire.nullable(Boundary.MicrocompactMetadata),
    snipMetadata: Wire.nullable(Boundary.SnipMetadata),
    ...Wire.each(Wire.count, "durationMs", "messageCount", "retryAttempt", "retryInMs", "maxRetries")
  },
  {
    ...Wire.each(Wire.any, "pendingBackgroundAgentCount", "pendingWorkflowCount", "error", "cause", "source"),
    ...Wire.each(Wire.any, "hookCount", "hookInfos", "hookErrors", "hookAdditionalContext", "failedHookErrorIndexes"),
    ...Wire.each(Wire.any, "preventedContinuation", "stopReason", "hasOutput", "commandRun", "url", "upgradeNudge"),
    ...rare
  }
)

/**
 * What {@link System} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type System = typeof System.Type

/**
 * The schema of each entry of the chain, by its wire type.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schemas = { user: User, assistant: Assistant, attachment: AttachmentEntry, system: System } as const

/**
 * The wire type of an entry of the chain.
 *
 * @category models
 * @since 0.1.0
 */
export type MessageType = keyof typeof schemas

/**
 * Does an entry of this wire type belong to the parent chain?
 *
 * @category guards
 * @since 0.1.0
 */
export const isMessageType = (type: unknown): type is MessageType =>
  type === "user" || type === "assistant" || type === "attachment" || type === "system"

/**
 * The blocks that an attachment entry sends to the model: its `rendered` content where it is there, else what its body
 * says; none means not rendered (RECOVERY §10). Total, also over an entry that does not fit its schema.
 *
 * @category combinators
 * @since 0.1.0
 */
export const sent = (entry: {
  readonly attachment?: unknown
  readonly rendered?: unknown
}): ReadonlyArray<Content.Block> =>
  Array.isArray(entry.rendered)
    ? entry.rendered.flatMap((part: unknown) => Content.blocks(Wire.isObject(part) ? part.content : part))
    : Attachment.content(entry.attachment)

/**
 * What a writer takes and stamps: an entry of the chain, or one of the type `K`, without its envelope.
 *
 * @category models
 * @since 0.1.0
 */
export type MessageBody<K extends MessageType = MessageType> = {
  readonly [P in K]: Omit<(typeof schemas)[P]["Type"], Exclude<keyof Envelope, "type">>
}[K]

/**
 * A prompt; `more` holds further keys, such as `isMeta` or `permissionMode`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const user = (
  content: string | ReadonlyArray<Content.AnyBlock>,
  more: Omit<MessageBody<"user">, "type" | "message"> = {}
): MessageBody<"user"> => ({ type: "user", message: { role: "user", content }, ...more })

/**
 * Results of tool calls. `more.sourceToolAssistantUUID`, the entry that made the call, should be given (FORMAT §8);
 * `more.toolUseResult` is the result as the tool gave it, for display.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toolResults = (
  results: ReadonlyArray<Content.ToolResult>,
  more: Omit<MessageBody<"user">, "type" | "message"> = {}
): MessageBody<"user"> => user(results, more)

/**
 * A reply of a model, or one block of it: a message as a client of the Messages API answers with it is one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reply {
  readonly id: string
  readonly model: string
  readonly content: string | ReadonlyArray<Content.AnyBlock>
  readonly stop_reason?: string | null
  readonly stop_sequence?: string | null
  readonly usage?: Usage
}

/**
 * One line of a reply: `id` is the API message's, shared by all lines of the reply. Keys that a reader needs are always
 * written: `stop_reason` and `stop_sequence` are null, the tokens 0 unless given.
 *
 * @category constructors
 * @since 0.1.0
 */
export const assistant = (
  message: Reply,
  more: Omit<MessageBody<"assistant">, "type" | "message"> = {}
): MessageBody<"assistant"> => ({
  message: {
    id: message.id,
    type: "message",
    role: "assistant",
    model: message.model,
    content: Content.blocks(message.content),
    stop_reason: message.stop_reason ?? null,
    stop_sequence: message.stop_sequence ?? null,
    usage: message.usage ?? { input_tokens: 0, output_tokens: 0 }
  },
  ...more,
  type: "assistant"
})

/**
 * Context for the model; `rendered` is the exact text to send, without it the body speaks for itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const attachment = (
  body: Attachment.Body | Attachment.UnknownBody,
  rendered?: string
): MessageBody<"attachment"> => ({
  attachment: body,
  type: "attachment",
  ...(rendered === undefined ? {} : { rendered: [{ content: rendered }], renderedRole: "user" })
})

/**
 * An event of any subtype.
 *
 * @category constructors
 * @since 0.1.0
 */
export const system = (
  subtype: string,
  more: Omit<MessageBody<"system">, "type" | "subtype"> = {}
): MessageBody<"system"> => ({
  type: "system",
  subtype,
  ...more
})

/**
 * A command run beside the model, or its output, wrapped in a tag: the one event that is sent to the model.
 *
 * @category constructors
 * @since 0.1.0
 */
export const localCommand = (content: string): MessageBody<"system"> =>
  system("local_command", { content, level: "info", isMeta: false })

/**
 * The end of a turn: how long it took, and how many entries the conversation held before this one, counted from the
 * last boundary (RECOVERY §13).
 *
 * @category constructors
 * @since 0.1.0
 */
export const turnDuration = (options: {
  readonly durationMs: number
  readonly messageCount: number
}): MessageBody<"system"> =>
  system("turn_duration", { durationMs: options.durationMs, messageCount: options.messageCount, isMeta: false })

/**
 * A note for people. With `isMeta: true`, which is the default, it marks a rewind: its parent is the target and it
 * becomes the leaf (RECOVERY §8).
 *
 * @category constructors
 * @since 0.1.0
 */
export const informational = (
  content: string,
  options: { readonly level?: string; readonly isMeta?: boolean } = {}
): MessageBody<"system"> =>
  system("informational", { content, isMeta: options.isMeta ?? true, level: options.level ?? "info" })
