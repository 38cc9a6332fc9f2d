/**
 * Chain: what a writer must know of one lane to add to it. The same function follows a log that is read and entries
 * that are accepted.
 *
 * 1. `seen` holds every message of the lane, `tail` the one that the next message hangs on. A second copy changes nothing.
 * 2. `count` is the number of entries of the conversation up to the tail, from the last boundary on, as recovery counts
 *    them (RECOVERY §13); undefined where this simple following cannot be sure.
 * 3. `calls` leads from the id of an open tool call to the entry that made it.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"

/** The state of one lane; mutable, and private to its transcript. */
export interface Chain {
  /** By id: the count when it was the tail; undefined inside a tool round, where siblings are put back. */
  readonly seen: Map<string, number | undefined>
  readonly calls: Map<string, string>
  tail: string | null
  count: number | undefined
  /** The `message.id` of the last reply. */
  reply: string | undefined
  /** The tail before, where the tail is a compact boundary: one with nothing behind it cuts nothing (RECOVERY §5). */
  beforeBoundary: string | null | undefined
}

/** An empty lane. */
export const make = (): Chain => ({
  seen: new Map(),
  calls: new Map(),
  tail: null,
  count: 0,
  reply: undefined,
  beforeBoundary: undefined
})

/** Takes note of a message of the lane. */
export const advance = (chain: Chain, entry: Entry.Message): void => {
  if (entry.uuid === "" || chain.seen.has(entry.uuid)) return
  const inRound = isInRound(chain, entry)
  chain.count = countAfter(chain, entry, inRound)
  chain.seen.set(entry.uuid, inRound || entry.type === "assistant" ? undefined : chain.count)
  chain.beforeBoundary = Boundary.isCompact(entry) ? chain.tail : undefined
  chain.tail = entry.uuid
}

/** Moves the tail to a message of the lane, or before the first one; `count` is that up to it, if it is known. */
export const moveTo = (chain: Chain, tail: string | null, count?: number): void => {
  if (count !== undefined) chain.count = count
  else if (tail !== chain.tail) chain.count = tail === null ? 0 : chain.seen.get(tail)
  chain.tail = tail
}

/** The entry that made the call which this body answers. */
export const callerOf = (
  chain: Chain,
  body: { readonly type: string; readonly message?: unknown }
): string | undefined =>
  body.type === "user"
    ? resultsOf(body)
        .map((id) => chain.calls.get(id))
        .find((uuid) => uuid !== undefined)
    : undefined

/** Whether it belongs to the tool round at the tail, and the round's calls; results and further lines of the reply do. */
const isInRound = (chain: Chain, entry: Entry.Message): boolean => {
  if (Entry.is("assistant")(entry)) {
    const isSibling = entry.message.id !== undefined && entry.message.id === chain.reply
    chain.reply = entry.message.id
    for (const block of blocksOf(entry)) if (Content.isToolUse(block)) chain.calls.set(block.id, entry.uuid)
    return isSibling
  }
  if (!Entry.is("user")(entry)) return false
  const answered = resultsOf(entry).filter((id) => chain.calls.delete(id))
  return answered.length > 0
}

const countAfter = (chain: Chain, entry: Entry.Message, inRound: boolean): number | undefined => {
  if (Boundary.isCompact(entry)) {
    const preserved = Boundary.preserved(entry)
    if (preserved?.kind === "segment") return undefined
    const kept = preserved?.uuids ?? []
    const isWhole = kept.every((uuid) => chain.seen.has(uuid))
    // Kept messages hang elsewhere from now on.
    for (const uuid of kept) chain.seen.set(uuid, undefined)
    return isWhole ? 1 + kept.length : undefined
  }
  if (Boundary.isSnip(entry)) return undefined
  const parent = entry.parentUuid || null
  const before = parent === chain.tail || inRound ? chain.count : parent === null ? 0 : chain.seen.get(parent)
  return before === undefined ? undefined : before + 1
}

const blocksOf = (entry: { readonly message?: unknown }): ReadonlyArray<unknown> => {
  const content = (entry.message as { readonly content?: unknown } | null | undefined)?.content
  return Array.isArray(content) ? content : []
}

const resultsOf = (entry: { readonly message?: unknown }): ReadonlyArray<string> =>
  blocksOf(entry).flatMap((block) => (Content.isToolResult(block) ? [block.tool_use_id] : []))

/** The chain of a whole log: of its main lane, or of an agent's. */
export const projection = (isSidechain: boolean): Projection.Projection<Line.Located, Chain> =>
  Projection.make({
    initial: make,
    evolve: (chain: Chain, { entry }: Line.Located) => {
      if (Entry.isMessage(entry) && (isSidechain || entry.isSidechain !== true)) advance(chain, entry)
      return chain
    },
    extract: (chain) => chain
  })
