/**
 * Relink: the messages that a compaction keeps (RECOVERY §5).
 *
 *   before   … u2 ─ a2 ─ u3 ─ a3          B ─ S ─ u4       B keeps u3, a3 with anchor S
 *   after    … u2 ─ a2                    B ─ S ─ u3 ─ a3 ─ u4
 *
 * The first kept message hangs on the anchor, each next one on the one before it. What else hung on the anchor, and what
 * came later and hung on a message that was not kept, hangs on the last kept one; where nothing is kept, on the newest
 * message behind the boundary that is not later. A rewind stays where it points. In a log in which no boundary has a
 * record of kept messages nothing is pruned, and a branch that leaves before the boundary stays one.
 *
 * One record counts: that of the last boundary in the file that its own record puts on the conversation. A boundary on
 * an abandoned branch is passed over, so a compaction is local to its branch. Kept lines may have been written again
 * behind the boundary, already linked: both forms give the same graph.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Finding from "@reprise/domain/Finding"
import * as Bridge from "../Bridge.ts"
import * as Conversation from "../Conversation.ts"
import * as Round from "../Round.ts"
import * as SessionGraph from "../SessionGraph.ts"

/**
 * Whether the compaction that counts is found and its kept messages stand in place.
 *
 * @category guards
 * @since 0.1.0
 */
export const isReduced = (graph: SessionGraph.SessionGraph): boolean => {
  const { counted } = choose(graph)
  if (counted === undefined) return graph.compaction === undefined
  const { changes, compaction } = counted
  return changes.size === 0 && graph.compaction !== undefined && sameCompaction(graph.compaction, compaction)
}

const sameCompaction = (a: SessionGraph.Compaction, b: SessionGraph.Compaction): boolean =>
  a.boundary === b.boundary &&
  a.prunes === b.prunes &&
  a.kept.length === b.kept.length &&
  a.kept.every((node, i) => node === b.kept[i])

/**
 * Puts the kept messages of the compaction that counts in their place.
 *
 * @category combinators
 * @since 0.1.0
 */
export const reduce = (graph: SessionGraph.SessionGraph): SessionGraph.SessionGraph => settle(graph, 8)

/** A record may bring another boundary onto the conversation, whose record then counts; not for ever. */
const settle = (graph: SessionGraph.SessionGraph, rounds: number): SessionGraph.SessionGraph => {
  const { counted, findings } = choose(graph)
  if (counted === undefined) return SessionGraph.report({ ...graph, compaction: undefined }, findings)
  const relinked = { ...SessionGraph.withParents(graph, counted.changes), compaction: counted.compaction }
  const reported = SessionGraph.report(relinked, [...findings, ...counted.findings])
  return counted.changes.size === 0 || rounds === 0 ? reported : settle(reported, rounds - 1)
}

/** What one boundary's record asks for: only parents that are not so already. */
interface Record {
  readonly compaction: SessionGraph.Compaction
  readonly changes: ReadonlyMap<number, number>
  readonly findings: ReadonlyArray<Finding.Finding>
}

const choose = (
  graph: SessionGraph.SessionGraph
): { readonly counted: Record | undefined; readonly findings: ReadonlyArray<Finding.Finding> } => {
  const findings: Array<Finding.Finding> = []
  const boundaries = graph.systems.filter((node) => Boundary.isCompact(graph.nodes.get(node)!.entry))
  if (boundaries.length === 0) return { counted: undefined, findings }
  const firstRecord = boundaries.find((node) => Boundary.preserved(graph.nodes.get(node)!.entry) !== undefined) ?? -1
  const mayPass = passing(graph, firstRecord)
  for (const i of boundaries.toReversed()) {
    const { at, entry, uuid } = graph.nodes.get(i)!
    if (graph.removed.has(i)) continue
    if (isUnfinished(graph, i)) {
      findings.push(Finding.make("boundary-unfinished", { uuid }, at))
      continue
    }
    if (mayPass(i)) {
      const record = recordOf(graph, i, firstRecord >= 0 && firstRecord <= i)
      const relinked = { ...SessionGraph.withParents(graph, record.changes), compaction: record.compaction }
      const leaf = Conversation.leafOf(relinked).node
      if (leadsTo(relinked, leaf, record.compaction)) return { counted: record, findings }
    }
    if (Boundary.preserved(entry) !== undefined) findings.push(Finding.make("boundary-off-chain", { uuid }, at))
  }
  return { counted: undefined, findings }
}

