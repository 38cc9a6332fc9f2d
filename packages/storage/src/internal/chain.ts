/**
 * Chain: what a writer must know of one lane to add to it. The same function follows a log that is read and entries
 * that are accepted.
 *
 *   u1 ─ call a ─ call b ─ result b ─ a2        each result hangs on its own call; what comes next, on the last of them
 *           └─ result a
 *
 * 1. `seen` holds every message of the lane, `tail` the one that the next message hangs on. A second copy changes nothing.
 * 2. `conversation` is what recovery will show up to the tail, from the last boundary on, so that a checkpoint states
 *    its length (RECOVERY §13); undefined where this simple following cannot be sure.
 * 3. `calls` leads from the id of an open tool call to the entry that made it. As long as nothing but its round was said
 *    since, its result hangs there; later it hangs on the tail, or what was said meanwhile would be left on a branch.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"

/** The state of one lane; mutable, and private to its transcript. */
export interface Chain {
  /** By id: the number of the round that the message belongs to; what is in no round has a number of its own. */
  readonly seen: Map<string, number>
  readonly calls: Map<string, { readonly uuid: string; readonly round: number }>
  /** What was snipped: no compaction brings it back. */
  readonly removed: Set<string>
  tail: string | null
  /** The number of the round at the tail, the `message.id` of its reply, and whether that makes calls. */
  round: number
  reply: string | undefined
  hasCalls: boolean
  /** Rounds with notes: whether a turn hangs on one of those decides where it belongs. */
  readonly noted: Set<number>
  conversation: Array<string> | undefined
  /** How many more stand before it, of which only the number is known. */
  before: number
  /** A rewind to one of the first so many is not followed: a late result goes back to its round, kept ones to theirs. */
  firm: number
  /** The tail before, where the tail is a compact boundary: one with nothing behind it cuts nothing (RECOVERY §5). */
  unfinished: Pick<Chain, "tail" | "conversation" | "before" | "firm"> | undefined
}

/** The round of a message of which the bytes of the log alone have told; see `Session.holds`. */
export const PASSED = -2

/** An empty lane. */
export const make = (): Chain => ({
  seen: new Map(),
  calls: new Map(),
  removed: new Set(),
  tail: null,
  round: 0,
  reply: undefined,
  hasCalls: false,
  noted: new Set(),
  conversation: [],
  before: 0,
  firm: 0,
  unfinished: undefined
})

/** The number of entries of the conversation up to the tail, as recovery counts them. */
export const countOf = ({ before, conversation }: Chain): number | undefined =>
  conversation === undefined ? undefined : before + conversation.length

/** Takes note of a message of the lane. */
export const advance = (chain: Chain, entry: Entry.Message): void => {
  if (entry.uuid === "" || chain.seen.has(entry.uuid)) return
  const parent = entry.parentUuid || null
  const isInRound = joins(chain, entry, parent)
  if (!isInRound) begin(chain, Entry.is("assistant")(entry) ? entry.message.id : undefined)
  for (const id of callsOf(entry)) {
    chain.calls.set(id, { uuid: entry.uuid, round: chain.round })
    chain.hasCalls = true
  }
  chain.seen.set(entry.uuid, chain.round)
  const { before, conversation, firm, tail } = chain
  chain.unfinished = Boundary.isCompact(entry) ? { before, conversation, firm, tail } : undefined
  see(chain, entry, parent, isInRound)
  chain.tail = entry.uuid
}

/** Takes note of a message that the conversation passes over whatever follows: that it is there, and what it snips. */
export const pass = (chain: Chain, entry: Entry.Message): void => {
  if (entry.uuid !== "") chain.seen.set(entry.uuid, -1)
  for (const uuid of Boundary.removed(entry) ?? []) chain.removed.add(uuid)
}

/**
 * Moves the tail to a message of the lane, or before the first one. `known` is the conversation up to it, or the number of
 * its entries, where the caller knows.
 */
export const moveTo = (chain: Chain, tail: string | null, known?: ReadonlyArray<string> | number): void => {
  if (typeof known === "number") [chain.before, chain.conversation] = [known, []]
  else if (known !== undefined) [chain.before, chain.conversation] = [0, [...known]]
  else if (tail !== chain.tail) chain.conversation = upTo(chain, tail)
  if (tail === chain.tail) return
  begin(chain, undefined)
  chain.tail = tail
}

/** Takes back a boundary that nothing follows. */
export const skipUnfinished = (chain: Chain): void => {
  if (chain.unfinished === undefined) return
  Object.assign(chain, chain.unfinished)
  begin(chain, undefined)
}

interface Body {
  readonly type: string
  readonly message?: unknown
}

/** What a body hangs on: a result on the entry that made its call, all else on the tail. */
export const parentOf = (chain: Chain, body: Body): string | null => {
  const called = answered(chain, body).findLast(({ round }) => round === chain.round)
  return called?.uuid ?? chain.tail
}

