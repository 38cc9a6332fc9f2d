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
import * as Entry from "./Entry.ts"
import * as Line from "./Line.ts"
import * as Metadata from "./Metadata.ts"
import * as SessionMetadata from "./SessionMetadata.ts"
import * as Verbatim from "./Verbatim.ts"

/**
 * Where an entry stands, in bytes; the end is exclusive.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly byteStart: number
  readonly byteEnd: number
}

/**
 * One entry to copy: where it stands, and what it becomes.
 *
 * `message` and `link` get `parent`, an id of the source (null: a root), and `forkedFrom`. `beside` is what stands beside
 * the conversation, and whatever belongs to a sidechain: its ids and session are mapped.
 *
 * @category models
 * @since 0.1.0
 */
export type Step =
  | (Place & {
      readonly _tag: "Message"
      readonly uuid: string
      readonly parent: string | null
      readonly isReply: boolean
      /** What a boundary says from now on, where its record of kept messages cannot be kept. */
      readonly compactMetadata?: object
    })
  | (Place & { readonly _tag: "Beside" })

/**
 * What is copied of a main lane: its entries in their new order, and what the fork is to say of itself at the end.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plan {
  readonly steps: Iterable<Step>
  /** The message that the fork ends at, by its id in the source. */
  readonly leaf: string
  /** How many messages are copied. */
  readonly messages: number
  /** The first and the last prompt among them: where they stand. */
  readonly prompts: { readonly first: Place; readonly last: Place } | undefined
  /** What the source says of itself. */
  readonly metadata: SessionMetadata.SessionMetadata
  /** The names of backups that the source's file history speaks of. */
  readonly backups: ReadonlySet<string>
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
    return `expected a message to fork at, found ${found}: ${this.at}. \`reprise resume\` lists the ids`
  }
}

/**
 * From which session to which, and the new id of each message and of the plan.
 *
 * @category models
 * @since 0.1.0
 */
export interface Names {
  readonly source: string
  readonly target: string
  readonly idOf: (uuid: string) => string
  /** The name of the plan that is the copy's own; by default that of the source, which both then write. */
  readonly slugOf?: (slug: string) => string
}

/**
 * Every key under which an entry names a message (FORMAT §4), its session and its plan.
 */
const shapeOf = ({ idOf, slugOf, target }: Pick<Names, "idOf" | "slugOf" | "target">): Verbatim.Shape => ({
  ...(slugOf !== undefined && { slug: slugOf }),
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
export const copying = (names: Names): ((entry: Uint8Array, step: Step) => Verbatim.Edited | undefined) => {
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
 * The text of the prompt that an entry is; nothing where it is none.
 *
 * @category getters
 * @since 0.1.0
 */
export const promptIn = (entry: Uint8Array): string | undefined => {
  const [located] = Line.decode(entry, { line: 1, byteStart: 0, byteEnd: entry.length })
  const prompt =
    located !== undefined && Entry.is("user")(located.entry) && SessionMetadata.firstPromptOf(located.entry)
  return prompt ? prompt.text : undefined
}

/**
 * The title of the fork, and the entries at its end. `prompts` are the texts of its first and last prompt.
 *
 * @category combinators
 * @since 0.1.0
 */
export const ending = (
  { leaf, metadata }: Plan,
  { idOf, target }: Names,
  prompts: { readonly first?: string | undefined; readonly last?: string | undefined } = {}
): { readonly title: string; readonly entries: ReadonlyArray<object> } => {
  const { firstPrompt: before, lastPrompt: said, ...others } = metadata
  const { first = before, last } = prompts
  const title = SessionMetadata.titleOf({
    ...others,
    // Where the source is not named by its last prompt, nor is the fork.
    ...(said !== undefined && last !== undefined && { lastPrompt: last }),
    ...(first !== undefined && { firstPrompt: first })
  })
  const customTitle = `${title ?? "Session"} (fork)`
  const prompt = Metadata.lastPrompt({ ...(last !== undefined && { lastPrompt: last }), leafUuid: idOf(leaf) })
  const bodies = [prompt, ...SessionMetadata.restate({ ...others, customTitle })]
  return { title: customTitle, entries: bodies.map((body) => ({ ...body, sessionId: target })) }
}
