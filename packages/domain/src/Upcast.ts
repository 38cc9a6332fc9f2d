/**
 * Upcast: old shapes of an entry to today's, at read time (FORMAT §9). The log is never rewritten.
 *
 *   {"type":"system","content":"…"}        until 1.0.53        subtype: "informational"
 *   compact_boundary, compactMetadata null any                 compactMetadata: { trigger: "unknown" }
 *   api_error, error as the API gave it    until 2.1.179       error.message, .status, .requestId beside the original
 *   message spread over "0", "1", …        2.1.81              a message with no content
 *
 * 1. A step takes an object of its kind and gives the keys that today's reading has instead, or nothing.
 * 2. Steps are independent of each other: each is recognised by its own old shape, never by a version.
 * 3. What needs more than one entry is no step: links through progress, lanes without an agent, segments of kept
 *    messages and replies in several lines are the matter of recovery.
 */
import { isObject, type JsonObject } from "./internal/wire.ts"

/**
 * One change of the format: `until` is the last version that was seen to write the old shape.
 *
 * @category models
 * @since 0.1.0
 */
export interface Step {
  readonly name: string
  readonly type: string
  readonly until: string
  /** A key of the old shape that nothing can be read from. */
  readonly lost?: string
  readonly read: (value: JsonObject) => JsonObject | undefined
}

/**
 * All steps, oldest first.
 *
 * @category constants
 * @since 0.1.0
 */
export const steps: ReadonlyArray<Step> = [
  {
    name: "system without subtype",
    type: "system",
    until: "1.0.53",
    read: (value) => (value["subtype"] === undefined ? { subtype: "informational" } : undefined)
  },
  {
    name: "message over numeric keys",
    type: "assistant",
    until: "2.1.81",
    lost: "message",
    read: ({ message }) =>
      isObject(message) && !hasContent(message) && typeof message["0"] === "string"
        ? { message: { content: [] } }
        : undefined
  },
  {
    name: "boundary without metadata",
    type: "system",
    until: "any",
    read: ({ compactMetadata, subtype }) =>
      subtype === "compact_boundary" && !isObject(compactMetadata)
        ? { compactMetadata: { trigger: "unknown" } }
        : undefined
  },
  {
    name: "API error as it was received",
    type: "system",
    until: "2.1.179",
    read: ({ error, subtype }) => (subtype === "api_error" && isObject(error) ? pickError(error) : undefined)
  }
]

/** Such a message has none; asked first, since a key that is an index is slow to ask for. */
const hasContent = ({ content }: JsonObject): boolean => Array.isArray(content) && content.length > 0

/** The error of the API lies one or two `error` keys deep, the request id beside or inside it. */
const pickError = (error: JsonObject): JsonObject | undefined => {
  if (typeof error["message"] === "string" || !isObject(error["error"])) return undefined
  const inner = isObject(error["error"]["error"]) ? error["error"]["error"] : error["error"]
  const requestId = error["requestID"] ?? error["request_id"] ?? error["error"]["request_id"]
  return {
    error: {
      ...error,
      ...(typeof inner["message"] === "string" ? { message: inner["message"] } : undefined),
      ...(typeof requestId === "string" ? { requestId } : undefined)
    }
  }
}

const byType: ReadonlyMap<string, ReadonlyArray<Step>> = new Map(
  steps.map(({ type }) => [type, steps.filter((step) => step.type === type)])
)

/**
 * Today's reading of an object of the type: the object itself where no step has anything to change. Keys that nothing
 * could be read from are added to `lost`.
 *
 * @category decoding
 * @since 0.1.0
 */
export const read = <A extends JsonObject & { readonly type: string }>(value: A, lost?: Array<string>): A => {
  let changes: Array<readonly [string, unknown]> | undefined
  for (const step of byType.get(value.type) ?? []) {
    const changed = step.read(value)
    if (changed === undefined) continue
    if (step.lost !== undefined) lost?.push(step.lost)
    changes = [...(changes ?? []), ...Object.entries(changed)]
  }
  return changes === undefined ? value : { ...value, ...Object.fromEntries(changes) }
}
