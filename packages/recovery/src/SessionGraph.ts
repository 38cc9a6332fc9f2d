/**
 * SessionGraph: the messages of one lane in log order, and what each of them hangs on.
 *
 *   log      u1 ← a1 ← p1 ← r1      x9 ← u2      (p1: a link that is no message; x9: in no line)
 *   nodes    u1   a1        r1           u2      index = place in the log
 *   parent   root u1   └▶p1 p1           missing
 *
 * 1. A node is the first occurrence of a message's id; later copies change nothing (RECOVERY §2).
 * 2. A link (progress, or an unknown type with uuid and parent) is no node; each occurrence stands for itself.
 * 3. The graph is a value. A reducer answers with another graph, which shares all that it did not change.
 * 4. `removed` nodes stay in `nodes`; no other node hangs on them.
 */
import type * as Entry from "@reprise/domain/Entry"
import type * as Finding from "@reprise/domain/Finding"
import type * as Nodes from "./Nodes.ts"
import type * as Round from "./Round.ts"

/**
 * A message at its place: `index` counts the messages of the lane, `seq` all entries of the log.
 *
 * @category models
 * @since 0.1.0
 */
export interface Node extends Round.Part {
  readonly index: number
  readonly seq: number
  readonly uuid: string
  readonly at: Finding.Position
}

/**
 * One occurrence of a link that is no message.
 *
 * @category models
 * @since 0.1.0
 */
export interface Link {
  readonly seq: number
  readonly uuid: string
  readonly parentUuid: string | null
}

/**
 * What the log says about the leaf: the last `last-prompt` that names one and no boundary follows (RECOVERY §8).
 *
 * @category models
 * @since 0.1.0
 */
export interface LastPrompt {
  readonly seq: number
  readonly leafUuid: string
  readonly at: Finding.Position
}

/**
 * A stretch of the log that was no entry, and the ids that can be read in it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hole {
  readonly seq: number
  readonly ids: ReadonlySet<string>
}

/**
 * Which leaf the conversation ends at: the log's own choice, the newest whatever a `last-prompt` says, or a message.
 *
 * @category models
 * @since 0.1.0
 */
export type LeafPolicy = "last-prompt" | "newest" | { readonly uuid: string }

/**
 * What the lines say, before any rule: the input of `make`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Written {
  readonly nodes: Nodes.Nodes
  /** Shared with the run, which may go on. */
  readonly byId: Nodes.Ids
  /** The parents of nodes, as far as they stood before them or there is none; else `MISSING`. */
  readonly parents: Int32Array
  /** The nodes that are system entries, in log order: the few among which boundaries, snips and checkpoints are. */
  readonly systems: ReadonlyArray<number>
  readonly links: ReadonlyArray<Link>
  /** Ids of messages of other lanes. */
  readonly foreign: { readonly has: (uuid: string) => boolean }
  readonly holes: ReadonlyArray<Hole>
  readonly lastPrompt: LastPrompt | undefined
  readonly policy: LeafPolicy
  readonly findings: ReadonlyArray<Finding.Finding>
}

/** No parent: the start of a chain. */
export const ROOT = -1
/** The parent is in no line. */
export const MISSING = -2
/** The parent is a message of another lane. */
export const FOREIGN = -3
/** The links of the parent lead back to themselves. */
export const LOOP = -4

/**
 * The compaction that the conversation starts at: the boundary's node and the messages it keeps, in order. It prunes
 * when it, or a boundary before it, has a record of kept messages: what stands before it is then archived for good and
 * neither leaf nor parent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Compaction {
  readonly boundary: number
  readonly kept: ReadonlyArray<number>
  readonly prunes: boolean
}

/**
 * The graph. `parent[i]` of a node is the index of a node, `nodes.length + k` for link k, or one of the codes above.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionGraph {
  readonly nodes: Nodes.Nodes
  readonly systems: ReadonlyArray<number>
  readonly byId: Nodes.Ids
  readonly parent: Int32Array
  readonly linkParent: Int32Array
  /** The place of each link in the log. */
  readonly linkSeqs: Int32Array
  /** For nodes whose links lead nowhere: the id that they lead to. */
  readonly dangling: ReadonlyMap<number, string>
  /** Nodes whose own link led nowhere and that hang on another message instead. */
  readonly bridged: ReadonlySet<number>
  readonly removed: ReadonlySet<number>
  /** For nodes that hung on a removed one: that one. */
  readonly rehung: ReadonlyMap<number, number>
  readonly compaction: Compaction | undefined
  readonly holes: ReadonlyArray<Hole>
  readonly lastPrompt: LastPrompt | undefined
  readonly policy: LeafPolicy
  readonly findings: ReadonlyArray<Finding.Finding>
}

