/**
 * Conversation: which leaf, and the walk from it to the root (RECOVERY §8).
 *
 *   u1 ─ a1 ─ u2 ─ a2            branch
 *         └── u3 ─ a3            the last line of the file: the leaf; the conversation is u1 a1 u3 a3
 *
 * By default the leaf is the last line, in file order, that has something said on it or above it. A `last-prompt` entry
 * chooses another branch, unless messages were written after it elsewhere. The caller may name a leaf.
 */
import * as Boundary from "@reprise/domain/Boundary"
import type * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import * as Iterable from "effect/Iterable"
import * as Bridge from "./Bridge.ts"
import * as Round from "./Round.ts"
import * as SessionGraph from "./SessionGraph.ts"

/**
 * The node that the conversation ends at (-1: there is none), and what was noticed in choosing it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Leaf {
  readonly node: number
  readonly findings: ReadonlyArray<Finding.Finding>
}

/**
 * Chooses the leaf by the graph's policy.
 *
 * @category combinators
 * @since 0.1.0
 */
export const leafOf = (graph: SessionGraph.SessionGraph): Leaf => {
  if (typeof graph.policy === "object") {
    const named = graph.byId.get(graph.policy.uuid)
    if (named !== undefined && !graph.removed.has(named)) return { node: named, findings: [] }
  }
  const newest = newestLeaf(graph)
  if (graph.policy === "newest" || graph.lastPrompt === undefined) return newest
  const { at, leafUuid: uuid, seq } = graph.lastPrompt
  const named = graph.byId.get(uuid)
  const keep = (finding: Finding.Finding): Leaf => ({ node: newest.node, findings: [...newest.findings, finding] })
  if (named === undefined) return keep(Finding.make("last-prompt-unknown", { uuid }, at))
  if (descendsFrom(graph, newest.node, named)) return newest
  const isBelow = SessionGraph.inherit(graph, false, (node) => (node === named ? true : undefined))
  const isLate = latecomers(graph)
  const isNewerElsewhere = (node: SessionGraph.Node): boolean =>
    node.seq > seq && !graph.removed.has(node.index) && !isBelow(node.index) && !isLate(node.index)
  return goneIn(graph)(named) || Iterable.some(graph.nodes, isNewerElsewhere)
    ? keep(Finding.make("last-prompt-outranked", { uuid }, at))
    : { node: named, findings: [] }
}

/** Whether a node was taken out, or pruned by the compaction in force. */
const goneIn = ({ compaction, removed }: SessionGraph.SessionGraph): ((node: number) => boolean) => {
  if (compaction?.prunes !== true) return (node) => removed.has(node)
  const kept = new Set(compaction.kept)
  return (node) => (node < compaction.boundary && !kept.has(node)) || removed.has(node)
}

/**
 * The conversation's nodes from the root to the leaf.
 *
 * @category combinators
 * @since 0.1.0
 */
export const chain: (graph: SessionGraph.SessionGraph, leaf: number) => ReadonlyArray<number> = SessionGraph.pathTo

/**
 * Whether a node is the ancestor or a descendant of it.
 *
 * @category guards
 * @since 0.1.0
 */
export const descendsFrom = (graph: SessionGraph.SessionGraph, node: number, ancestor: number): boolean => {
  let at = node
  for (let steps = 0; at >= 0 && at < graph.nodes.length && steps <= graph.nodes.length; steps++) {
    if (at === ancestor) return true
    at = graph.parent[at]!
  }
  return false
}

/** The last line that has something said on or above it, up to where its boundary cuts; one that is kept does not. */
const newestLeaf = (graph: SessionGraph.SessionGraph): Leaf => {
  const isLate = latecomers(graph)
  const kept = new Set(graph.compaction?.kept)
  // Also what was taken out was said once: a snip at the end of all is the end all the same.
  const isCut = (node: number): boolean =>
    Boundary.isCompact(graph.nodes.get(node)!.entry) && !graph.removed.has(node) && !kept.has(node)
  const isSaid = SessionGraph.inherit(SessionGraph.unsnipped(graph), false, (node) =>
    Round.isSpeech(graph.nodes.get(node)!.entry) ? true : isCut(node) ? false : undefined
  )
  const findings: Array<Finding.Finding> = []
  for (let i = graph.nodes.length - 1; i >= 0; i--) {
    if (graph.removed.has(i) || !isSaid(i)) continue
    if (isLate(i)) {
      findings.push(Finding.make("late-result", { uuid: graph.nodes.get(i)!.uuid }, graph.nodes.get(i)!.at))
      continue
    }
    return { node: newestBelow(graph, i), findings }
  }
  return { node: -1, findings: [] }
}

