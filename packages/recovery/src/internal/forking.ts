/**
 * Forking: what of a log is held while a fork of it is planned: messages without their texts, and what stands beside them.
 */
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import type { Located } from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"

/** What recovery asks of an entry, without its texts. */
export const slim = (located: Located): Located => {
  const { entry } = located
  return Entry.isMessage(entry) ? { ...located, entry: bones(entry) as Entry.Entry, damage: [] } : located
}

const bones = (entry: Entry.Message): object => {
  const { agentId, isCompactSummary, isMeta, isSidechain, parentUuid, timestamp, type, uuid } =
    entry as Entry.OfKind<"user">
  const envelope = { type, uuid, parentUuid, isSidechain, agentId, timestamp, isMeta, isCompactSummary }
  if (entry.type === "attachment") return envelope
  if (entry.type === "system") {
    const { compactMetadata, snipMetadata, subtype } = entry
    return { ...envelope, subtype, compactMetadata, snipMetadata }
  }
  const { content } = entry.message
  const blocks = typeof content === "string" ? [] : content.flatMap(bone)
  if (entry.type === "user") return { ...envelope, message: { content: blocks } }
  const { id } = entry.message
  return { ...envelope, message: { content: blocks, ...(id !== undefined && { id }) } }
}

const bone = (block: unknown): ReadonlyArray<object> => {
  if (Content.isToolUse(block)) return [{ type: block.type, id: block.id, name: "", input: {} }]
  if (Content.isToolResult(block)) return [{ type: block.type, tool_use_id: block.tool_use_id }]
  return []
}

/** What stands beside the messages, by its place among all entries, and what is needed of their texts. */
export interface Noted {
  seq: number
  readonly beside: Array<Beside>
  readonly links: Map<number, { readonly byteStart: number; readonly byteEnd: number }>
  readonly agents: Array<{ readonly seq: number; readonly agentId: string }>
  readonly prompts: Array<{ readonly seq: number; readonly text: string }>
}

/** `about`: the messages that it speaks of; `on`: the snapshot that it builds on. */
export interface Beside {
  readonly seq: number
  readonly byteStart: number
  readonly byteEnd: number
  readonly agentId?: string | undefined
  readonly inline?: true
  readonly about: ReadonlyArray<string>
  readonly on?: string | undefined
}

export const noted: Projection.Projection<Located, Noted> = Projection.make({
  initial: (): Noted => ({ seq: 0, beside: [], links: new Map(), agents: [], prompts: [] }),
  evolve: (draft, located: Located) => {
    const { at, entry } = located
    const seq = draft.seq++
    const place = { seq, byteStart: at.byteStart, byteEnd: at.byteEnd }
    if (Entry.isMessage(entry)) {
      if (entry.isSidechain === true) {
        draft.beside.push({ ...place, agentId: entry.agentId, inline: true, about: [] })
      } else if (entry.type === "user") said(draft, entry, seq)
      return draft
    }
    const beside = besideOf(entry)
    if (beside !== undefined) draft.beside.push({ ...place, ...beside })
    else if (Entry.kindOf(entry) === "unknown") draft.links.set(seq, { byteStart: at.byteStart, byteEnd: at.byteEnd })
    return draft
  },
  extract: (draft) => draft
})

const said = (draft: Noted, entry: Entry.OfKind<"user">, seq: number): void => {
  const agentId = (entry.toolUseResult as { readonly agentId?: unknown } | null | undefined)?.agentId
  if (typeof agentId === "string") draft.agents.push({ seq, agentId })
  const prompt = SessionMetadata.firstPromptOf(entry)
  if (prompt?.kind === "prompt") draft.prompts.push({ seq, text: owned(prompt.text) })
}

/** The same text with bytes of its own: a piece of a long one would keep all of it alive. */
const owned = (text: string): string => JSON.parse(JSON.stringify(text)) as string

const besideOf = (entry: Entry.Entry): Pick<Beside, "about" | "agentId" | "on"> | undefined =>
  Entry.match(entry, {
    "file-history-snapshot": ({ messageId, snapshot }) => ({ about: present(messageId), on: snapshot?.messageId }),
    "file-history-delta": ({ messageId, snapshotMessageId }) => ({ about: present(messageId), on: snapshotMessageId }),
    "attribution-snapshot": ({ messageId }) => ({ about: present(messageId) }),
    "content-replacement": ({ agentId }) => ({ about: [], agentId }),
    "marble-origami-commit": ({ firstArchivedUuid, lastArchivedUuid }) => ({
      about: present(firstArchivedUuid, lastArchivedUuid)
    }),
    "marble-origami-snapshot": () => ({ about: [] })
  })

const present = (...ids: ReadonlyArray<string | undefined>): ReadonlyArray<string> =>
  ids.filter((id) => id !== undefined)