/**
 * The graph as it was written.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (written: Written): SessionGraph => {
  const { byId, foreign, links, nodes } = written
  const occurrences = new Map<string, Array<number>>()
  links.forEach((link, k) => {
    const known = occurrences.get(link.uuid)
    if (known === undefined) occurrences.set(link.uuid, [k])
    else known.push(k)
  })
  const resolve = (parentUuid: string | null, seq: number): number => {
    if (parentUuid === null) return ROOT
    const node = byId.get(parentUuid)
    if (node !== undefined) return node
    const linked = occurrences.get(parentUuid)
    if (linked !== undefined) return nodes.length + nearest(linked, links, seq)
    return foreign.has(parentUuid) ? FOREIGN : MISSING
  }
  const parent = written.parents.slice()
  const dangling = new Map<number, string>()
  for (let index = parent.indexOf(MISSING); index >= 0; index = parent.indexOf(MISSING, index + 1)) {
    const { entry, seq } = nodes.get(index)!
    const parentUuid = parentUuidOf(entry)
    parent[index] = resolve(parentUuid, seq)
    if (parent[index]! < ROOT) dangling.set(index, parentUuid!)
  }
  const { findings, holes, lastPrompt, policy, systems } = written
  const linkParent = Int32Array.from(links, (link) => resolve(link.parentUuid, link.seq))
  const linkSeqs = Int32Array.from(links, ({ seq }) => seq)
  // A link that leads nowhere passes the id on to whatever hangs on it.
  links.forEach((link, k) => {
    if (linkParent[k]! < ROOT) dangling.set(nodes.length + k, link.parentUuid!)
  })
  const asRead = { nodes, systems, byId, parent, linkParent, linkSeqs, dangling, holes, lastPrompt, policy, findings }
  return { ...asRead, bridged: new Set(), removed: new Set(), rehung: new Map(), compaction: undefined }
}

/** The nearest occurrence before `seq`, else the first one after it; `linked` is in log order. */
const nearest = (linked: ReadonlyArray<number>, links: ReadonlyArray<Link>, seq: number): number => {
  let low = 0
  let high = linked.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (links[linked[middle]!]!.seq < seq) low = middle + 1
    else high = middle
  }
  return linked[Math.max(low - 1, 0)]!
}

/**
 * The parent that a message names; absent and empty mean none (FORMAT §3.1).
 *
 * @category combinators
 * @since 0.1.0
 */
export const parentUuidOf = (entry: Entry.Message): string | null => entry.parentUuid || null

/**
 * The graph with some parents changed.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withParents = (graph: SessionGraph, changes: ReadonlyMap<number, number>): SessionGraph => {
  if (changes.size === 0) return graph
  const parent = graph.parent.slice()
  for (const [node, to] of changes) parent[node] = to
  const rehung = new Map([...graph.rehung].filter(([node]) => !changes.has(node)))
  return { ...graph, parent, rehung }
}

/**
 * The graph with further findings; what it reports already is not reported twice, so that reducing twice is reducing
 * once.
 *
 * @category combinators
 * @since 0.1.0
 */
export const report = (graph: SessionGraph, findings: ReadonlyArray<Finding.Finding>): SessionGraph => {
  if (findings.length === 0) return graph
  const key = (finding: Finding.Finding) =>
    `${finding.kind} ${"uuid" in finding ? finding.uuid : ""} ${finding.line ?? ""}`
  const known = new Set(graph.findings.map(key))
  const fresh = findings.filter((finding) => !known.has(key(finding)))
  return fresh.length === 0 ? graph : { ...graph, findings: [...graph.findings, ...fresh] }
}

/**
 * The graph without some nodes: what hung on them hangs on their nearest ancestor that stays.
 *
 * @category combinators
 * @since 0.1.0
 */
export const without = (graph: SessionGraph, gone: ReadonlySet<number>): SessionGraph => {
  const removed = new Set([...graph.removed, ...gone])
  const parent = graph.parent.slice()
  const rehung = new Map(graph.rehung)
  const survivors = new Map<number, number>()
  const survivor = (from: number): number => {
    const passed = new Set<number>()
    let at = from
    while (removed.has(at) && !survivors.has(at) && !passed.has(at)) {
      passed.add(at)
      at = graph.parent[at]!
    }
    const found = survivors.get(at) ?? (removed.has(at) ? ROOT : at)
    for (const node of passed) survivors.set(node, found)
    return found
  }
  for (const { index } of graph.nodes) {
    const from = parent[index]!
    if (removed.has(index) || !removed.has(from)) continue
    if (!rehung.has(index)) rehung.set(index, from)
    parent[index] = survivor(from)
  }
  return { ...graph, parent, removed, rehung }
}