/** Whether the way from a leaf comes to the boundary, and over nothing that it prunes: that is another branch. */
const leadsTo = (
  graph: SessionGraph.SessionGraph,
  leaf: number,
  { boundary, kept, prunes }: SessionGraph.Compaction
): boolean => {
  const isKept = new Set(kept)
  const path = SessionGraph.pathTo(graph, leaf)
  const from = path.lastIndexOf(boundary)
  return from >= 0 && (!prunes || path.slice(from + 1).every((node) => node > boundary || isKept.has(node)))
}

/** Whether a node is a boundary behind which nothing was said: one that was cut off from its summary changes nothing. */
const isUnfinished = (graph: SessionGraph.SessionGraph, node: number): boolean =>
  Boundary.isCompact(graph.nodes.get(node)!.entry) && saidFrom(graph)[node] === 0

const known = new WeakMap<Int32Array, Uint8Array>()

/** The nodes on or below which something was said; made once per shape of the graph. */
const saidFrom = (graph: SessionGraph.SessionGraph): Uint8Array => {
  const { nodes, parent, removed } = graph
  let said = known.get(parent)
  if (said !== undefined) return said
  known.set(parent, (said = new Uint8Array(nodes.length)))
  for (const { entry, index } of nodes) {
    if ((entry.type !== "user" && entry.type !== "assistant") || removed.has(index)) continue
    for (let at = index; at >= 0 && said[at] === 0; at = removed.has(at) ? -1 : parent[at]!) said[at] = 1
  }
  return said
}

/**
 * Whether the conversation may come to pass a boundary, by a look at where it does so far; asked for boundaries from the
 * last to the first, which makes all answers together cost one walk. Only where the answer is yes is the record tried.
 */
const passing = (graph: SessionGraph.SessionGraph, firstRecord: number): ((boundary: number) => boolean) => {
  const plain = { ...graph, compaction: undefined }
  const leaves = [Conversation.leafOf(plain).node, Conversation.leafOf({ ...plain, policy: "newest" }).node]
  const ways = [...new Set(leaves)].map((leaf) => ({ path: SessionGraph.pathTo(graph, leaf).toReversed(), at: 0 }))
  const passed = new Set(ways.flatMap(({ path }) => path))
  return (boundary) =>
    passed.has(boundary) ||
    namesOf(graph, boundary).some((node) => passed.has(node)) ||
    ways.some((way) => {
      while (way.at < way.path.length && way.path[way.at]! > boundary) way.at++
      const met = way.path[way.at]
      if (met === undefined || met === boundary) return met === boundary
      // What hangs on a message before the boundary is hung behind it, if the boundary prunes; a rewind is not.
      if (firstRecord < 0 || firstRecord > boundary) return false
      const from = way.path[way.at - 1]
      return from === undefined || !Round.isRewind(graph.nodes.get(from)!.entry)
    })
}

/** The nodes that a boundary's record names; of a segment, its ends. */
const namesOf = (graph: SessionGraph.SessionGraph, boundary: number): ReadonlyArray<number> => {
  const record = Boundary.preserved(graph.nodes.get(boundary)!.entry)
  if (record === undefined) return []
  const uuids = record.kind === "segment" ? [record.head, record.tail] : record.uuids
  return uuids.flatMap((uuid) => graph.byId.get(uuid) ?? [])
}

const recordOf = (graph: SessionGraph.SessionGraph, boundary: number, prunes: boolean): Record => {
  const { findings, kept: named } = keptOf(graph, boundary)
  const anchor = named.length === 0 ? boundary : anchorOf(graph, boundary, findings)
  const above = new Set(SessionGraph.pathTo(graph, anchor))
  // What the anchor hangs on cannot hang on the anchor; one that does not lead straight to the boundary anchors nothing.
  const nearest = [...above].findLast((node) => Boundary.isCompact(graph.nodes.get(node)!.entry))
  const kept = nearest === boundary ? named.filter((node) => !isBetween(graph, node, anchor, boundary)) : []
  const compaction = { boundary, kept, prunes }
  const changes = new Map<number, number>()
  if (!prunes) return { compaction, changes, findings }

  const isKept = new Set(kept)
  const isPruned = (node: number): boolean => node >= 0 && node < boundary && !isKept.has(node)
  const hang = (node: number, on: number): void => {
    if (graph.parent[node] !== on) changes.set(node, on)
  }
  kept.forEach((node, i) => hang(node, i === 0 ? anchor : kept[i - 1]!))
  // Kept messages leave the way from the boundary upward.
  if (kept.some((node) => above.has(node))) hang(boundary, SessionGraph.ROOT)
  const tail = kept.at(-1)
  const bridge = tail === undefined ? bridging(graph, isPruned) : () => tail
  for (let i = 0; i < graph.nodes.length; i++) {
    if (isKept.has(i) || above.has(i) || graph.removed.has(i)) continue
    const orphaned = i > boundary && isPruned(graph.parent[i]!) && !Round.isRewind(graph.nodes.get(i)!.entry)
    if (orphaned) hang(i, bridge(i))
    else if (tail !== undefined && graph.parent[i] === anchor) hang(i, tail)
  }
  return { compaction, changes, findings }
}

