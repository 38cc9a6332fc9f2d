/**
 * Trace: a repair, watched step by step: which message each step touched, and why.
 *
 *   as written ─▶ Progress ─▶ Reparent ─▶ Relink ─▶ Snip ─▶ leaf ─▶ walk ─▶ Compact ─▶ ToolResults
 *                             u3  x9 (in no line) → a2              u1  on the walk → archived
 *
 * 1. The steps are run by `Repair` itself, in its order: what is shown is what recovery does, not a copy of it.
 * 2. A change is a message that hangs on something else, that is gone, or that has come onto the conversation. What that
 *    does to its neighbours is said of them.
 * 3. Why is said by the findings where there are any, else by the rule of the step.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Finding from "@reprise/domain/Finding"
import * as Conversation from "@reprise/recovery/Conversation"
import * as Repair from "@reprise/recovery/Repair"
import * as SessionGraph from "@reprise/recovery/SessionGraph"
import * as Compact from "@reprise/recovery/reducers/Compact"
import * as Progress from "@reprise/recovery/reducers/Progress"
import * as Relink from "@reprise/recovery/reducers/Relink"
import * as Reparent from "@reprise/recovery/reducers/Reparent"
import * as Snip from "@reprise/recovery/reducers/Snip"
import * as ToolResults from "@reprise/recovery/reducers/ToolResults"

/**
 * Where a message stands, before a step or after it. `message` to `loop`: what it hangs on; a `link` is an entry that is
 * no message, a `loop` one whose parents lead back to itself. `walk` to `beside`: whether the conversation has it.
 *
 * @category models
 * @since 0.1.0
 */
export type Stand =
  | { readonly is: "root" | "walk" | "beside" }
  | { readonly is: "message" | "behind"; readonly uuid: string; readonly line: number }
  | { readonly is: "link" | "missing" | "sidechain" | "loop"; readonly uuid: string }
  | { readonly is: "removed" | "archived"; readonly by: string; readonly line: number }

/**
 * A message that a step touched.
 *
 * @category models
 * @since 0.1.0
 */
export interface Change {
  readonly uuid: string
  readonly line: number
  readonly from: Stand
  readonly to: Stand
  /** Sentences. */
  readonly why: ReadonlyArray<string>
}

/**
 * One step: `compaction` is there when it found the boundary that the conversation starts at.
 *
 * @category models
 * @since 0.1.0
 */
export interface Step {
  readonly name: string
  readonly changes: ReadonlyArray<Change>
  readonly findings: ReadonlyArray<Finding.Finding>
  readonly compaction: SessionGraph.Compaction | undefined
}

/**
 * A watched repair. `walked` is the way from the leaf to its root, before the steps that work on it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Trace {
  readonly written: SessionGraph.SessionGraph
  readonly graph: ReadonlyArray<Step>
  readonly leaf: Conversation.Leaf
  readonly walked: ReadonlyArray<number>
  readonly chain: ReadonlyArray<Step>
  readonly repaired: Repair.Repaired
}

/**
 * Repairs a graph as it was written, and tells what each step did.
 *
 * @category constructors
 * @since 0.1.0
 */
export const watch = (written: SessionGraph.SessionGraph, steps: Repair.Steps = Repair.steps): Trace => {
  const onGraph: Array<Step> = []
  const onChain: Array<readonly [name: string, before: ReadonlyArray<number>, after: ReadonlyArray<number>]> = []
  const repaired = Repair.make({
    graph: steps.graph.map((reduce) => (before) => {
      const after = reduce(before)
      onGraph.push(graphStep(nameOf(reduce), before, after))
      return after
    }),
    chain: steps.chain.map((reduce) => (graph, before) => {
      const after = reduce(graph, before)
      onChain.push([nameOf(reduce), before, after])
      return after
    })
  })(written)
  const leaf = Conversation.leafOf(repaired.graph)
  const reported = repaired.findings.slice(repaired.graph.findings.length + leaf.findings.length)
  const chain = onChain.map(([name, before, after]) => chainStep(name, repaired.graph, before, after, reported))
  return { written, graph: onGraph, leaf, walked: onChain[0]?.[1] ?? repaired.chain, chain, repaired }
}

const names: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [Progress.reduce, "Progress"],
  [Reparent.reduce, "Reparent"],
  [Relink.reduce, "Relink"],
  [Snip.reduce, "Snip"],
  [Compact.reduce, "Compact"],
  [ToolResults.reduce, "ToolResults"]
])

const nameOf = (reduce: { readonly name: string }): string => names.get(reduce) ?? (reduce.name || "a step")

