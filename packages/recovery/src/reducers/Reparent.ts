/**
 * Reparent: broken links (RECOVERY §4).
 *
 *   before   u1 ← a1    x9 ← u2 ← a2        x9: in no line, or in another lane; or u2 ← u2; or a2 ← u2 ← a2
 *   after    u1 ← a1 ←────── u2 ← a2        a1: the newest message that is not later than u2
 *
 * First every entry whose link leads nowhere is bridged, each by the links as they are written: its own descendants are
 * passed over. Then every cycle, written or made by these bridges, is cut at its oldest entry, which is bridged in turn.
 * What would hide later turns is passed over: a result that came in late, and a boundary on which nothing hangs (unless
 * its own summary is bridged). Where nothing older exists the entry is a root. A written `null` is a root and is never bridged.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Finding from "@reprise/domain/Finding"
import * as Bridge from "../Bridge.ts"
import * as Conversation from "../Conversation.ts"
import { children, FOREIGN, MISSING, parentUuidOf, ROOT, type SessionGraph } from "../SessionGraph.ts"

/**
 * Whether every message leads to a root.
 *
 * @category guards
 * @since 0.1.0
 */
export const isReduced = (graph: SessionGraph): boolean =>
  graph.parent.every((parent) => parent >= ROOT) && cycles(graph.parent).length === 0

/**
 * Bridges every broken link and reports it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const reduce = (graph: SessionGraph): SessionGraph => {
  if (isReduced(graph)) return graph
  const parent = graph.parent.slice()
  const times = Bridge.timesOf(graph.nodes)
  const isLate = Conversation.latecomers(graph)
  const owners = new Set<number>()
  const bridge = (broken: ReadonlyArray<number>, sequential: boolean): void => {
    for (const owner of broken) parent[owner] = ROOT
    const rooted = parent.slice()
    for (const cycle of cycles(parent)) rooted[cycle[0]!] = ROOT
    const trees = Bridge.forest(rooted)
    const find = Bridge.make(times, (node) => !isBare(graph, node) && !isLate(node), trees.find)
    const findForSummary = Bridge.make(times, () => true, trees.find)
    for (const owner of broken) {
      const to = Boundary.isCompactSummary(graph.nodes.get(owner)!.entry) ? findForSummary(owner) : find(owner)
      parent[owner] = to
      owners.add(owner)
      if (sequential && to >= 0) trees.join(owner, to)
    }
  }
  bridge(loose(parent), false)
  bridge(
    cycles(parent)
      .map((cycle) => oldest(cycle, times))
      .toSorted((a, b) => a - b),
    true
  )
  const ordered = [...owners].toSorted((a, b) => a - b)
  const gap = gaps(graph)
  const findings = ordered.flatMap((owner) => [report(graph, owner, parent[owner]!), ...gap(owner, parent[owner]!)])
  return { ...graph, parent, dangling: new Map(), bridged: owners, findings: [...graph.findings, ...findings] }
}

/** A boundary on which nothing hangs: what is no summary is not bridged to it, or it would hide all that stands before. */
const isBare = (graph: SessionGraph, node: number): boolean =>
  Boundary.isCompact(graph.nodes.get(node)!.entry) && children(graph).first[node]! < 0

/** The nodes whose link leads nowhere, or to themselves. */
const loose = (parent: Int32Array): ReadonlyArray<number> => {
  const found: Array<number> = []
  parent.forEach((to, node) => {
    if (to < ROOT || to === node) found.push(node)
  })
  return found
}

/** Every cycle, as the nodes on it. */
const cycles = (parent: Int32Array): ReadonlyArray<ReadonlyArray<number>> => {
  const found: Array<ReadonlyArray<number>> = []
  // 0: not seen; else the number of the walk that saw it. A walk that meets its own number has found a cycle.
  const walk = new Int32Array(parent.length)
  for (let i = 0; i < parent.length; i++) {
    let at = i
    while (at >= 0 && at < parent.length && walk[at] === 0) {
      walk[at] = i + 1
      at = parent[at]!
    }
    if (at < 0 || at >= parent.length || walk[at] !== i + 1) continue
    const cycle = [at]
    for (let on = parent[at]!; on !== at; on = parent[on]!) cycle.push(on)
    found.push(cycle)
  }
  return found
}

/** The oldest of them; without times, or of equal ones, the first in the file. */
const oldest = (cycle: ReadonlyArray<number>, times: ReadonlyArray<number | undefined>): number =>
  cycle.reduce((a, b) => {
    const order = (times[a] ?? Infinity) - (times[b] ?? Infinity)
    return order < 0 || (!(order > 0) && a < b) ? a : b
  })

const report = (graph: SessionGraph, owner: number, to: number): Finding.Finding => {
  const { at, entry, uuid } = graph.nodes.get(owner)!
  const written = parentUuidOf(entry) ?? uuid
  const bridged = { uuid, parent: graph.dangling.get(owner) ?? written, bridgedTo: graph.nodes.get(to)?.uuid ?? null }
  const code = graph.parent[owner]!
  if (code === MISSING) return Finding.make("missing-parent", bridged, at)
  if (code === FOREIGN) return Finding.make("sidechain-parent", bridged, at)
  return Finding.make(written === uuid ? "self-parent" : "cycle", bridged, at)
}

/**
 * A damaged line between an entry and what it was bridged to: surely the parent when it names the parent's id. Asked for
 * entries in the order of the log.
 */
const gaps = ({ dangling, holes, nodes }: SessionGraph) => {
  const ids = new Set<string>()
  for (const hole of holes) for (const id of hole.ids) ids.add(id)
  let passed = 0
  return (owner: number, to: number): ReadonlyArray<Finding.Finding> => {
    const { at, seq, uuid } = nodes.get(owner)!
    const parent = dangling.get(owner)
    while (passed < holes.length && holes[passed]!.seq < seq) passed++
    if (parent === undefined || holes.length === 0) return []
    if (ids.has(parent)) return [Finding.make("gap", { uuid, severity: "loss" }, at)]
    const last = holes[passed - 1]?.seq ?? -1
    return last > (nodes.get(to)?.seq ?? -1) ? [Finding.make("gap", { uuid, severity: "note" }, at)] : []
  }
}
