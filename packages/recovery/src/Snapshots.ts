/**
 * Snapshots: what stands beside the conversation, each its own small fold (RECOVERY §12).
 *
 * 1. File history: snapshots in order, an update replaces the one that its inner id names, a delta adds one path.
 * 2. Replacements: the last text for a tool result wins, the main lane's and each agent's apart.
 * 3. Collapse: commits in order, with the last staged snapshot.
 * 4. Queue: what was enqueued and never taken. Real queues do not balance; taking from an empty one does nothing.
 */
import * as Content from "@reprise/domain/Content"
import type * as Entry from "@reprise/domain/Entry"
import type * as Finding from "@reprise/domain/Finding"
import type { Located } from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import type * as Snapshot from "@reprise/domain/Snapshot"

/**
 * The files that were tracked at one message, and the backup of each.
 *
 * @category models
 * @since 0.1.0
 */
export interface FileHistory {
  readonly messageId: string
  readonly timestamp?: string
  readonly backups: ReadonlyMap<string, Snapshot.Backup>
}

/**
 * A prompt that waits to be sent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Queued {
  readonly text: string
  readonly at: Finding.Position
  readonly timestamp?: string
}

/**
 * All snapshots of a session.
 *
 * @category models
 * @since 0.1.0
 */
export interface Snapshots {
  readonly fileHistory: ReadonlyArray<FileHistory>
  readonly attribution: ReadonlyArray<Entry.OfKind<"attribution-snapshot">>
  /** Per lane (`""` is the main lane, else an agent): replacement by tool use id. */
  readonly replacements: ReadonlyMap<string, ReadonlyMap<string, unknown>>
  readonly collapse: {
    readonly commits: ReadonlyArray<Entry.OfKind<"marble-origami-commit">>
    readonly staged: Entry.OfKind<"marble-origami-snapshot"> | undefined
  }
  readonly pending: ReadonlyArray<Queued>
}

/** File history by the id of its snapshot, in order of first sight; `own` are those that no answer shares. */
interface History {
  readonly byId: Map<string, FileHistory>
  readonly own: Map<string, Map<string, Snapshot.Backup>>
}

const none: FileHistory["backups"] = new Map()

const fileHistory = Projection.map(
  Projection.match<History>(() => ({ byId: new Map(), own: new Map() }), {
    "file-history-snapshot": (history, { snapshot }) => {
      const id = snapshot?.messageId
      if (id === undefined) return history
      const time = snapshot?.timestamp
      const backups = Object.entries(snapshot?.trackedFileBackups ?? {})
      history.own.delete(id)
      history.byId.set(id, {
        messageId: id,
        ...(time === undefined ? undefined : { timestamp: time }),
        backups: backups.length === 0 ? none : new Map(backups)
      })
      return history
    },
    "file-history-delta": (history, { backup, snapshotMessageId: id, trackingPath }) => {
      const known = id === undefined ? undefined : history.byId.get(id)
      if (known === undefined || trackingPath === undefined || !backup) return history
      const { messageId } = known
      let backups = history.own.get(messageId)
      if (backups === undefined) {
        backups = new Map(known.backups)
        history.own.set(messageId, backups)
        history.byId.set(messageId, { ...known, backups })
      }
      backups.set(trackingPath, backup)
      return history
    }
  }),
  ({ byId, own }): ReadonlyArray<FileHistory> => {
    own.clear()
    return [...byId.values()]
  }
)

const attribution = Projection.map(
  Projection.match<Map<string, Entry.OfKind<"attribution-snapshot">>>(() => new Map(), {
    "attribution-snapshot": (all, entry) => all.set(entry.messageId ?? "", entry)
  }),
  (all) => [...all.values()]
)

const replacements = Projection.map(
  Projection.match<Map<string, Map<string, unknown>>>(() => new Map(), {
    "content-replacement": (lanes, entry) => {
      const lane = entry.agentId ?? ""
      const texts = lanes.get(lane) ?? new Map<string, unknown>()
      for (const { replacement, toolUseId } of entry.replacements ?? []) {
        if (toolUseId !== undefined && replacement !== undefined) texts.set(toolUseId, replacement)
      }
      return lanes.set(lane, texts)
    }
  }),
  (lanes): Snapshots["replacements"] => new Map(Array.from(lanes, ([lane, texts]) => [lane, new Map(texts)]))
)

const commits = Projection.map(
  Projection.match<Array<Entry.OfKind<"marble-origami-commit">>>(() => [], {
    "marble-origami-commit": (all, entry) => {
      all.push(entry)
      return all
    }
  }),
  (all): Snapshots["collapse"]["commits"] => [...all]
)

const staged = Projection.match<Snapshots["collapse"]["staged"]>(() => undefined, {
  "marble-origami-snapshot": (_, entry) => entry
})

const pending = Projection.make({
  initial: (): Array<Queued> => [],
  evolve: (queue, { at, entry }: Located) => {
    if (entry.type !== "queue-operation") return queue
    const { content, operation, timestamp } = entry as Snapshot.QueueOperation
    if (operation === "enqueue") {
      queue.push({ text: Content.textOf(content), at, ...(timestamp === undefined ? undefined : { timestamp }) })
    } else if (operation === "dequeue" || operation === "remove") queue.shift()
    else if (operation === "popAll") queue.length = 0
    return queue
  },
  extract: (queue): ReadonlyArray<Queued> => [...queue]
})

/**
 * Folds located entries to all snapshots.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection: Projection.Projection<Located, Snapshots> = Projection.map(
  Projection.struct({
    recorded: Projection.entries(
      Projection.struct({ fileHistory, attribution, replacements, collapse: Projection.struct({ commits, staged }) })
    ),
    pending
  }),
  ({ pending, recorded }) => ({ ...recorded, pending })
)