/**
 * The graph with all removed nodes in their places.
 *
 * @category combinators
 * @since 0.1.0
 */
export const unsnipped = (graph: SessionGraph): SessionGraph => {
  if (graph.removed.size === 0) return graph
  const parent = graph.parent.slice()
  for (const [node, to] of graph.rehung) parent[node] = to
  return { ...graph, parent, removed: new Set(), rehung: new Map() }
}

/**
 * The children of every node that is not removed, in log order: `first[i]` and `next[i]` are nodes or -1.
 *
 * @category combinators
 * @since 0.1.0
 */
export interface Children {
  readonly first: Int32Array
  readonly next: Int32Array
  readonly last: Int32Array
}

const known = new WeakMap<Int32Array, Children>()

/**
 * All children at once; made once per shape of the graph.
 *
 * @category combinators
 * @since 0.1.0
 */
export const children = (graph: SessionGraph): Children => {
  const cached = known.get(graph.parent)
  if (cached !== undefined) return cached
  const { nodes, parent, removed } = graph
  const none = (): Int32Array => new Int32Array(nodes.length).fill(-1)
  const [first, next, last] = [none(), none(), none()]
  for (let i = 0; i < nodes.length; i++) {
    const p = parent[i]!
    if (p < 0 || p >= nodes.length || removed.has(i)) continue
    if (last[p] === -1) first[p] = i
    else next[last[p]!] = i
    last[p] = i
  }
  const all = { first, next, last }
  known.set(parent, all)
  return all
}

/**
 * The node of an id.
 *
 * @category getters
 * @since 0.1.0
 */
export const nodeOf = (graph: SessionGraph, uuid: string): Node | undefined => {
  const index = graph.byId.get(uuid)
  return index === undefined ? undefined : graph.nodes.get(index)
}

/**
 * The id that a message hangs on now; null: it is a root.
 *
 * @category getters
 * @since 0.1.0
 */
export const parentOf = (graph: SessionGraph, uuid: string): string | null => {
  const index = graph.byId.get(uuid)
  const parent = index === undefined ? ROOT : graph.parent[index]!
  return graph.nodes.get(parent)?.uuid ?? null
}

/**
 * The messages on which nothing hangs, in log order.
 *
 * @category getters
 * @since 0.1.0
 */
export const leaves = (graph: SessionGraph): ReadonlyArray<Node> => {
  const { first } = children(graph)
  return Array.from(graph.nodes).filter((node) => first[node.index] === -1 && !graph.removed.has(node.index))
}

/**
 * Answers a question about each node that its parents pass on: `own` decides for a node itself (nothing: as its parent
 * does), `root` is the answer where no node decides. Every node is asked once, however often the answers are wanted.
 *
 * @category combinators
 * @since 0.1.0
 */
export const inherit = <A>(
  graph: SessionGraph,
  root: A,
  own: (node: number) => A | undefined
): ((node: number) => A) => {
  const answers = new Map<number, A>()
  return (node) => {
    const path: Array<number> = []
    const onPath = new Set<number>()
    let answer: A | undefined
    let at = node
    for (; at >= 0 && at < graph.nodes.length && !onPath.has(at); at = graph.parent[at]!) {
      answer = answers.has(at) ? answers.get(at) : own(at)
      path.push(at)
      onPath.add(at)
      if (answer !== undefined) break
    }
    const found = answer === undefined ? root : answer
    for (const one of path) answers.set(one, found)
    return found
  }
}

/**
 * The nodes from the root down to `leaf`. On a graph that is not reduced the walk ends at what is no node, and at the
 * first node it meets twice.
 *
 * @category combinators
 * @since 0.1.0
 */
export const pathTo = (graph: SessionGraph, leaf: number): ReadonlyArray<number> => {
  const seen = new Uint8Array(graph.nodes.length)
  let length = 0
  for (let at = leaf; seen[at] === 0; at = graph.parent[at]!, length++) seen[at] = 1
  const path = new Int32Array(length)
  for (let at = leaf; length > 0; at = graph.parent[at]!) path[--length] = at
  return [...path]
}
