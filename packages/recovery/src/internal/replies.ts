/**
 * Replies: the replies on a chain, by number, in its order; as much of them as nodes off the chain can belong to.
 *
 *   u1 ─ a1@m ─ a2@m ─ r1 ─ u2 ─ a3@m        two replies: a prompt ends one, also where the next has the same `message.id`
 */
import * as Column from "./column.ts"
import * as Round from "../Round.ts"
import type * as SessionGraph from "../SessionGraph.ts"

type Graph = SessionGraph.SessionGraph
type Chain = ReadonlyArray<number>

/** No reply. */
export const NONE = -1

/** What the nodes off the chain can belong to: all else on the chain need not be looked up. */
export interface Sought {
  readonly replies: ReadonlySet<string>
  readonly calls: ReadonlySet<string>
}

/** What nodes off the chain seek. */
export const soughtBy = (graph: Graph, off: ReadonlyArray<number>): Sought => {
  const replies = new Set<string>()
  const calls = new Set<string>()
  for (const node of off) {
    const { answers, reply } = graph.nodes.get(node)!
    if (reply !== undefined) replies.add(reply)
    for (const call of answers) calls.add(call)
  }
  return { replies, calls }
}

/** One reply on the chain: what stands before it (-1: nothing), its parts, and what belongs to it and is missing. */
interface Reply {
  readonly before: number
  readonly parts: Array<number>
  readonly siblings: Array<number>
  readonly results: Array<number>
}

/** The replies on the chain by their numbers, in its order. */
export interface Replies {
  /** The reply that a node is a part of, or `NONE`. */
  readonly byNode: Int32Array
  readonly byId: Map<string, number>
  readonly byCall: Map<string, number>
  /** By what a part of it hangs on, and its id. */
  readonly byParent: Map<string, number>
  /** Few replies lack something: one is made when it is asked for. */
  readonly of: (reply: number) => Reply
  /** Those that were asked for, in their order. */
  readonly asked: () => ReadonlyArray<Reply>
}

/** Reads the replies on a chain. */
export const repliesOn = (graph: Graph, chain: Chain, sought: Sought): Replies => {
  const byNode = new Int32Array(graph.nodes.length).fill(NONE)
  const byId = new Map<string, number>()
  const byCall = new Map<string, number>()
  const byParent = new Map<string, number>()
  const sincePrompt = new Map<string, number>()
  const before = Column.int32()
  /** By place on the chain: that of the next part of the same reply. */
  const next = new Int32Array(chain.length).fill(NONE)
  const first = Column.int32()
  const last = new Map<number, number>()
  for (const [place, node] of chain.entries()) {
    const { calls, entry, reply: named, uuid } = graph.nodes.get(node)!
    if (named === undefined && entry.type !== "assistant") {
      if (Round.isPrompt(graph.nodes.get(node)!)) {
        sincePrompt.clear()
        last.clear()
      }
      continue
    }
    const id = named ?? uuid
    const reply = sincePrompt.get(id) ?? first.length()
    if (reply === first.length()) {
      sincePrompt.set(id, reply)
      first.push(place)
      before.push(chain[place - 1] ?? NONE)
    } else next[last.get(reply)!] = place
    last.set(reply, place)
    byNode[node] = reply
    for (const call of calls) if (sought.calls.has(call) && !byCall.has(call)) byCall.set(call, reply)
    if (!sought.replies.has(id)) continue
    byId.set(id, reply)
    byParent.set(`${graph.parent[node]} ${id}`, reply)
  }
  const asked = new Map<number, Reply>()
  const make = (reply: number): Reply => {
    const parts: Array<number> = []
    for (let place = first.get(reply); place !== NONE; place = next[place]!) parts.push(chain[place]!)
    return { before: before.get(reply), parts, siblings: [], results: [] }
  }
  return {
    byNode,
    byId,
    byCall,
    byParent,
    of: (reply) => {
      const known = asked.get(reply) ?? make(reply)
      asked.set(reply, known)
      return known
    },
    asked: () => [...asked].toSorted(([a], [b]) => a - b).map(([, reply]) => reply)
  }
}
