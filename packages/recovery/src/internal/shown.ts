/**
 * Shown: whether a reader of a fork finds the conversation that it was made of: the graph of its steps, of the same nodes
 * in other places.
 */
import type * as Entry from "@reprise/domain/Entry"
import type * as Fork from "@reprise/domain/Fork"
import * as Repair from "../Repair.ts"
import * as SessionGraph from "../SessionGraph.ts"
import * as Nodes from "../Nodes.ts"

/** The nodes of the source in the order of the fork, and those entries that are others there. */
interface Order {
  readonly nodes: Nodes.Nodes
  readonly sources: Int32Array
  readonly seqs: Int32Array
  readonly entries: Map<number, Entry.Message>
}

/** A node in its place in the fork. */
class Moved implements SessionGraph.Node {
  readonly order: Order
  readonly index: number
  constructor(order: Order, index: number) {
    this.order = order
    this.index = index
  }
  get #source() {
    return this.order.nodes.get(this.order.sources[this.index]!)!
  }
  get seq() {
    return this.order.seqs[this.index]!
  }
  get entry() {
    return this.order.entries.get(this.index) ?? this.#source.entry
  }
  get uuid() {
    return this.#source.uuid
  }
  get at() {
    return this.#source.at
  }
  get reply() {
    return this.#source.reply
  }
  get calls() {
    return this.#source.calls
  }
  get answers() {
    return this.#source.answers
  }
}

/** Whether the steps, with the leaf named behind them as it is in a fork, recover to the chain of the graph. */
export const isSame = (
  steps: Iterable<Fork.Step>,
  graph: SessionGraph.SessionGraph,
  chain: ReadonlyArray<number>,
  leaf: number
): boolean => {
  const count = graph.nodes.length
  const order: Order = {
    nodes: graph.nodes,
    sources: new Int32Array(count),
    seqs: new Int32Array(count),
    entries: new Map()
  }
  /** By node of the source: its place in the fork. */
  const places = new Int32Array(count).fill(SessionGraph.MISSING)
  /** Of each in the fork: the node of the source that it hangs on. */
  const above = new Int32Array(count)
  const systems: Array<number> = []
  const links: Array<SessionGraph.Link> = []
  let length = 0
  let seq = 0
  for (const step of steps) {
    const source = step._tag === "Message" ? graph.byId.get(step.uuid) : undefined
    if (step._tag === "Message" && source === undefined) {
      links.push({ seq, uuid: step.uuid, parentUuid: step.parent })
    } else if (step._tag === "Message" && source !== undefined) {
      const on = step.parent === null ? SessionGraph.ROOT : (graph.byId.get(step.parent) ?? SessionGraph.MISSING)
      const { entry } = graph.nodes.get(source)!
      const isChanged = on === SessionGraph.MISSING || step.compactMetadata !== undefined
      if (isChanged) order.entries.set(length, Object.create(entry, changed(step)))
      if (entry.type === "system") systems.push(length)
      order.sources[length] = source
      order.seqs[length] = seq
      above[length] = on
      places[source] = length++
    }
    seq++
  }
  const placeOf = (uuid: string): number => places[graph.byId.get(uuid) ?? -1] ?? SessionGraph.MISSING
  const read = Repair.repair(
    SessionGraph.make({
      nodes: Nodes.make(length, (index) => new Moved(order, index)),
      byId: {
        get: (uuid) => (placeOf(uuid) < 0 ? undefined : placeOf(uuid)),
        has: (uuid) => placeOf(uuid) >= 0
      },
      parents: above.subarray(0, length).map((on) => (on < 0 ? on : places[on]!)),
      systems,
      links,
      foreign: new Set(),
      holes: [],
      lastPrompt: { seq, leafUuid: graph.nodes.get(leaf)!.uuid, at: graph.nodes.get(leaf)!.at },
      policy: "last-prompt",
      findings: []
    })
  )
  return read.chain.length === chain.length && read.chain.every((node, i) => order.sources[node] === chain[i])
}

/** What the entry of a step says otherwise than that of its source. */
const changed = ({
  compactMetadata,
  parent
}: Extract<Fork.Step, { readonly _tag: "Message" }>): PropertyDescriptorMap => ({
  parentUuid: { value: parent },
  ...(compactMetadata !== undefined && { compactMetadata: { value: compactMetadata } })
})