const graphStep = (name: string, before: SessionGraph.SessionGraph, after: SessionGraph.SessionGraph): Step => {
  const known = new Set(before.findings)
  const findings = after.findings.filter((finding) => !known.has(finding))
  const said = sentences(findings)
  const gone = after.removed.size === before.removed.size ? new Map() : snips(after)
  const rule = rules(before, after)
  const changes: Array<Change> = []
  for (const { at, index, uuid } of after.nodes) {
    const from = hangs(before, index)
    if (after.removed.has(index)) {
      if (before.removed.has(index)) continue
      const { by, line } = gone.get(uuid) ?? { by: uuid, line: at.line }
      const why = [`Snip ${by} on line ${line} removes it.`]
      changes.push({ uuid, line: at.line, from, to: { is: "removed", by, line }, why })
    } else if (before.parent[index] !== after.parent[index]) {
      const why = said.get(uuid) ?? rule(index)
      changes.push({ uuid, line: at.line, from, to: hangs(after, index), why })
    }
  }
  return { name, changes, findings, compaction: before.compaction === after.compaction ? undefined : after.compaction }
}

/**
 * What a message hangs on.
 *
 * @category getters
 * @since 0.1.0
 */
export const hangs = (graph: SessionGraph.SessionGraph, node: number): Stand => {
  const parent = graph.parent[node]!
  if (parent === SessionGraph.ROOT) return { is: "root" }
  const message = graph.nodes.get(parent)
  if (message !== undefined) return { is: "message", uuid: message.uuid, line: message.at.line }
  const uuid = graph.dangling.get(node) ?? SessionGraph.parentUuidOf(graph.nodes.get(node)!.entry) ?? ""
  if (parent >= graph.nodes.length) return { is: "link", uuid }
  return { is: parent === SessionGraph.LOOP ? "loop" : parent === SessionGraph.FOREIGN ? "sidechain" : "missing", uuid }
}

/** The sentences that name a message. */
const sentences = (findings: ReadonlyArray<Finding.Finding>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const said = new Map<string, Array<string>>()
  for (const finding of findings) {
    for (const uuid of touched(finding)) {
      const known = said.get(uuid)
      if (known === undefined) said.set(uuid, [Finding.explain(finding)])
      else known.push(Finding.explain(finding))
    }
  }
  return said
}

/**
 * The messages of which a finding says something.
 *
 * @category getters
 * @since 0.1.0
 */
export const touched = (finding: Finding.Finding): ReadonlyArray<string> => [
  ...("uuid" in finding && finding.uuid !== undefined ? [finding.uuid] : []),
  ...("uuids" in finding ? finding.uuids : [])
]

/** The first snip that names a message. */
const snips = (
  graph: SessionGraph.SessionGraph
): ReadonlyMap<string, { readonly by: string; readonly line: number }> => {
  const by = new Map<string, { readonly by: string; readonly line: number }>()
  for (const { at, entry, uuid } of graph.nodes)
    for (const id of Boundary.removed(entry) ?? []) if (!by.has(id)) by.set(id, { by: uuid, line: at.line })
  return by
}

/** Why a message hangs on something else, where no finding says so. */
const rules = (before: SessionGraph.SessionGraph, after: SessionGraph.SessionGraph) => {
  const { compaction } = after
  const kept = new Map(compaction?.kept.map((node, place) => [node, place + 1]))
  return (node: number): ReadonlyArray<string> => {
    const from = before.parent[node]!
    if (from >= before.nodes.length) return ["What it hung on is no message, and is looked through."]
    if (after.removed.has(from)) return ["What it hung on was removed."]
    if (compaction === undefined || compaction === before.compaction) return []
    const place = kept.get(node)
    if (place !== undefined) return [`It is message ${place} of the ${kept.size} that the boundary keeps.`]
    if (node === compaction.boundary) return ["The messages that it keeps leave the way above it."]
    return from >= 0 && from < compaction.boundary && !kept.has(from)
      ? ["What it hung on stands before the boundary and was not kept."]
      : ["The kept messages stand before it."]
  }
}

const chainStep = (
  name: string,
  { nodes }: SessionGraph.SessionGraph,
  before: ReadonlyArray<number>,
  after: ReadonlyArray<number>,
  reported: ReadonlyArray<Finding.Finding>
): Step => {
  const stood = new Set(before)
  const stands = new Set(after)
  const changes: Array<Change> = []
  const start = nodes.get(after[0] ?? -1)
  const cut = { is: "archived", by: start?.uuid ?? "", line: start?.at.line ?? 0 } as const
  for (const index of before) {
    if (stands.has(index)) continue
    const { at, uuid } = nodes.get(index)!
    const why = [`It stands before boundary ${cut.by} on line ${cut.line}, and is not kept.`]
    changes.push({ uuid, line: at.line, from: { is: "walk" }, to: cut, why })
  }
  const fresh = new Set(after.filter((index) => !stood.has(index)).map((index) => nodes.get(index)!.uuid))
  const findings = reported.filter((finding) => touched(finding).some((uuid) => fresh.has(uuid)))
  const said = sentences(findings)
  after.forEach((index, place) => {
    if (stood.has(index)) return
    const { at, uuid } = nodes.get(index)!
    const above = nodes.get(after[place - 1] ?? -1)
    const to: Stand = above === undefined ? { is: "root" } : { is: "behind", uuid: above.uuid, line: above.at.line }
    changes.push({ uuid, line: at.line, from: { is: "beside" }, to, why: said.get(uuid) ?? [] })
  })
  return { name, changes, findings, compaction: undefined }
}
