/**
 * Snapshot: entries that record the state of something beside the conversation (FORMAT §3.8). None is in the parent
 * chain.
 *
 *   file-history-snapshot, -delta           backups of the files that the session changes
 *   queue-operation                         prompts that wait to be sent
 *   content-replacement                     shorter results for the model, per lane
 *   marble-origami-commit, -snapshot        context collapse: archived spans, and what is staged
 *   attribution-snapshot                    who wrote what
 *   speculation-accept                      time saved by running ahead
 *   api-request-shape, -blob, api-request   requests as sent, stored as deltas
 *
 * 1. `messageId` names a message; it is never the id of a node (FORMAT §4).
 * 2. All keys but `type` are optional, nested keys too: a fold takes what it finds.
 */
import * as Schema from "effect/Schema"
import * as Wire from "./internal/wire.ts"

const { any, count, each, flag, list, text } = Wire

/**
 * One backup of one file: `backupFileName` is null where the file did not exist, `backupTime` is ISO 8601.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Backup = Schema.Struct({
  backupFileName: Wire.nullable(Schema.String),
  version: count,
  backupTime: text,
  realParentDir: text
})

/**
 * What {@link Backup} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type Backup = typeof Backup.Type

/**
 * All tracked files at one message. A new snapshot has `messageId` twice; in an update the inner id names the snapshot
 * that it replaces and the outer one another message.
 *
 * @category schemas
 * @since 0.1.0
 */
export const FileHistorySnapshot = Schema.Struct({
  type: Schema.tag("file-history-snapshot"),
  messageId: text,
  snapshot: Wire.nullable(
    Schema.Struct({
      messageId: text,
      timestamp: text,
      trackedFileBackups: Wire.nullable(Schema.Record(Schema.String, Backup))
    })
  ),
  isSnapshotUpdate: flag
})

/**
 * What {@link FileHistorySnapshot} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type FileHistorySnapshot = typeof FileHistorySnapshot.Type

/**
 * One path added to the snapshot `snapshotMessageId` (since 2.1.210); `messageId` is another message.
 *
 * @category schemas
 * @since 0.1.0
 */
export const FileHistoryDelta = Schema.Struct({
  type: Schema.tag("file-history-delta"),
  ...each(text, "messageId", "snapshotMessageId", "trackingPath", "timestamp"),
  backup: Wire.nullable(Backup)
})

/**
 * What {@link FileHistoryDelta} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type FileHistoryDelta = typeof FileHistoryDelta.Type

/**
 * A change of the queue of waiting prompts: `operation` is `enqueue`, `dequeue`, `remove` or `popAll` (open), `content`
 * a string or blocks. Real queues do not balance.
 *
 * @category schemas
 * @since 0.1.0
 */
export const QueueOperation = Schema.Struct({
  type: Schema.tag("queue-operation"),
  ...each(text, "operation", "timestamp", "sessionId", "commandUuid", "deliveryId"),
  ...each(any, "content", "reason")
})

/**
 * What {@link QueueOperation} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type QueueOperation = typeof QueueOperation.Type

/**
 * Texts that stand for tool results in the model view: those of the main lane, or of the sidechain of `agentId`. `kind`
 * is `tool-result` (open).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ContentReplacement = Schema.Struct({
  type: Schema.tag("content-replacement"),
  sessionId: text,
  agentId: text,
  replacements: Schema.optionalKey(
    Schema.Array(Schema.Struct({ ...each(text, "kind", "toolUseId"), replacement: any }))
  )
})

/**
 * What {@link ContentReplacement} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type ContentReplacement = typeof ContentReplacement.Type

/**
 * Context collapse: the messages from `firstArchivedUuid` to `lastArchivedUuid` are sent as `summaryContent`;
 * `summaryUuid` is an id of its own, in no line.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CollapseCommit = Schema.Struct({
  type: Schema.tag("marble-origami-commit"),
  ...each(text, "sessionId", "collapseId", "summaryUuid", "summaryContent", "summary"),
  ...each(text, "firstArchivedUuid", "lastArchivedUuid")
})

/**
 * What {@link CollapseCommit} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type CollapseCommit = typeof CollapseCommit.Type

/**
 * Context collapse: what is staged and not yet committed; the last one counts.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CollapseSnapshot = Schema.Struct({
  type: Schema.tag("marble-origami-snapshot"),
  sessionId: text,
  staged: list,
  ...each(any, "armed", "lastSpawnTokens")
})

/**
 * What {@link CollapseSnapshot} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type CollapseSnapshot = typeof CollapseSnapshot.Type

/**
 * Who wrote what, at one message; the last one counts.
 *
 * @category schemas
 * @since 0.1.0
 */
export const AttributionSnapshot = Schema.Struct({
  type: Schema.tag("attribution-snapshot"),
  messageId: text,
  ...each(any, "surface", "fileStates", "promptCount")
})

/**
 * What {@link AttributionSnapshot} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type AttributionSnapshot = typeof AttributionSnapshot.Type

/**
 * The schema of each of these entries, by its wire type.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schemas = {
  "file-history-snapshot": FileHistorySnapshot,
  "file-history-delta": FileHistoryDelta,
  "queue-operation": QueueOperation,
  "content-replacement": ContentReplacement,
  "marble-origami-commit": CollapseCommit,
  "marble-origami-snapshot": CollapseSnapshot,
  "attribution-snapshot": AttributionSnapshot,
  /** `timeSavedMs` milliseconds. */
  "speculation-accept": Schema.Struct({
    type: Schema.tag("speculation-accept"),
    ...each(any, "timestamp", "timeSavedMs")
  }),
  /** System prompt and tools of requests, named by `shapeHash`. */
  "api-request-shape": Schema.Struct({
    type: Schema.tag("api-request-shape"),
    ...each(text, "sessionId", "agentId", "shapeHash", "timestamp", "version"),
    shape: any
  }),
  /** One message of requests, named by `hash`. */
  "api-request-blob": Schema.Struct({
    type: Schema.tag("api-request-blob"),
    ...each(text, "sessionId", "agentId", "hash"),
    message: any
  }),
  /** A request: the first `keep` messages of `base`, then the blobs `tail`. */
  "api-request": Schema.Struct({
    type: Schema.tag("api-request"),
    ...each(text, "sessionId", "agentId", "id", "timestamp", "version", "querySource", "shapeHash", "requestDigest"),
    keep: count,
    ...each(any, "params", "thread", "base", "tail", "cacheControl", "echoWireToolInputs")
  })
} as const

/**
 * The wire type of one of these entries.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = keyof typeof schemas

/**
 * The entry of a wire type.
 *
 * @category models
 * @since 0.1.0
 */
export type Of<K extends Kind> = (typeof schemas)[K]["Type"]

/**
 * The body of an entry of any of these kinds, `type` first; the writer adds `sessionId` where the kind has one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <K extends Kind>(type: K, value: Omit<Of<K>, "type">): Of<K> =>
  ({ type, ...value }) as unknown as Of<K>
