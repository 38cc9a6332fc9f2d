/**
 * ToolResults: parallel tool calls (RECOVERY §7).
 *
 *   graph    u1 ─ call a ─ call b ─ result b ─ a2        one reply, stored as two entries
 *                    └─ result a ─ note                  on no way from the leaf to the root
 *   before   u1  call a  call b                    result b  a2
 *   after    u1  call a  call b  result a  note    result b  a2
 *
 * For each reply on the chain: its missing parts go among those that are there, in file order; its missing results (by
 * parent or by tool_use_id) go behind the last part, in file order; notes go right behind what they hang on. Nothing is
 * ever taken from another reply or made up.
 *
 * Two stretches of a chain that share a `message.id` with a prompt between them are two replies. Behind a boundary only
 * entries that were written after it, or that it keeps, are put back.
 */
import * as Finding from "@reprise/domain/Finding"
import { NONE, repliesOn, soughtBy } from "../internal/replies.ts"
import type { Replies, Sought } from "../internal/replies.ts"
import * as Round from "../Round.ts"
import * as SessionGraph from "../SessionGraph.ts"
import * as Compact from "./Compact.ts"

type Graph = SessionGraph.SessionGraph
type Chain = ReadonlyArray<number>

/**
 * Whether nothing of a round on the chain is missing from it.
 *
 * @category guards
 * @since 0.1.0
 */
export const isReduced = (graph: Graph, chain: Chain): boolean => reduce(graph, chain).length === chain.length

/**
 * Puts back what belongs to the rounds of the chain. A round is what it was before a snip: results stay together also
 * where the reply that made their calls was taken out.
 *
 * @category combinators
 * @since 0.1.0
 */
export const reduce = (graph: Graph, chain: Chain): Chain => {
  let whole = chain
  // What was put back may lead to more of its round, where a child stands before its parent.
  for (;;) {
    const leaf = graph.removed.size === 0 ? undefined : leafOf(graph, whole)
    const more = leaf === undefined ? withRounds(graph, whole) : withRoundsBeforeSnips(graph, leaf)
    if (more.length <= whole.length) return whole
    whole = more
  }
}

const withRoundsBeforeSnips = (graph: Graph, leaf: number): Chain => {
  const whole = SessionGraph.unsnipped(graph)
  const path = Compact.reduce(whole, SessionGraph.pathTo(whole, leaf))
  return withRounds(whole, path).filter((node) => !graph.removed.has(node))
}

/** The last node of the chain that the walk can have begun at: all that it hangs on is on the chain. */
const leafOf = (graph: Graph, chain: Chain): number | undefined => {
  const onChain = new Set(chain)
  return chain.findLast((node) =>
    Compact.reduce(graph, SessionGraph.pathTo(graph, node)).every((above) => onChain.has(above))
  )
}

const withRounds = (graph: Graph, chain: Chain): Chain => {
  const behind = missing(graph, chain)
  if (behind.size === 0) return chain
  const whole: Array<number> = []
  for (const node of chain) {
    whole.push(node)
    for (const back of behind.get(node) ?? []) whole.push(back)
  }
  return whole
}

/**
 * What `reduce` put back, as findings: one for each reply.
 *
 * @category getters
 * @since 0.1.0
 */
export const findings = (graph: Graph, before: Chain, after: Chain): ReadonlyArray<Finding.Finding> => {
  if (before.length === after.length) return []
  const stood = new Set(before)
  const recovered = new Map<string, Array<SessionGraph.Node>>()
  let messageId = ""
  let known = -1
  after.forEach((index, place) => {
    if (stood.has(index)) return
    // The reply that it stands in or behind.
    const named = after.slice(known + 1, place + 1).findLast((at) => graph.nodes.get(at)!.reply !== undefined)
    if (named !== undefined) messageId = graph.nodes.get(named)!.reply!
    known = place
    const nodes = recovered.get(messageId)
    if (nodes === undefined) recovered.set(messageId, [graph.nodes.get(index)!])
    else nodes.push(graph.nodes.get(index)!)
  })
  return Array.from(recovered, ([id, nodes]) =>
    Finding.make("parallel-recovered", { messageId: id, uuids: nodes.map(({ uuid }) => uuid) }, nodes[0]!.at)
  )
}

