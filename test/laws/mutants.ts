/**
 * Mutants: readers that are wrong in one way each, made of the right reducers. A law that is worth its name tells them
 * from the right one.
 */
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import * as Conversation from "@reprise/recovery/Conversation"
import * as Recovery from "@reprise/recovery/Recovery"
import * as Compact from "@reprise/recovery/reducers/Compact"
import * as Progress from "@reprise/recovery/reducers/Progress"
import * as Relink from "@reprise/recovery/reducers/Relink"
import * as Reparent from "@reprise/recovery/reducers/Reparent"
import * as Snip from "@reprise/recovery/reducers/Snip"
import * as ToolResults from "@reprise/recovery/reducers/ToolResults"
import * as Repair from "@reprise/recovery/Repair"
import * as SessionGraph from "@reprise/recovery/SessionGraph"
import type * as Law from "@reprise/recovery/testing/Law"

type Graph = SessionGraph.SessionGraph
type OnGraph = (graph: Graph) => Graph
type OnChain = (graph: Graph, chain: ReadonlyArray<number>) => ReadonlyArray<number>

const { steps } = Repair

/** A reader with another repair; a law that looks at the graph itself still gets it. */
const repairing =
  (repair: (written: Graph) => Repair.Repaired): Law.Reader =>
  (log, options) =>
    Recovery.fold(log, { repair, ...options })

/** A mutant may not run in circles: what is left of them is cut open. */
const acyclic = (graph: Graph): Graph => {
  const changes = new Map<number, number>()
  const done = new Set<number>()
  for (const { index } of graph.nodes) {
    const path = new Set<number>()
    let at = index
    while (at >= 0 && at < graph.nodes.length && !path.has(at) && !done.has(at)) {
      path.add(at)
      at = graph.parent[at]!
    }
    if (path.has(at)) changes.set(at, SessionGraph.ROOT)
    for (const node of path) done.add(node)
  }
  return SessionGraph.withParents(graph, changes)
}

/** Right steps are without circles before Relink looks for the leaf, and at the end: to them this does nothing. */
const make = (graph: ReadonlyArray<OnGraph>, chain: ReadonlyArray<OnChain> = steps.chain): Law.Reader => {
  const safe = graph.flatMap((reduce) => (reduce === Relink.reduce ? [acyclic, reduce] : [reduce]))
  return repairing(Repair.make({ graph: [...safe, acyclic], chain }))
}

const off = (...reducers: ReadonlyArray<OnGraph | OnChain>): Law.Reader =>
  make(
    steps.graph.filter((reduce) => !reducers.includes(reduce)),
    steps.chain.filter((reduce) => !reducers.includes(reduce))
  )

const instead = (reducer: OnGraph, other: OnGraph): Law.Reader =>
  make(steps.graph.map((reduce) => (reduce === reducer ? other : reduce)))

const swapped = <A>(all: ReadonlyArray<A>, at: number): ReadonlyArray<A> =>
  all.with(at, all[at + 1]!).with(at + 1, all[at]!)

/** The right steps, and another rule for the leaf. */
const ending = (leafOf: (graph: Graph) => number): Law.Reader =>
  repairing((written) => {
    const graph = steps.graph.reduce((graph, reduce) => reduce(graph), written)
    const leaf = leafOf(graph)
    const walked = Conversation.chain(graph, leaf)
    return {
      graph,
      leaf,
      chain: steps.chain.reduce((chain, reduce) => reduce(graph, chain), walked),
      findings: graph.findings
    }
  })

const timeOf = ({ entry }: SessionGraph.Node): number => Date.parse(entry.timestamp ?? "") || 0

const isThere =
  ({ removed }: Graph) =>
  ({ index }: SessionGraph.Node): boolean =>
    !removed.has(index)

/** The parents that a reducer changed, each replaced by what `to` says. */
const corrected =
  (reduce: OnGraph, to: (before: Graph, after: Graph, node: number) => number): OnGraph =>
  (before) => {
    const after = reduce(before)
    const changes = new Map<number, number>()
    after.parent.forEach((parent, node) => {
      if (parent !== before.parent[node]) changes.set(node, to(before, after, node))
    })
    return SessionGraph.withParents(after, changes)
  }

const isTooOld = (graph: Graph, node: number): boolean => {
  const parent = graph.nodes.get(graph.parent[node]!)
  return parent !== undefined && timeOf(graph.nodes.get(node)!) - timeOf(parent) > 5000
}

/** What is newest among all that is not later, whether it hangs on the owner or not; who would, is a root. */
const newestOfAll = (before: Graph, after: Graph, node: number): number => {
  const time = timeOf(before.nodes.get(node)!)
  const older = [...before.nodes].filter((one) => one.index !== node && timeOf(one) <= time)
  const newest = older.toSorted((a, b) => timeOf(b) - timeOf(a) || a.index - b.index)[0]
  if (newest === undefined) return SessionGraph.ROOT
  return Conversation.descendsFrom(before, newest.index, node) ? SessionGraph.ROOT : after.parent[node]!
}

