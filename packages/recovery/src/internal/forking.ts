/**
 * Forking: what of a log is held while a fork of it is planned: messages without their texts, and what stands beside them,
 * in columns.
 */
import * as Entry from "@reprise/domain/Entry"
import type * as Fork from "@reprise/domain/Fork"
import type { Located } from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as Column from "./column.ts"
import * as Names from "./names.ts"

/** An entry as the lanes of a fork are to see it: of a sidechain nothing but that it stands there. */
export const mainOnly = (located: Located): Located =>
  Entry.isMessage(located.entry) && located.entry.isSidechain === true ? { ...located, entry: aside } : located

const aside: Entry.Entry = { type: "sidechain" }

/** What stands beside the messages, by its place among all entries, and what is needed of their texts. */
export interface Noted {
  seq: number
  readonly beside: Beside
  readonly links: Map<number, Fork.Place>
  readonly backups: Set<string>
  readonly agents: Array<{ readonly seq: number; readonly agentId: string }>
  /** Where prompts stand. */
  readonly prompts: Column.Column
}

/** No id. */
export const NONE = -1

/** All that stands beside the messages, in columns. Ids are numbers of `names`, or `NONE`. */
interface Beside {
  readonly names: Names.Names
  readonly seq: Column.Column
  readonly start: Column.Column
  readonly size: Column.Column
  /** 1: it belongs to a sidechain in the same log. */
  readonly inline: Column.Column
  readonly agent: Column.Column
  /** The messages that it speaks of. */
  readonly about: readonly [Column.Column, Column.Column]
  /** The snapshot that it builds on. */
  readonly on: Column.Column
}

const beside = (): Beside => ({
  names: Names.make(),
  seq: Column.int32(),
  start: Column.float64(),
  size: Column.int32(),
  inline: Column.uint8(),
  agent: Column.int32(),
  about: [Column.int32(), Column.int32()],
  on: Column.int32()
})

interface Said {
  readonly about: ReadonlyArray<string | undefined>
  readonly agentId?: string | undefined
  readonly on?: string | undefined
}

const push = ({ beside, seq }: Noted, { byteEnd, byteStart }: Fork.Place, said: Said, inline: boolean): void => {
  const named = (name: string | undefined): number => (name === undefined ? NONE : beside.names.add(name))
  beside.seq.push(seq)
  beside.start.push(byteStart)
  beside.size.push(byteEnd - byteStart)
  beside.inline.push(inline ? 1 : 0)
  beside.agent.push(named(said.agentId))
  beside.about.forEach((column, i) => column.push(named(said.about[i])))
  beside.on.push(named(said.on))
}

export const noted: Projection.Projection<Located, Noted> = Projection.make({
  initial: (): Noted => ({
    seq: 0,
    beside: beside(),
    links: new Map(),
    backups: new Set(),
    agents: [],
    prompts: Column.int32()
  }),
  evolve: (draft, { at, entry }: Located) => {
    if (Entry.isMessage(entry)) {
      if (entry.isSidechain === true) push(draft, at, { agentId: entry.agentId, about: [] }, true)
      else if (entry.type === "user") said(draft, entry)
    } else {
      for (const name of backupsIn(entry)) draft.backups.add(name)
      const speaks = saidBy(entry)
      if (speaks !== undefined) push(draft, at, speaks, false)
      else if (Entry.kindOf(entry) === "unknown") draft.links.set(draft.seq, at)
    }
    draft.seq++
    return draft
  },
  extract: (draft) => draft
})

const said = ({ agents, prompts, seq }: Noted, entry: Entry.OfKind<"user">): void => {
  const agentId = (entry.toolUseResult as { readonly agentId?: unknown } | null | undefined)?.agentId
  if (typeof agentId === "string") agents.push({ seq, agentId })
  if (SessionMetadata.firstPromptOf(entry)?.kind === "prompt") prompts.push(seq)
}

const backupsIn = (entry: Entry.Entry): ReadonlyArray<string> => {
  const backups = Entry.match(
    entry,
    {
      "file-history-snapshot": ({ snapshot }) => Object.values(snapshot?.trackedFileBackups ?? {}),
      "file-history-delta": ({ backup }) => (backup ? [backup] : [])
    },
    () => []
  )
  return backups.flatMap(({ backupFileName }) => backupFileName ?? [])
}

const saidBy = (entry: Entry.Entry): Said | undefined =>
  Entry.match(entry, {
    "file-history-snapshot": ({ messageId, snapshot }) => ({ about: [messageId], on: snapshot?.messageId }),
    "file-history-delta": ({ messageId, snapshotMessageId }) => ({ about: [messageId], on: snapshotMessageId }),
    "attribution-snapshot": ({ messageId }) => ({ about: [messageId] }),
    "content-replacement": ({ agentId }) => ({ about: [], agentId }),
    "marble-origami-commit": ({ firstArchivedUuid, lastArchivedUuid }) => ({
      about: [firstArchivedUuid, lastArchivedUuid]
    }),
    "marble-origami-snapshot": () => ({ about: [] })
  })