/** For nodes of the chain: what goes right behind them. */
const missing = (graph: Graph, chain: Chain): ReadonlyMap<number, ReadonlyArray<number>> => {
  const behind = new Map<number, Array<number>>()
  const isOff = offChain(graph, chain)
  const off: Array<number> = []
  for (let i = 0; i < graph.nodes.length; i++) if (isOff(i)) off.push(i)
  if (off.length === 0) return behind
  const sought = soughtBy(graph, off)
  const replies = repliesOn(graph, chain, sought)
  const { byCall, byId, byNode, of } = replies
  const open = new Set(byCall.keys())
  const placed = new Set<number>()
  const notesOf = notes(graph, isOff, placed)
  const siblingOf = siblings(graph, isOff, replies)
  let made: ReadonlySet<string> | undefined
  const isCall = (id: string): boolean => (made ??= callsIn(graph.nodes, sought)).has(id)

  for (const i of off) {
    const id = graph.nodes.get(i)!.reply
    if (id === undefined || !byId.has(id)) continue
    const reply = siblingOf(i, id)
    if (reply === NONE) continue
    of(reply).siblings.push(i)
    placed.add(i)
    byNode[i] = reply
    for (const call of graph.nodes.get(i)!.calls) {
      if (!sought.calls.has(call) || byCall.has(call)) continue
      byCall.set(call, reply)
      open.add(call)
    }
  }
  if (open.size > 0) for (const node of chain) for (const call of graph.nodes.get(node)!.answers) open.delete(call)
  const turnAbove = SessionGraph.inherit(graph, -1, (node) => (Round.isTurn(graph.nodes.get(node)!) ? node : undefined))
  const put = (node: number): void => {
    const above = byNode[graph.parent[node]!] ?? NONE
    const reply = answered(graph.nodes.get(node)!.answers, open, byCall, above, isCall)
    if (reply === NONE) return
    of(reply).results.push(node)
    placed.add(node)
  }
  const elsewhere: Array<number> = []
  for (const i of off) {
    if (graph.nodes.get(i)!.answers.length === 0) continue
    const above = turnAbove(i)
    if ((byNode[above] ?? NONE) === NONE) elsewhere.push(i)
    else put(i)
  }
  // Only then: what hangs elsewhere may answer a copy of the reply, which has results of its own.
  const waits = waitsBeside(
    graph,
    off.filter((node) => !placed.has(node)),
    isOff
  )
  for (const i of elsewhere) {
    const turn = graph.nodes.get(turnAbove(i))
    const isCopys = (id: string): boolean => turn?.calls.includes(id) === true || waits(i, id)
    if (!byId.has(turn?.reply ?? "") && !graph.nodes.get(i)!.answers.some(isCopys)) put(i)
  }
  const ownNotes = (node: number): ReadonlyArray<number> => {
    const { answers, calls } = graph.nodes.get(node)!
    return answers.length > 0 || calls.length > 0 ? notesOf(node) : []
  }
  for (const node of chain) push(behind, node, ownNotes(node))
  const withNotes = (node: number): ReadonlyArray<number> => [node, ...ownNotes(node)]
  for (const { before, parts, results, siblings } of replies.asked()) {
    const partBefore = lastBefore(parts)
    for (const node of siblings) {
      const place = partBefore(node) ?? before
      push(behind, place < 0 ? parts[0]! : place, withNotes(node))
    }
    const inOrder = results.toSorted((a, b) => a - b)
    if (inOrder.length > 0) push(behind, parts.at(-1)!, inOrder.flatMap(withNotes))
  }
  return behind
}

/**
 * Whether a call waits for its result beside the chain: it is made by a reply off the chain that hangs below the same
 * prompt as a result, or as that below none, and what hangs on that reply does not answer it.
 */
const waitsBeside = (graph: Graph, off: ReadonlyArray<number>, isOff: (node: number) => boolean) => {
  const at = (node: number): SessionGraph.Node => graph.nodes.get(node)!
  const promptAbove = SessionGraph.inherit(graph, NONE, (node) => (Round.isPrompt(at(node)) ? node : undefined))
  let waiting: ReadonlySet<string> | undefined
  const unanswered = (): ReadonlySet<string> => {
    const turnAbove = SessionGraph.inherit(graph, NONE, (node) => (Round.isTurn(at(node)) ? node : undefined))
    // The first part of the reply that a node stands in or behind.
    const replyAbove = SessionGraph.inherit(graph, NONE, (node) => {
      if (!Round.isTurn(at(node))) return undefined
      const { reply } = at(node)
      const above = turnAbove(graph.parent[node]!)
      return reply !== undefined && above !== NONE && at(above).reply === reply ? undefined : node
    })
    const answered = new Set(off.flatMap((node) => at(node).answers.map((call) => `${replyAbove(node)} ${call}`)))
    const open = (node: number) => at(node).calls.filter((call) => !answered.has(`${replyAbove(node)} ${call}`))
    return new Set(off.flatMap((node) => open(node).map((call) => `${promptAbove(node)} ${call}`)))
  }
  return (result: number, call: string): boolean => {
    const prompt = promptAbove(result)
    return (prompt < 0 || isOff(prompt)) && (waiting ??= unanswered()).has(`${prompt} ${call}`)
  }
}

