/**
 * Compact: the conversation starts at the last boundary on it (RECOVERY §5).
 *
 *   before   u1 ─ a1 ─ B ─ S ─ u2 ─ a2        B: a boundary whose parent was bridged, or written
 *   after              B ─ S ─ u2 ─ a2
 *
 * A boundary that is itself a kept message of the compaction in force does not cut. A chain that passes no boundary is
 * whole.
 */
import * as Boundary from "@reprise/domain/Boundary"
import type { SessionGraph } from "../SessionGraph.ts"

/**
 * Whether nothing stands before the last boundary.
 *
 * @category guards
 * @since 0.1.0
 */
export const isReduced = (graph: SessionGraph, chain: ReadonlyArray<number>): boolean => cutAt(graph, chain) <= 0

/**
 * The chain from its last boundary on.
 *
 * @category combinators
 * @since 0.1.0
 */
export const reduce = (graph: SessionGraph, chain: ReadonlyArray<number>): ReadonlyArray<number> => {
  const at = cutAt(graph, chain)
  return at <= 0 ? chain : chain.slice(at)
}

const cutAt = (graph: SessionGraph, chain: ReadonlyArray<number>): number => {
  const kept = new Set(graph.compaction?.kept)
  return chain.findLastIndex((node) => Boundary.isCompact(graph.nodes.get(node)!.entry) && !kept.has(node))
}
