/**
 * Fork: a session copied under a new id: which entries, in which order, and what changes in each.
 *
 *   source   u1 ─ a1 ─ u2 ─ a2        at a1:   u1' ─ a1'        forkedFrom { sessionId, messageUuid } on each
 *                 └─ u3 ─ a3                   custom-title "… (fork)"
 *
 * 1. Ids are mapped by one function, so wherever a message is named (parents, records of boundaries, snips, file
 *    history, …) the copy is named, whatever lane or line it stands in. Ids of other namespaces (calls, replies,
 *    requests, prompts) stay.
 * 2. Only those values change. Texts, numbers and unknown keys are moved as bytes (`Verbatim`).
 * 3. A copy says what it hangs on: its parent is the one that recovery found, so a fork needs no repair.
 */
import * as Schema from "effect/Schema"
import type * as Metadata from "./Metadata.ts"
import * as Verbatim from "./Verbatim.ts"

/**
 * One entry to copy: where it stands (bytes, the end exclusive), and what it becomes.
 *
 * `message` and `link` get `parent`, an id of the source (null: a root), and `forkedFrom`. `beside` is what stands beside
 * the conversation, and whatever belongs to a sidechain: its ids and session are mapped.
 *
 * @category models
 * @since 0.1.0
 */
export type Step =
  | {
      readonly _tag: "Message"
      readonly byteStart: number
      readonly byteEnd: number
      readonly uuid: string
      readonly parent: string | null
      readonly isReply: boolean
      /** What a boundary says from now on, where its record of kept messages cannot be kept. */
      readonly compactMetadata?: object
    }
  | { readonly _tag: "Beside"; readonly byteStart: number; readonly byteEnd: number }

/**
 * What is copied of a main lane: its entries in their new order, and what is said at the end, without session ids.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plan {
  readonly steps: ReadonlyArray<Step>
  /** The message that the fork ends at, by its id in the source. */
  readonly leaf: string
  /** How many messages are copied. */
  readonly messages: number
  readonly title: string
  /** Metadata said again, the title among it; a leaf in it is an id of the source. */
  readonly metadata: ReadonlyArray<Metadata.Body>
  /** Agents that only messages which are left out speak of: their sidechains stay behind. */
  readonly leftOut: ReadonlySet<string>
}

/**
 * There is nothing to fork at: no message of the conversation has the id, or nothing was said.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoForkPoint extends Schema.TaggedError<NoForkPoint>()("NoForkPoint", {
  at: Schema.NullOr(Schema.String),
  found: Schema.Literals(["Nothing", "Removed", "Empty"])
}) {
  override get message(): string {
    if (this.found === "Empty") return "expected a session with a message to fork at, found none"
    const found = this.found === "Removed" ? "one that was snipped" : "no message with this id in the main lane"
    return `expected a message to fork at, found ${found}: ${this.at}. \`reprise show\` and \`explain\` list the ids`
  }
}

/**
 * From which session to which, and the new id of each message.
 *
 * @category models
 * @since 0.1.0
 */
export interface Names {
  readonly source: string
  readonly target: string
  readonly idOf: (uuid: string) => string
}

/**
 * Every key under which an entry names a message (FORMAT §4), and its session.
 */
const shapeOf = ({ idOf, target }: Pick<Names, "idOf" | "target">): Verbatim.Shape => ({
  uuid: idOf,
  parentUuid: idOf,
  logicalParentUuid: idOf,
  sourceToolAssistantUUID: idOf,
  summarizedTurnPromptUuids: idOf,
  leafUuid: idOf,
  messageId: idOf,
  snapshotMessageId: idOf,
  firstArchivedUuid: idOf,
  lastArchivedUuid: idOf,
  summaryUuid: idOf,
  sessionId: () => target,
  attachment: { source_uuid: idOf },
  snapshot: { messageId: idOf },
  staged: { firstArchivedUuid: idOf, lastArchivedUuid: idOf, summaryUuid: idOf, startUuid: idOf, endUuid: idOf },
  snipMetadata: { removedUuids: idOf },
  microcompactMetadata: { clearedAttachmentUUIDs: idOf },
  compactMetadata: {
    preservedSegment: { headUuid: idOf, anchorUuid: idOf, tailUuid: idOf },
    preservedMessages: { anchorUuid: idOf, uuids: idOf, allUuids: idOf }
  }
})

/**
 * What makes the copy of an entry from its bytes.
 *
 * @category combinators
 * @since 0.1.0
 */
export const copying = (names: Names): ((entry: Uint8Array, step: Step) => Uint8Array | undefined) => {
  const { idOf, source, target } = names
  const shape = shapeOf(names)
  return (entry, step) => {
    if (step._tag === "Beside") return Verbatim.edit(entry, { shape })
    const { compactMetadata, isReply, parent, uuid } = step
    return Verbatim.edit(entry, {
      shape,
      set: {
        parentUuid: parent === null ? null : idOf(parent),
        sessionId: target,
        forkedFrom: { sessionId: source, messageUuid: uuid },
        ...(compactMetadata !== undefined && { compactMetadata })
      },
      ...(isReply && { defaults: { requestSessionId: source } })
    })
  }
}

/**
 * The entries at the end of the fork.
 *
 * @category combinators
 * @since 0.1.0
 */
export const ending = ({ metadata }: Plan, { idOf, target }: Names): ReadonlyArray<object> =>
  metadata.map((body) => ({
    ...body,
    ...("leafUuid" in body && typeof body.leafUuid === "string" && { leafUuid: idOf(body.leafUuid) }),
    sessionId: target
  }))