const push = (behind: Map<number, Array<number>>, node: number, nodes: ReadonlyArray<number>): void => {
  if (nodes.length === 0) return
  const known = behind.get(node) ?? []
  for (const one of nodes) known.push(one)
  behind.set(node, known)
}

/** Nodes that the chain lacks and may have: not removed, and not from before its boundary unless kept. */
const offChain = (graph: Graph, chain: Chain) => {
  const onChain = new Uint8Array(graph.nodes.length)
  for (const node of chain) onChain[node] = 1
  const { boundary } = graph.compaction ?? { boundary: -1 }
  const first = onChain[boundary] === 1 ? boundary : -1
  return (node: number): boolean => node > first && onChain[node] === 0 && !graph.removed.has(node)
}

/** The calls of all nodes, of those that are sought. */
const callsIn = (nodes: Iterable<SessionGraph.Node>, sought: Sought): ReadonlySet<string> => {
  const made = new Set<string>()
  for (const { calls } of nodes) for (const call of calls) if (sought.calls.has(call)) made.add(call)
  return made
}

/** The last part, in the order of the chain, that stands before a node in the file; asked for nodes in file order. */
const lastBefore = (parts: Chain): ((node: number) => number | undefined) => {
  const least = Int32Array.from(parts)
  for (let i = parts.length - 2; i >= 0; i--) least[i] = Math.min(least[i]!, least[i + 1]!)
  let next = 0
  return (node) => {
    while (next < parts.length && least[next]! < node) next++
    return parts[next - 1]
  }
}

/**
 * The reply that an entry off the chain is a part of: on the way up, past nothing but results, notes and other missing
 * parts of the round, stands a part of it, or what a part of it on the chain hangs on as well.
 */
const siblings = (
  graph: Graph,
  isOff: (node: number) => boolean,
  { byNode, byParent }: Replies
): ((node: number, id: string) => number) => {
  const ways = new Map<string, (node: number) => number>()
  const wayTo = (id: string): ((node: number) => number) =>
    // Two roots of one id are no siblings: old clients wrote history again under new ids.
    SessionGraph.inherit(graph, NONE, (at) => {
      const beside = byParent.get(`${at} ${id}`)
      if (beside !== undefined) return beside
      if (graph.nodes.get(at)!.reply === id) return isOff(at) ? undefined : byNode[at]
      return Round.isTurn(graph.nodes.get(at)!) ? NONE : undefined
    })
  return (node, id) => {
    const way = ways.get(id) ?? wayTo(id)
    ways.set(id, way)
    return way(graph.parent[node]!)
  }
}

/** The reply whose open call is among those answered, or else on a part of which the result hangs; the first counts. */
const answered = (
  ids: ReadonlyArray<string>,
  open: Set<string>,
  byCall: ReadonlyMap<string, number>,
  above: number,
  isCall: (id: string) => boolean
): number => {
  if (ids.length === 0) return NONE
  let reply: number | undefined
  for (const id of ids) {
    if (open.delete(id)) reply ??= byCall.get(id)
  }
  if (reply !== undefined) return reply
  // A result that answers no call at all belongs where it hangs; one that answers another reply's call does not.
  return above === NONE || ids.some(isCall) ? NONE : above
}

/**
 * The notes that hang on a node and hold no turn of their own, each before what hangs on it. What is `placed` already
 * goes its own way; a marker (boundary, rewind, snip) that nobody went on from is passed over with what hangs on it.
 */
const notes = (graph: Graph, isOff: (node: number) => boolean, placed: ReadonlySet<number>) => {
  const { first, next } = SessionGraph.children(graph)
  const below = (node: number): ReadonlyArray<number> | undefined => {
    const found: Array<number> = []
    const stack: Array<{ readonly at: number; readonly isPassed: boolean }> = [{ at: node, isPassed: false }]
    while (stack.length > 0) {
      const { at, isPassed } = stack.pop()!
      if (placed.has(at)) continue
      const isNote = Round.isNote(graph.nodes.get(at)!)
      if (!isOff(at) || !(isNote || graph.nodes.get(at)!.entry.type === "system")) return undefined
      if (isNote && !isPassed) found.push(at)
      const own: Array<number> = []
      for (let child = first[at]!; child >= 0; child = next[child]!) own.push(child)
      for (const child of own.toReversed()) stack.push({ at: child, isPassed: isPassed || !isNote })
    }
    return found
  }
  return (node: number): ReadonlyArray<number> => {
    const all: Array<number> = []
    for (let child = first[node]!; child >= 0; child = next[child]!) {
      if (isOff(child) && !placed.has(child)) for (const note of below(child) ?? []) all.push(note)
    }
    return all
  }
}