/** Whether a node stands on the way from the anchor up to the boundary. */
const isBetween = (graph: SessionGraph.SessionGraph, node: number, anchor: number, boundary: number): boolean =>
  Conversation.descendsFrom(graph, anchor, node) && Conversation.descendsFrom(graph, node, boundary)

/** The anchor of the kept messages; the summary where it is in no line. */
const anchorOf = (graph: SessionGraph.SessionGraph, boundary: number, findings: Array<Finding.Finding>): number => {
  const { at, entry, uuid } = graph.nodes.get(boundary)!
  const anchor = Boundary.preserved(entry)?.anchor ?? ""
  const named = graph.byId.get(anchor)
  if (named !== undefined && !graph.removed.has(named)) return named
  const summary = summaryOf(graph, boundary)
  findings.push(Finding.make("anchor-missing", { uuid, anchor, bridgedTo: graph.nodes.get(summary)!.uuid }, at))
  return summary
}

/** By time, among what was not pruned; an entry's own descendants are passed over. */
const bridging = (graph: SessionGraph.SessionGraph, isPruned: (node: number) => boolean) => {
  const cut = graph.parent.map((parent, node) => (isPruned(node) || isPruned(parent) ? SessionGraph.ROOT : parent))
  const trees = Bridge.forest(cut)
  const isCandidate = (node: number): boolean => !isPruned(node) && !isUnfinished(graph, node)
  const find = Bridge.make(Bridge.timesOf(graph.nodes), isCandidate, trees.find)
  return (node: number): number => {
    const to = find(node)
    if (to >= 0) trees.join(node, to)
    return to
  }
}

const keptOf = (
  graph: SessionGraph.SessionGraph,
  boundary: number
): { readonly kept: ReadonlyArray<number>; readonly findings: Array<Finding.Finding> } => {
  const { at, entry, uuid } = graph.nodes.get(boundary)!
  const record = Boundary.preserved(entry)
  if (record === undefined) return { kept: [], findings: [] }
  if (record.kind === "segment") {
    const kept = segment(graph, record.head, record.tail)
    return kept === undefined
      ? { kept: [], findings: [Finding.make("preserved-broken", { uuid }, at)] }
      : { kept, findings: [] }
  }
  const kept = new Set<number>()
  const missing: Array<string> = []
  for (const id of record.uuids) {
    const node = graph.byId.get(id)
    if (node === undefined) missing.push(id)
    else if (node !== boundary && !graph.removed.has(node)) kept.add(node)
  }
  const findings = missing.length === 0 ? [] : [Finding.make("preserved-missing", { uuid, uuids: missing }, at)]
  return { kept: [...kept], findings }
}

/** The nodes from head to tail, by the walk from the tail upward; nothing when the head is not reached. */
const segment = (
  graph: SessionGraph.SessionGraph,
  headUuid: string,
  tailUuid: string
): ReadonlyArray<number> | undefined => {
  const head = graph.byId.get(headUuid)
  const tail = graph.byId.get(tailUuid)
  if (head === undefined || tail === undefined) return undefined
  const walk: Array<number> = []
  for (let at = tail; at >= 0 && walk.length <= graph.nodes.length; at = graph.parent[at]!) {
    walk.push(at)
    if (at === head) return walk.toReversed()
  }
  return undefined
}

/** The summary that follows the boundary, directly or behind attachments; the boundary itself when it has none. */
const summaryOf = (graph: SessionGraph.SessionGraph, boundary: number): number => {
  const isBehind = SessionGraph.inherit(graph, false, (node) => (node === boundary ? true : undefined))
  for (let i = boundary + 1; i < graph.nodes.length; i++) {
    if (Boundary.isCompactSummary(graph.nodes.get(i)!.entry) && isBehind(i)) return i
  }
  return boundary
}
