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
import * as Finding from "@reprise/domain/Finding"
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
  const { leafUuid: uuid, seq } = graph.lastPrompt
  const named = graph.byId.get(uuid)
  const keep = (finding: Finding.Finding): Leaf => ({ node: newest.node, findings: [...newest.findings, finding] })
  if (named === undefined) return keep(Finding.make("last-prompt-unknown", { uuid }))
  if (descendsFrom(graph, newest.node, named)) return newest
  const isNewerElsewhere = (node: SessionGraph.Node): boolean =>
    node.seq > seq && !graph.removed.has(node.index) && !descendsFrom(graph, node.index, named)
  return isGone(graph, named) || graph.nodes.some(isNewerElsewhere)
    ? keep(Finding.make("last-prompt-outranked", { uuid }))
    : { node: named, findings: [] }
}

/** Whether a node was taken out, or pruned by the compaction in force. */
const isGone = (graph: SessionGraph.SessionGraph, node: number): boolean => {
  const { compaction } = graph
  const isPruned = compaction?.prunes === true && node < compaction.boundary && !compaction.kept.includes(node)
  return isPruned || graph.removed.has(node)
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

/** The last line that has something said on or above it. */
const newestLeaf = (graph: SessionGraph.SessionGraph): Leaf => {
  const silent = new Uint8Array(graph.nodes.length)
  const findings: Array<Finding.Finding> = []
  for (let i = graph.nodes.length - 1; i >= 0; i--) {
    if (graph.removed.has(i) || !isSaid(graph, i, silent)) continue
    if (isLate(graph, i)) {
      findings.push(Finding.make("late-result", { uuid: graph.nodes[i]!.uuid }, graph.nodes[i]!.at))
      continue
    }
    return { node: newestBelow(graph, i), findings }
  }
  return { node: -1, findings: [] }
}

/** Looks up to the nearest boundary; `silent` remembers nodes with nothing said, so that all walks are linear. */
const isSaid = (graph: SessionGraph.SessionGraph, node: number, silent: Uint8Array): boolean => {
  const passed: Array<number> = []
  for (let at = node; at >= 0 && at < graph.nodes.length && silent[at] === 0; at = graph.parent[at]!) {
    const { entry } = graph.nodes[at]!
    if (Round.isSpeech(entry)) return true
    silent[at] = 1
    passed.push(at)
    if (Boundary.isCompact(entry)) break
  }
  return false
}

/**
 * Down to the newest child where the order of lines is not the order of talk: kept messages stand before their boundary,
 * and a result may be written before its call.
 */
const newestBelow = (graph: SessionGraph.SessionGraph, node: number): number => {
  const { last } = SessionGraph.children(graph)
  const kept = new Set(graph.compaction?.kept)
  const goesOn = (at: number, child: number): boolean => {
    if (kept.has(at) || kept.has(child)) return true
    const calls = Round.callsOf(graph.nodes[at]!.entry)
    return Round.answersOf(graph.nodes[child]!.entry).some((id) => calls.includes(id))
  }
  let at = node
  while (last[at]! >= 0 && goesOn(at, last[at]!)) {
    at = last[at]!
    if (Round.answersOf(graph.nodes[at]!.entry).length > 0 && !kept.has(at)) while (last[at]! >= 0) at = last[at]!
  }
  return at
}

/**
 * Whether the node is a tool result, or a note on one, whose reply went on before from another of its calls or results:
 * such a latecomer does not cut off the turns that followed.
 */
const isLate = (graph: SessionGraph.SessionGraph, node: number): boolean => {
  const result = resultAbove(graph, node)
  if (result < 0) return false
  const answered = new Set(Round.answersOf(graph.nodes[result]!.entry))
  const reply = replyAnswered(graph, result, answered)
  if (reply === undefined) return false
  for (let i = 0; i < graph.nodes.length; i++) {
    const { entry } = graph.nodes[i]!
    if (graph.removed.has(i) || !Round.isTurn(entry) || Round.replyOf(entry) === reply) continue
    const hook = hookOf(graph, i, reply)
    if (hook >= 0 && hook !== result) return true
  }
  return false
}

/** The tool result that a node is, or that it hangs on through attachments; -1: none. */
const resultAbove = (graph: SessionGraph.SessionGraph, node: number): number => {
  let at = node
  while (at >= 0 && graph.nodes[at]!.entry.type === "attachment") at = graph.parent[at]!
  return at >= 0 && Round.answersOf(graph.nodes[at]!.entry).length > 0 ? at : -1
}

const replyAnswered = (
  graph: SessionGraph.SessionGraph,
  result: number,
  answered: ReadonlySet<string>
): string | undefined => {
  for (let i = graph.nodes.length - 1; i >= 0; i--) {
    const { entry } = graph.nodes[i]!
    if (!graph.removed.has(i) && Round.callsOf(entry).some((id) => answered.has(id))) return Round.replyOf(entry)
  }
  const parent = graph.nodes[graph.parent[result]!]
  return parent === undefined ? undefined : Round.replyOf(parent.entry)
}

/** Where a turn leaves the round of `reply`: the call or result that it hangs on through notes; -1: it does not. */
const hookOf = (graph: SessionGraph.SessionGraph, turn: number, reply: string): number => {
  let at = graph.parent[turn]!
  while (at >= 0 && Round.isNote(graph.nodes[at]!.entry)) at = graph.parent[at]!
  if (at < 0) return -1
  const { entry } = graph.nodes[at]!
  if (Round.replyOf(entry) === reply && Round.callsOf(entry).length > 0) return at
  if (Round.answersOf(entry).length === 0) return -1
  let above = graph.parent[at]!
  while (above >= 0 && !Round.isTurn(graph.nodes[above]!.entry)) above = graph.parent[above]!
  return above >= 0 && Round.replyOf(graph.nodes[above]!.entry) === reply ? at : -1
}
