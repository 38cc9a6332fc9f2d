/**
 * Branches: the account of every message that is not on the conversation (RECOVERY §9).
 *
 *   messages = conversation + removed + archived + branches
 *
 * Each message is counted once, at the first of these that fits. Archived is what stands before the boundary that the
 * conversation starts at, on whatever branch, and is not kept. What is left is listed as branches, newest leaf first:
 * the entries on the way up from the leaf to the first one that is already counted, the fork point.
 */
import * as Boundary from "@reprise/domain/Boundary"
import type { Repaired } from "./Repair.ts"
import type { SessionGraph } from "./SessionGraph.ts"

/**
 * A branch that the conversation left: its newest message, where it leaves what is counted already (null: it has a root
 * of its own), and how many messages are its own.
 *
 * @category models
 * @since 0.1.0
 */
export interface Branch {
  readonly leaf: string
  readonly forkPoint: string | null
  readonly entries: number
}

/**
 * What became of the messages beside the conversation.
 *
 * @category models
 * @since 0.1.0
 */
export interface Account {
  readonly removed: ReadonlyArray<string>
  readonly archived: number
  readonly branches: ReadonlyArray<Branch>
}

/**
 * Accounts for every message of the lane.
 *
 * @category combinators
 * @since 0.1.0
 */
export const account = ({ chain, graph }: Repaired): Account => {
  const { nodes, parent } = graph
  const counted = new Uint8Array(nodes.length)
  for (const node of chain) counted[node] = 1
  const removed: Array<string> = []
  for (const node of [...graph.removed].toSorted((a, b) => a - b)) {
    removed.push(nodes.get(node)!.uuid)
    counted[node] = 1
  }
  let archived = 0
  const start = boundaryOf(graph, chain)
  for (let i = 0; i < start; i++) {
    if (counted[i] === 1) continue
    counted[i] = 1
    archived++
  }
  const branches: Array<Branch> = []
  for (const leaf of tips(graph, counted)) {
    let entries = 0
    let at = leaf
    for (; at >= 0 && counted[at] === 0; at = parent[at]!) {
      counted[at] = 1
      entries++
    }
    branches.push({ leaf: nodes.get(leaf)!.uuid, forkPoint: nodes.get(at)?.uuid ?? null, entries })
  }
  return { removed, archived, branches }
}

/** The node of the boundary that the conversation starts at; 0, before which nothing stands, when it starts at none. */
const boundaryOf = (graph: SessionGraph, chain: ReadonlyArray<number>): number => {
  const first = chain[0]
  return first !== undefined && Boundary.isCompact(graph.nodes.get(first)!.entry) ? first : 0
}

/** Nodes that are not counted and on which nothing hangs that is not counted, newest first. */
const tips = (graph: SessionGraph, counted: Uint8Array): ReadonlyArray<number> => {
  const hasOwn = new Uint8Array(graph.nodes.length)
  for (let i = 0; i < graph.nodes.length; i++) {
    const parent = graph.parent[i]!
    if (counted[i] === 0 && parent >= 0) hasOwn[parent] = 1
  }
  const found: Array<number> = []
  for (let i = graph.nodes.length - 1; i >= 0; i--) if (counted[i] === 0 && hasOwn[i] === 0) found.push(i)
  return found
}
