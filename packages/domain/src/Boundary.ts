/**
 * Boundary: what a system entry may carry that changes which messages count.
 *
 *   compact_boundary        compactMetadata       the context starts here; some messages from before may be kept
 *   microcompact_boundary   microcompactMetadata  results were shortened in place; changes no link
 *   snip_boundary           snipMetadata          these messages leave the chain
 *
 * 1. The readers are total: they take any value, and a record that does not fit is no record (FORMAT §5).
 * 2. Of the two forms in which kept messages are named, `preservedMessages` wins over `preservedSegment`.
 * 3. The constructors write both forms (FORMAT §8).
 */
import * as Schema from "effect/Schema"
import * as Wire from "./internal/wire.ts"

/**
 * Kept messages as a segment: the walk from `tailUuid` up to `headUuid`, hung below `anchorUuid`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PreservedSegment = Schema.Struct({
  headUuid: Schema.String,
  anchorUuid: Schema.String,
  tailUuid: Schema.String
})

/**
 * Kept messages as a list: `uuids` in order, hung below `anchorUuid`; `allUuids` may name ids that were never written.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PreservedMessages = Schema.Struct({
  anchorUuid: Schema.String,
  uuids: Schema.Array(Schema.String),
  allUuids: Wire.nullable(Schema.Array(Schema.Unknown))
})

/**
 * What a compact boundary tells; `trigger` is `auto` or `manual` (open), tokens are counts, `durationMs` milliseconds.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CompactMetadata = Schema.Struct({
  trigger: Wire.text,
  ...Wire.each(Wire.count, "preTokens", "postTokens", "durationMs", "cumulativeDroppedTokens"),
  preservedSegment: Wire.nullable(PreservedSegment),
  preservedMessages: Wire.nullable(PreservedMessages),
  ...Wire.each(Wire.any, "preCompactDiscoveredTools", "preCompactOrganizationsCoverStart", "runningTurnPrompt"),
  ...Wire.each(Wire.any, "userContext", "messagesSummarized")
})

/**
 * What {@link CompactMetadata} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type CompactMetadata = typeof CompactMetadata.Type

/**
 * What a micro-compact boundary tells (2.1.9–2.1.22); the results it names are already shortened in their lines.
 *
 * @category schemas
 * @since 0.1.0
 */
export const MicrocompactMetadata = Schema.Struct({
  trigger: Wire.text,
  ...Wire.each(Wire.count, "preTokens", "tokensSaved"),
  ...Wire.each(Wire.list, "compactedToolIds", "clearedAttachmentUUIDs")
})

/**
 * What {@link MicrocompactMetadata} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type MicrocompactMetadata = typeof MicrocompactMetadata.Type

/**
 * What a snip boundary tells: the ids of the messages that leave the chain.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SnipMetadata = Schema.Struct({ removedUuids: Schema.Array(Schema.String) })

/**
 * What {@link SnipMetadata} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type SnipMetadata = typeof SnipMetadata.Type

/**
 * Kept messages as a boundary names them: a list of ids, or a segment whose ids are found by walking from tail to head.
 *
 * @category models
 * @since 0.1.0
 */
export type Preserved =
  | { readonly kind: "messages"; readonly anchor: string; readonly uuids: ReadonlyArray<string> }
  | { readonly kind: "segment"; readonly head: string; readonly anchor: string; readonly tail: string }

const isSystem = (entry: unknown, subtype: string): entry is Wire.JsonObject =>
  Wire.isObject(entry) && entry.type === "system" && entry.subtype === subtype

/**
 * Is it a compact boundary, whatever it carries?
 *
 * @category guards
 * @since 0.1.0
 */
export const isCompact = (entry: unknown): boolean => isSystem(entry, "compact_boundary")

/**
 * Is it a snip boundary, whatever it carries?
 *
 * @category guards
 * @since 0.1.0
 */
export const isSnip = (entry: unknown): boolean => isSystem(entry, "snip_boundary")

/**
 * Is it the user entry that sums up what a compaction dropped?
 *
 * @category guards
 * @since 0.1.0
 */
export const isCompactSummary = (entry: unknown): boolean =>
  Wire.isObject(entry) && entry.type === "user" && entry.isCompactSummary === true

const isMessages = Schema.is(PreservedMessages)
const isSegment = Schema.is(PreservedSegment)

/**
 * The kept messages that a compact boundary names, or undefined: it keeps none, or its records do not fit.
 *
 * @category combinators
 * @since 0.1.0
 */
export const preserved = (entry: unknown): Preserved | undefined => {
  if (!isSystem(entry, "compact_boundary") || !Wire.isObject(entry.compactMetadata)) return undefined
  const { preservedMessages: messages, preservedSegment: segment } = entry.compactMetadata
  if (isMessages(messages)) return { kind: "messages", anchor: messages.anchorUuid, uuids: messages.uuids }
  if (!isSegment(segment)) return undefined
  return { kind: "segment", head: segment.headUuid, anchor: segment.anchorUuid, tail: segment.tailUuid }
}

/**
 * The ids that a snip boundary removes; undefined for every other entry, empty where the boundary names none.
 *
 * @category combinators
 * @since 0.1.0
 */
export const removed = (entry: unknown): ReadonlyArray<string> | undefined => {
  if (!isSystem(entry, "snip_boundary")) return undefined
  const metadata = entry.snipMetadata
  const uuids = Wire.isObject(metadata) ? metadata.removedUuids : undefined
  return Array.isArray(uuids) ? uuids.filter((uuid: unknown) => typeof uuid === "string") : []
}

/**
 * The body of a compact boundary. `logicalParentUuid` is the last entry of the old chain; its own parent is null, which
 * the writer sets. `preserved.anchor` is the id of the summary that will follow, `preserved.uuids` the kept messages in
 * order.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compact = (options: {
  readonly trigger: string
  readonly preTokens: number
  readonly logicalParentUuid: string | null
  readonly preserved?: { readonly anchor: string; readonly uuids: ReadonlyArray<string> } | undefined
}) => {
  const metadata: CompactMetadata = {
    trigger: options.trigger,
    preTokens: options.preTokens,
    ...(options.preserved === undefined ? {} : records(options.preserved.anchor, options.preserved.uuids))
  }
  return {
    logicalParentUuid: options.logicalParentUuid,
    type: "system",
    subtype: "compact_boundary",
    content: "Conversation compacted",
    isMeta: false,
    level: "info",
    compactMetadata: metadata
  } as const
}

const records = (anchorUuid: string, uuids: ReadonlyArray<string>): Partial<CompactMetadata> => {
  const headUuid = uuids[0]
  const tailUuid = uuids.at(-1)
  if (headUuid === undefined || tailUuid === undefined) return {}
  return {
    preservedSegment: { headUuid, anchorUuid, tailUuid },
    preservedMessages: { anchorUuid, uuids, allUuids: uuids }
  }
}

/**
 * The body of the summary that follows a compact boundary: sent to the model, shown to people in the transcript only.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compactSummary = (text: string) =>
  ({
    type: "user",
    message: { role: "user", content: text },
    isVisibleInTranscriptOnly: true,
    isCompactSummary: true
  }) as const

/**
 * The body of a snip boundary that takes these messages off the chain.
 *
 * @category constructors
 * @since 0.1.0
 */
export const snip = (removedUuids: ReadonlyArray<string>) =>
  ({
    type: "system",
    subtype: "snip_boundary",
    content: "Messages removed",
    isMeta: false,
    level: "info",
    snipMetadata: { removedUuids }
  }) as const
