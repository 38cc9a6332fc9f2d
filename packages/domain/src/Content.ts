/**
 * Content: the blocks that a user or assistant message holds (FORMAT §3.4).
 *
 * 1. Entries keep their content as `unknown`; `blocks` reads it on demand and never fails, whatever it finds.
 * 2. A block read is the object that was read: nothing is rebuilt, so unknown keys survive.
 * 3. A block's `type` alone proves nothing: ask a guard before reading its keys. A block of unknown type, or of a known
 *    type that does not fit, is an `UnknownBlock` and kept whole.
 */
import * as Schema from "effect/Schema"
import * as Wire from "./internal/wire.ts"

/** Where an image or a document comes from: `type` is `base64`, `text`, `url`, `file` (open). */
const Source = Schema.Struct({ type: Schema.String, ...Wire.each(Wire.text, "media_type", "data", "url", "file_id") })

/** A call: `input` is an object, but null, a string and no input at all were seen. */
const call = { id: Schema.String, name: Schema.String, input: Wire.any, caller: Wire.any }

/**
 * The schema of each known block, by its `type`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schemas = {
  text: Schema.Struct({ type: Schema.tag("text"), text: Schema.String, citations: Wire.any }),
  /** Reasoning of the model; a few writers leave out `signature`. */
  thinking: Schema.Struct({ type: Schema.tag("thinking"), thinking: Schema.String, signature: Wire.text }),
  /** Reasoning of the model that only the API can read. */
  redacted_thinking: Schema.Struct({ type: Schema.tag("redacted_thinking"), data: Wire.text }),
  tool_use: Schema.Struct({ type: Schema.tag("tool_use"), ...call }),
  /** A call of a tool that the API itself runs: its result stands in the same message. */
  server_tool_use: Schema.Struct({ type: Schema.tag("server_tool_use"), ...call }),
  /**
   * Answers the call `tool_use_id`; read `content` with {@link blocks}: a string or a list, but null, an object and no
   * content at all were seen.
   */
  tool_result: Schema.Struct({
    type: Schema.tag("tool_result"),
    tool_use_id: Schema.String,
    content: Wire.any,
    is_error: Wire.any
  }),
  image: Schema.Struct({ type: Schema.tag("image"), source: Source }),
  document: Schema.Struct({ type: Schema.tag("document"), source: Source, title: Wire.nullable(Schema.String) }),
  /** Inside a tool result: a tool that is available from now on. */
  tool_reference: Schema.Struct({ type: Schema.tag("tool_reference"), tool_name: Schema.String })
} as const

/**
 * A known block type.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = keyof typeof schemas

/**
 * The block of a known type.
 *
 * @category models
 * @since 0.1.0
 */
export type Of<K extends Kind> = (typeof schemas)[K]["Type"]

/**
 * A block that no schema fits, kept whole.
 *
 * @category models
 * @since 0.1.0
 */
export interface UnknownBlock {
  readonly type: string
  readonly [key: string]: unknown
}

/**
 * Any object with a string `type`: what {@link blocks} gives.
 *
 * @category models
 * @since 0.1.0
 */
export type Block = Of<Kind> | UnknownBlock

/**
 * A block as constructors of messages take it: also one that another library has typed, such as a block of a client's
 * answer. Guards ({@link isText}, {@link isToolUse}, …) narrow it.
 *
 * @category models
 * @since 0.1.0
 */
export type AnyBlock = Block | { readonly type: string }

/**
 * Text of either side.
 *
 * @category models
 * @since 0.1.0
 */
export type Text = Of<"text">

/**
 * Reasoning of the model.
 *
 * @category models
 * @since 0.1.0
 */
export type Thinking = Of<"thinking">

/**
 * A call of a tool.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolUse = Of<"tool_use">

/**
 * The result of a tool call.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolResult = Of<"tool_result">

const fits: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  Object.entries(schemas).map(([kind, schema]) => [kind, Schema.is(schema as Schema.Schema<unknown>)])
)

/**
 * Is it a block of this known type, with the keys that the type asks for?
 *
 * @category guards
 * @since 0.1.0
 */
export const is = <K extends Kind>(kind: K, block: unknown): block is Of<K> =>
  Wire.isObject(block) && block.type === kind && fits.get(kind)?.(block) === true

/**
 * Is it a text block?
 *
 * @category guards
 * @since 0.1.0
 */
export const isText = (block: unknown): block is Text => is("text", block)

/**
 * Is it a thinking block that can be read? A redacted one is `is("redacted_thinking", block)`.
 *
 * @category guards
 * @since 0.1.0
 */
export const isThinking = (block: unknown): block is Thinking => is("thinking", block)

/**
 * Is it a tool call that waits for a result of ours? A call that the API runs is `is("server_tool_use", block)`.
 *
 * @category guards
 * @since 0.1.0
 */
export const isToolUse = (block: unknown): block is ToolUse => is("tool_use", block)

/**
 * Is it the result of a tool call?
 *
 * @category guards
 * @since 0.1.0
 */
export const isToolResult = (block: unknown): block is ToolResult => is("tool_result", block)

/**
 * Is it a block that none of the schemas fits?
 *
 * @category guards
 * @since 0.1.0
 */
export const isUnknown = (block: Block): block is UnknownBlock => fits.get(block.type)?.(block) !== true

/**
 * Is it a block of a known type that lacks what the type asks for?
 *
 * @category guards
 * @since 0.1.0
 */
export const isIllFormed = (block: Block): boolean => fits.get(block.type)?.(block) === false

const isBlock = (value: unknown): value is Block => Wire.isObject(value) && typeof value.type === "string"

/**
 * The blocks of any content value, total: a string is one text block, as is a string among blocks; null, numbers and
 * objects without a string `type` are dropped; anything else than a string or an array has no blocks (FORMAT §3.3).
 *
 * @category combinators
 * @since 0.1.0
 */
export const blocks = (content: unknown): ReadonlyArray<Block> => {
  if (typeof content === "string") return [text(content)]
  if (!Array.isArray(content)) return []
  if (content.every(isBlock)) return content
  return content.flatMap((block: unknown) =>
    typeof block === "string" ? [text(block)] : isBlock(block) ? [block] : []
  )
}

/**
 * The text blocks of any content value, joined by LF.
 *
 * @category combinators
 * @since 0.1.0
 */
export const textOf = (content: unknown): string =>
  blocks(content)
    .filter(isText)
    .map((block) => block.text)
    .join("\n")

/**
 * A text block.
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (text: string): Text => ({ type: "text", text })

/**
 * A thinking block with the signature that the API gave it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const thinking = (thinking: string, signature: string): Thinking => ({ type: "thinking", thinking, signature })

/**
 * A tool call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toolUse = (call: Omit<ToolUse, "type">): ToolUse => ({ type: "tool_use", ...call })

/**
 * The result of the tool call `tool_use_id`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toolResult = (result: Omit<ToolResult, "type">): ToolResult => ({ type: "tool_result", ...result })

/**
 * An image from base64 data.
 *
 * @category constructors
 * @since 0.1.0
 */
export const image = (media_type: string, data: string): Of<"image"> => ({
  type: "image",
  source: { type: "base64", media_type, data }
})

/**
 * A document from base64 data.
 *
 * @category constructors
 * @since 0.1.0
 */
export const document = (media_type: string, data: string, title?: string): Of<"document"> => ({
  type: "document",
  source: { type: "base64", media_type, data },
  ...(title === undefined ? {} : { title })
})
