/**
 * Nodes: the messages of a lane by their index, in log order; held as they are, or made when they are asked for.
 */
import type { Node } from "./SessionGraph.ts"

/**
 * The nodes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Nodes extends Iterable<Node> {
  readonly length: number
  /** Undefined: no node has the index. */
  readonly get: (index: number) => Node | undefined
}

/**
 * The index of the node of each id.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ids {
  readonly get: (uuid: string) => number | undefined
  readonly has: (uuid: string) => boolean
}

/**
 * The nodes of an array.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (nodes: ReadonlyArray<Node>): Nodes => ({
  length: nodes.length,
  get: (index) => nodes[index],
  [Symbol.iterator]: () => nodes[Symbol.iterator]()
})

/**
 * So many nodes, each of which is made when it is asked for, and held by nobody: as many objects would weigh more than
 * what they show.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (length: number, at: (index: number) => Node): Nodes => ({
  length,
  get: (index) => (index >= 0 && index < length ? at(index) : undefined),
  *[Symbol.iterator]() {
    for (let index = 0; index < length; index++) yield at(index)
  }
})
