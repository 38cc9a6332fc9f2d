/**
 * Bridge: what an entry hangs on when its own link leads nowhere (RECOVERY §4).
 *
 *   times     u1 1s   a1 2s   a2 9s        u2 5s, parent in no line
 *   bridge                    ✗ later      u2 ─▶ a1: the newest that is not later
 *
 * The newest message whose timestamp is not later than the entry's own; of equal times the first in the file. Without a
 * timestamp, the message before it in the file. Whatever belongs to the entry's own tree is passed over.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import { ROOT, type Node } from "./SessionGraph.ts"

/**
 * The time of a node in milliseconds; nothing where its timestamp is absent or unreadable.
 *
 * @category getters
 * @since 0.1.0
 */
export const timeOf = ({ entry: { timestamp } }: Pick<Node, "entry">): number | undefined =>
  timestamp === undefined
    ? undefined
    : Option.getOrUndefined(Option.map(DateTime.make(timestamp), DateTime.toEpochMillis))

/**
 * The times of nodes.
 *
 * @category getters
 * @since 0.1.0
 */
export const timesOf = (nodes: Iterable<Node>): ReadonlyArray<number | undefined> => Array.from(nodes, timeOf)

/**
 * The tree of each node, named by its root; trees can be joined, a root to a node of another tree.
 *
 * @category models
 * @since 0.1.0
 */
export interface Forest {
  readonly find: (node: number) => number
  readonly join: (root: number, to: number) => void
}

/**
 * The trees of parents without a cycle; what is no node is a root.
 *
 * @category constructors
 * @since 0.1.0
 */
export const forest = (parent: Int32Array): Forest => {
  const up = Int32Array.from(parent, (p, i) => (p >= 0 ? p : i))
  const find = (node: number): number => {
    let root = node
    while (up[root] !== root) root = up[root]!
    for (let at = node; up[at] !== root;) {
      const next = up[at]!
      up[at] = root
      at = next
    }
    return root
  }
  return {
    find,
    join: (root, to) => {
      up[root] = find(to)
    }
  }
}

/**
 * Makes the function from an entry to what it hangs on (`ROOT`: nothing older exists). `treeOf` names the tree of a
 * node, an owner's own tree by the owner; trees may be joined between calls, never parted.
 *
 * Candidates stand newest first, of equal times in file order (last line first for an entry without a time), and
 * neighbours of one tree form a run: an entry steps over its own tree run by run. Runs are joined on the way, so that all calls together stay near linear even where every
 * entry is broken and all times are equal.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  times: ReadonlyArray<number | undefined>,
  isCandidate: (node: number) => boolean,
  treeOf: (node: number) => number
): ((owner: number) => number) => {
  const ways = { byTime: undefined as Way | undefined, byPlace: undefined as Way | undefined }
  const candidates = (): Array<number> => [...times.keys()].filter(isCandidate)
  const newestFirst = (): Way =>
    wayOf(
      candidates()
        .filter((node) => times[node] !== undefined)
        .toSorted((a, b) => times[b]! - times[a]! || a - b),
      treeOf
    )
  return (owner) => {
    const time = times[owner]
    if (time !== undefined) return (ways.byTime ??= newestFirst())((node) => times[node]! > time, treeOf(owner))
    ways.byPlace ??= wayOf(candidates().toReversed(), treeOf)
    return ways.byPlace((node) => node >= owner, treeOf(owner))
  }
}

/** The first candidate in its order that is neither passed over nor of the tree. */
type Way = (isPassed: (node: number) => boolean, tree: number) => number

const wayOf = (order: ReadonlyArray<number>, treeOf: (node: number) => number): Way => {
  const next = Int32Array.from(order, (_, rank) => rank + 1)
  const firstNot = (isPassed: (node: number) => boolean): number => {
    let low = 0
    let high = order.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (isPassed(order[middle]!)) low = middle + 1
      else high = middle
    }
    return low
  }
  return (isPassed, tree) => {
    const passed: Array<number> = []
    let at = firstNot(isPassed)
    while (at < order.length && treeOf(order[at]!) === tree) {
      passed.push(at)
      at = next[at]!
    }
    for (const one of passed) next[one] = at
    return order[at] ?? ROOT
  }
}