/** The entry that made the call which this body answers. */
export const callerOf = (chain: Chain, body: Body): string | undefined => answered(chain, body).at(-1)?.uuid

const answered = (chain: Chain, body: Body) => resultsOf(body).flatMap((id) => chain.calls.get(id) ?? [])

const begin = (chain: Chain, reply: string | undefined): void => {
  chain.round++
  chain.reply = reply
  chain.hasCalls = false
}

/** Whether it belongs to the round at the tail: further entries of the reply, results, and notes on calls and results. */
const joins = (chain: Chain, entry: Entry.Message, parent: string | null): boolean => {
  if (Entry.is("assistant")(entry)) return entry.message.id !== undefined && entry.message.id === chain.reply
  const results = resultsOf(entry)
  if (results.length > 0) {
    const calls = results.map((id) => chain.calls.get(id))
    for (const id of results) chain.calls.delete(id)
    if (calls.some((call) => call?.round === chain.round)) return true
    if (calls.some((call) => call !== undefined)) chain.firm = chain.conversation?.length ?? 0
    return false
  }
  const isNoted = chain.hasCalls && isNote(entry) && chain.seen.get(parent ?? "") === chain.round
  if (isNoted) chain.noted.add(chain.round)
  return isNoted
}

/** What only accompanies the entry that it hangs on. */
const isNote = (entry: Entry.Message): boolean => {
  if (entry.type === "attachment") return true
  if (entry.type === "user") return entry.isMeta === true
  const isMarker = Boundary.isCompact(entry) || Boundary.isSnip(entry)
  return entry.type === "system" && !isMarker && !(entry.subtype === "informational" && entry.isMeta === true)
}

const see = (chain: Chain, entry: Entry.Message, parent: string | null, isInRound: boolean): void => {
  if (Boundary.isCompact(entry)) return compact(chain, entry)
  const removed = Boundary.removed(entry)
  if (removed !== undefined) snip(chain, new Set(removed))
  if (parent !== chain.tail && !isInRound) chain.conversation = upTo(chain, parent)
  chain.conversation?.push(entry.uuid)
}

/** Boundary, kept messages and whatever comes: of their order only the number matters. */
const compact = (chain: Chain, entry: Entry.Message): void => {
  const preserved = Boundary.preserved(entry)
  const named = preserved?.kind === "messages" ? new Set(preserved.uuids) : []
  const kept = Array.from(named).filter((uuid) => !chain.removed.has(uuid))
  const isKnown = preserved?.kind !== "segment" && kept.every((uuid) => chain.seen.has(uuid))
  chain.conversation = isKnown ? [entry.uuid, ...kept] : undefined
  chain.before = 0
  chain.firm = kept.length === 0 ? 0 : kept.length + 2
}

/** A result of a call that is gone would take the way past what was said since. */
const snip = (chain: Chain, removed: ReadonlySet<string>): void => {
  for (const uuid of removed) chain.removed.add(uuid)
  for (const [id, { uuid }] of chain.calls) if (removed.has(uuid)) chain.calls.set(id, { uuid, round: -1 })
  const { before, conversation = [] } = chain
  const left = conversation.filter((uuid) => !removed.has(uuid))
  chain.firm -= conversation.slice(0, chain.firm).filter((uuid) => removed.has(uuid)).length
  const isKnown = before === 0 || conversation.length - left.length === removed.size
  chain.conversation = chain.conversation && isKnown ? left : undefined
}

/** What is shown up to a message: all of it until there, and the round that it belongs to as a whole. */
const upTo = (chain: Chain, uuid: string | null): Array<string> | undefined => {
  if (uuid === null) {
    chain.before = 0
    return []
  }
  const { conversation, firm, noted, seen } = chain
  const at = conversation?.lastIndexOf(uuid) ?? -1
  if (conversation === undefined || at < 0 || at < firm) return undefined
  const round = seen.get(uuid)
  let end = at + 1
  while (end < conversation.length && seen.get(conversation[end]!) === round) end++
  return end > at + 1 && noted.has(round!) ? undefined : conversation.slice(0, end)
}

const blocksOf = (entry: { readonly message?: unknown }): ReadonlyArray<unknown> => {
  const content = (entry.message as { readonly content?: unknown } | null | undefined)?.content
  return Array.isArray(content) ? content : []
}

const callsOf = (entry: Body): ReadonlyArray<string> =>
  entry.type === "assistant" ? blocksOf(entry).flatMap((block) => (Content.isToolUse(block) ? [block.id] : [])) : []

const resultsOf = (entry: Body): ReadonlyArray<string> =>
  entry.type === "user"
    ? blocksOf(entry).flatMap((block) => (Content.isToolResult(block) ? [block.tool_use_id] : []))
    : []

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
