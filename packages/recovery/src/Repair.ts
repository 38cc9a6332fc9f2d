/**
 * Repair: the reducers in their one right order (RECOVERY §2b).
 *
 *   as written ─▶ Progress ─▶ Reparent ─▶ Relink ─▶ Snip ─▶ leaf ─▶ walk ─▶ Compact ─▶ ToolResults
 *   graph ──────────────────────────────────────────────▶ node ─▶ chain ──────────────────────────▶
 *
 * Why each stands where it stands, with what breaks elsewhere:
 *
 * - Progress before Reparent: a message behind a link has a parent; bridged first, it would hang on whatever is newest.
 * - Reparent before Relink: a kept segment is walked from tail to head, and which boundary counts depends on the leaf;
 *   both need every link to lead somewhere.
 * - Relink before Snip: a snipped message may be kept. Its place among the kept ones is known only after they are
 *   linked; snipped first, the record would miss it.
 * - Snip before the leaf: a leaf that was taken out is no leaf.
 * - Compact before ToolResults: what stands before the boundary belongs to no round of the conversation.
 */
import type * as Finding from "@reprise/domain/Finding"
import * as Conversation from "./Conversation.ts"
import * as Compact from "./reducers/Compact.ts"
import * as Progress from "./reducers/Progress.ts"
import * as Relink from "./reducers/Relink.ts"
import * as Reparent from "./reducers/Reparent.ts"
import * as Snip from "./reducers/Snip.ts"
import * as ToolResults from "./reducers/ToolResults.ts"
import type { SessionGraph } from "./SessionGraph.ts"

/**
 * A repaired graph and the conversation on it, as indices of nodes from the root to the leaf.
 *
 * @category models
 * @since 0.1.0
 */
export interface Repaired {
  readonly graph: SessionGraph
  /** The node that the walk began at, -1: nothing was said. What belongs to its round may stand behind it. */
  readonly leaf: number
  readonly chain: ReadonlyArray<number>
  readonly findings: ReadonlyArray<Finding.Finding>
}

/**
 * A step from graph to graph, and a step from chain to chain.
 *
 * @category models
 * @since 0.1.0
 */
export interface Steps {
  readonly graph: ReadonlyArray<(graph: SessionGraph) => SessionGraph>
  readonly chain: ReadonlyArray<(graph: SessionGraph, chain: ReadonlyArray<number>) => ReadonlyArray<number>>
}

/**
 * The steps in their order.
 *
 * @category constants
 * @since 0.1.0
 */
export const steps: Steps = {
  graph: [Progress.reduce, Reparent.reduce, Relink.reduce, Snip.reduce],
  chain: [Compact.reduce, ToolResults.reduce]
}

/**
 * Makes a repair of other steps: what shows that each of them, and their order, is needed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make =
  (steps: Steps) =>
  (written: SessionGraph): Repaired => {
    const graph = steps.graph.reduce((reduced, reduce) => reduce(reduced), written)
    const leaf = Conversation.leafOf(graph)
    const walked = Conversation.chain(graph, leaf.node)
    const chain = steps.chain.reduce((reduced, reduce) => reduce(graph, reduced), walked)
    return {
      graph,
      leaf: leaf.node,
      chain,
      findings: [...graph.findings, ...leaf.findings, ...ToolResults.findings(graph, walked, chain)]
    }
  }

/**
 * Repairs a graph as it was written, and finds the conversation.
 *
 * @category combinators
 * @since 0.1.0
 */
export const repair: (written: SessionGraph) => Repaired = make(steps)