/** Of what ToolResults puts back, all but these. */
const losing =
  (isLost: (node: SessionGraph.Node) => boolean): OnChain =>
  (graph, chain) =>
    ToolResults.reduce(graph, chain).filter((node) => chain.includes(node) || !isLost(graph.nodes.get(node)!))

const uuidOf = ({ entry }: Line.Located): string | undefined =>
  Entry.isMessage(entry) && entry.isSidechain !== true ? entry.uuid : undefined

const lastOfEach: Law.Reader = (log, options) => {
  const last = new Map(log.map((one, i) => [uuidOf(one), i]))
  return Recovery.fold(
    log.filter((one, i) => uuidOf(one) === undefined || last.get(uuidOf(one)) === i),
    options
  )
}

const leaking: Law.Reader = (log, options) =>
  Recovery.fold(
    log.map((one) => (Entry.isMessage(one.entry) ? { ...one, entry: { ...one.entry, isSidechain: false } } : one)),
    options
  )

/** A reducer that does not know of links: what hangs on one is none of its business. */
const blind =
  (reduce: OnGraph): OnGraph =>
  (graph) => {
    const linked = [...graph.nodes].filter(({ index }) => graph.parent[index]! >= graph.nodes.length)
    const cut = SessionGraph.withParents(graph, new Map(linked.map(({ index }) => [index, SessionGraph.ROOT])))
    return SessionGraph.withParents(reduce(cut), new Map(linked.map(({ index }) => [index, graph.parent[index]!])))
  }

/** The right steps, put together as those of the mutants are. */
export const right: Law.Reader = make(steps.graph)

/** Every mutant, by what is wrong with it. */
export const mutants: Readonly<Record<string, Law.Reader>> = {
  "Progress is off": off(Progress.reduce),
  "Reparent is off": off(Reparent.reduce),
  "Relink is off": off(Relink.reduce),
  "Snip is off": off(Snip.reduce),
  "Compact is off": off(Compact.reduce),
  "ToolResults is off": off(ToolResults.reduce),
  "boundaries are ignored": off(Relink.reduce, Compact.reduce),
  "Reparent before Progress": make([blind(Reparent.reduce), Progress.reduce, Relink.reduce, Snip.reduce]),
  "Relink before Reparent": make(swapped(steps.graph, 1)),
  "Snip before Relink": make(swapped(steps.graph, 2)),
  "ToolResults before Compact": make(steps.graph, swapped(steps.chain, 0)),
  "nothing is bridged": instead(
    Reparent.reduce,
    corrected(Reparent.reduce, () => SessionGraph.ROOT)
  ),
  "nothing is bridged over more than five seconds": instead(
    Reparent.reduce,
    corrected(Reparent.reduce, (_, after, node) => (isTooOld(after, node) ? SessionGraph.ROOT : after.parent[node]!))
  ),
  "descendants are bridged to": instead(Reparent.reduce, corrected(Reparent.reduce, newestOfAll)),
  "kept messages stay where they were": instead(Relink.reduce, (graph) => ({
    ...Relink.reduce(graph),
    parent: graph.parent
  })),
  "a snip leaves its children behind": instead(
    Snip.reduce,
    corrected(Snip.reduce, () => SessionGraph.ROOT)
  ),
  "missing parts of a reply are not put back": make(steps.graph, [
    Compact.reduce,
    losing(({ entry }) => entry.type === "assistant")
  ]),
  "missing results are not put back": make(steps.graph, [Compact.reduce, losing(({ answers }) => answers.length > 0)]),
  "notes of a round are not put back": make(steps.graph, [
    Compact.reduce,
    losing(({ answers, entry }) => entry.type !== "assistant" && answers.length === 0)
  ]),
  "the leaf is the newest by time": ending(
    (graph) => [...graph.nodes].filter(isThere(graph)).reduce((a, b) => (timeOf(b) >= timeOf(a) ? b : a)).index
  ),
  "the leaf is the last line, late or not": ending((graph) => [...graph.nodes].findLast(isThere(graph))?.index ?? -1),
  "the leaf is the last prompt or reply": ending(
    (graph) =>
      [...graph.nodes]
        .filter(isThere(graph))
        .findLast(({ entry }) => entry.type === "user" || entry.type === "assistant")?.index ?? -1
  ),
  "a last-prompt says nothing": (log, options) => Recovery.fold(log, { ...options, leaf: options?.leaf ?? "newest" }),
  "a last-prompt says everything": ending(
    (graph) => graph.byId.get(graph.lastPrompt?.leafUuid ?? "") ?? Conversation.leafOf(graph).node
  ),
  "the last copy of a message stands": lastOfEach,
  "sidechains are talk": leaking
}
