/**
 * Snip: messages that were taken out (RECOVERY §6).
 *
 *   before   u1 ─ a1 ─ u2 ─ a2 ─ u3 ─ N        N removes u2, a2
 *   after    u1 ─ a1 ─────────── u3 ─ N        the log still holds u2 and a2
 *
 * A survivor whose parent was removed hangs on the nearest surviving ancestor, by the removed ones' own links; if none
 * survives it is a root. Several snips add up; an id that is in no line is reported.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Finding from "@reprise/domain/Finding"
import * as SessionGraph from "../SessionGraph.ts"

/**
 * Whether every message that a snip names is removed.
 *
 * @category guards
 * @since 0.1.0
 */
export const isReduced = (graph: SessionGraph.SessionGraph): boolean =>
  [...named(graph)].every((node) => graph.removed.has(node))

/**
 * Takes out what all snips name.
 *
 * @category combinators
 * @since 0.1.0
 */
export const reduce = (graph: SessionGraph.SessionGraph): SessionGraph.SessionGraph => {
  const removed = isReduced(graph) ? graph : SessionGraph.without(graph, named(graph))
  return SessionGraph.report(removed, [...unknown(graph), ...halves(removed)])
}

const named = (graph: SessionGraph.SessionGraph): ReadonlySet<number> => {
  const nodes = new Set<number>()
  for (const snip of graph.systems) {
    for (const uuid of Boundary.removed(graph.nodes.get(snip)!.entry) ?? []) {
      const node = graph.byId.get(uuid)
      if (node !== undefined) nodes.add(node)
    }
  }
  return nodes
}

const unknown = (graph: SessionGraph.SessionGraph): ReadonlyArray<Finding.Finding> =>
  graph.systems.flatMap((snip) => {
    const { at, entry, uuid } = graph.nodes.get(snip)!
    const uuids = (Boundary.removed(entry) ?? []).filter((id) => !graph.byId.has(id))
    return uuids.length === 0 ? [] : [Finding.make("snip-unknown-id", { uuid, uuids }, at)]
  })

/** What stayed of call pairs whose other half was removed. */
const halves = ({ nodes, removed }: SessionGraph.SessionGraph): ReadonlyArray<Finding.Finding> => {
  if (removed.size === 0) return []
  const gone = { calls: new Set<string>(), answers: new Set<string>() }
  const there = { calls: new Set<string>(), answers: new Set<string>() }
  for (const { answers, calls, index } of nodes) {
    const side = removed.has(index) ? gone : there
    for (const id of calls) side.calls.add(id)
    for (const id of answers) side.answers.add(id)
  }
  return [...nodes].flatMap(({ answers, at, calls, index, uuid }) => {
    if (removed.has(index)) return []
    const alone = [
      ...calls.filter((id) => gone.answers.has(id) && !there.answers.has(id)),
      ...answers.filter((id) => gone.calls.has(id) && !there.calls.has(id))
    ]
    return alone.map((toolUseId) => Finding.make("snip-half-pair", { uuid, toolUseId }, at))
  })
}