/**
 * Down to the newest child that stands earlier in the file than the node, where the order of lines is not the order of
 * talk: kept messages stand before their boundary, and a message may be written before the one that it answers. A child
 * that is older than its parent, or was only bridged to it, is no such one.
 */
const newestBelow = (graph: SessionGraph.SessionGraph, node: number): number => {
  const { first, next } = SessionGraph.children(graph)
  const kept = new Set(graph.compaction?.kept)
  const isGone = goneIn(graph)
  const goesOn = (at: number, child: number): boolean => {
    if (child > node || isGone(child)) return false
    const above = graph.nodes.get(at)!
    const below = graph.nodes.get(child)!
    if (kept.has(child) || below.answers.some((id) => above.calls.includes(id))) return true
    const [before, after] = Bridge.timesOf([above, below])
    return !graph.bridged.has(child) && (after ?? -Infinity) >= (before ?? Infinity)
  }
  let at = node
  for (let steps = 0; steps <= graph.nodes.length; steps++) {
    let newest = -1
    for (let child = first[at]!; child >= 0; child = next[child]!) if (goesOn(at, child)) newest = child
    if (newest < 0) break
    at = newest
  }
  return at
}

/**
 * Which nodes are a tool result, or an attachment on one, whose reply went on before from another of its calls or
 * results: such a latecomer does not cut off the turns that followed. The rounds are looked at when first asked.
 *
 * @category guards
 * @since 0.1.0
 */
export const latecomers = (graph: SessionGraph.SessionGraph): ((node: number) => boolean) => {
  let rounds: Rounds | undefined
  const withoutAttachments = SessionGraph.inherit(graph, -1, (node) =>
    graph.nodes.get(node)!.entry.type === "attachment" ? undefined : node
  )
  return (node) => {
    const result = withoutAttachments(node)
    const answers = graph.nodes.get(result)?.answers ?? []
    if (answers.length === 0) return false
    rounds ??= roundsOf(graph)
    const { callers, hooks } = rounds
    const parent = graph.nodes.get(graph.parent[result]!)
    const called = answers.map((id) => callers.get(id)).find((reply) => reply !== undefined)
    const reply = called ?? (parent === undefined ? undefined : Round.replyOf(parent.entry))
    const left = reply === undefined ? undefined : hooks.get(reply)
    // A turn that hangs on the result itself is below it, and beside an attachment on it.
    return left !== undefined && left.size > (node === result && left.has(result) ? 1 : 0)
  }
}

/** By call, the reply that makes it; by reply, the calls and results from which another turn went on. */
interface Rounds {
  readonly callers: ReadonlyMap<string, string>
  readonly hooks: ReadonlyMap<string, ReadonlySet<number>>
}

const roundsOf = (graph: SessionGraph.SessionGraph): Rounds => {
  const { nodes } = graph
  const withoutNotes = SessionGraph.inherit(graph, -1, (node) => (Round.isNote(nodes.get(node)!) ? undefined : node))
  const turnAbove = SessionGraph.inherit(graph, -1, (node) => (Round.isTurn(nodes.get(node)!) ? node : undefined))
  const callers = new Map<string, string>()
  const hooks = new Map<string, Set<number>>()
  const leave = (reply: string | undefined, hook: number, turn: Entry.Message): void => {
    if (reply === undefined || reply === Round.replyOf(turn)) return
    const known = hooks.get(reply)
    if (known === undefined) hooks.set(reply, new Set([hook]))
    else known.add(hook)
  }
  for (const node of nodes) {
    const { calls, entry, index } = node
    if (graph.removed.has(index) || !Round.isTurn(node)) continue
    const own = Round.replyOf(entry)
    if (own !== undefined) for (const call of calls) callers.set(call, own)
    const hook = nodes.get(withoutNotes(graph.parent[index]!))
    if (hook === undefined) continue
    const from = hook.calls.length > 0 ? hook : hook.answers.length > 0 ? nodes.get(turnAbove(hook.index)) : undefined
    if (from !== undefined) leave(Round.replyOf(from.entry), hook.index, entry)
  }
  return { callers, hooks }
}
