/**
 * Progress: links through what is no message (RECOVERY §3).
 *
 *   before   a1 ← p1 ← p2 ← r1          p: legacy progress, or an unknown type with uuid and parentUuid
 *   after    a1 ←──────────── r1
 *
 * A message whose parent is such an entry hangs on the nearest ancestor that is a message. The links are resolved after
 * the whole log is read, so their place in the file is irrelevant: adding or moving them never changes the chain.
 */
import { LOOP, type SessionGraph } from "../SessionGraph.ts"

/**
 * Whether no message hangs on a link.
 *
 * @category guards
 * @since 0.1.0
 */
export const isReduced = (graph: SessionGraph): boolean => graph.parent.every((parent) => parent < graph.nodes.length)

/**
 * Hangs every message on a message, or on nothing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const reduce = (graph: SessionGraph): SessionGraph => {
  if (isReduced(graph)) return graph
  const count = graph.nodes.length
  const resolved = new Map<number, { readonly to: number; readonly dangling: string | undefined }>()
  const resolve = (link: number) => {
    const path: Array<number> = []
    const onPath = new Set<number>()
    let at = link
    let answer = resolved.get(at)
    while (answer === undefined) {
      if (onPath.has(at)) {
        answer = { to: LOOP, dangling: undefined }
        break
      }
      path.push(at)
      onPath.add(at)
      const next = graph.linkParent[at - count]!
      answer = next < count ? { to: next, dangling: graph.dangling.get(at) } : resolved.get(next)
      at = next
    }
    for (const step of path) resolved.set(step, answer)
    return answer
  }
  const parent = graph.parent.slice()
  const dangling = new Map(graph.dangling)
  for (let i = 0; i < count; i++) {
    if (parent[i]! < count) continue
    const answer = resolve(parent[i]!)
    parent[i] = answer.to
    if (answer.dangling !== undefined) dangling.set(i, answer.dangling)
  }
  return { ...graph, parent, dangling }
}
