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
    const named = after.slice(known + 1, place + 1).findLast((at) => graph.nodes[at]!.reply !== undefined)
    if (named !== undefined) messageId = graph.nodes[named]!.reply!
    known = place
    const nodes = recovered.get(messageId)
    if (nodes === undefined) recovered.set(messageId, [graph.nodes[index]!])
    else nodes.push(graph.nodes[index]!)
  })
  return Array.from(recovered, ([id, nodes]) =>
    Finding.make("parallel-recovered", { messageId: id, uuids: nodes.map(({ uuid }) => uuid) }, nodes[0]!.at)
  )
}

/** One reply on the chain: what stands before it (-1: nothing), its parts, and what belongs to it and is missing. */
interface Reply {
  readonly before: number
  readonly parts: Array<number>
  readonly siblings: Array<number>
  readonly results: Array<number>
}

/** For nodes of the chain: what goes right behind them. */
const missing = (graph: Graph, chain: Chain): ReadonlyMap<number, ReadonlyArray<number>> => {
  const behind = new Map<number, Array<number>>()
  const isOff = offChain(graph, chain)
  const off: Array<number> = []
  for (let i = 0; i < graph.nodes.length; i++) if (isOff(i)) off.push(i)
  if (off.length === 0) return behind
  const sought = soughtBy(graph, off)
  const { byCall, byId, byNode, byParent, replies } = repliesOn(graph, chain, sought)
  const open = new Set(byCall.keys())
  const placed = new Set<number>()
  const notesOf = notes(graph, isOff, placed)
  const siblingOf = siblings(graph, isOff, byNode, byParent)
  let calls: Set<string> | undefined
  const isCall = (id: string): boolean => (calls ??= new Set(graph.nodes.flatMap((node) => node.calls))).has(id)

  for (const i of off) {
    const id = graph.nodes[i]!.reply
    if (id === undefined || !byId.has(id)) continue
    const reply = siblingOf(i, id)
    if (reply === undefined) continue
    reply.siblings.push(i)
    placed.add(i)
    byNode[i] = reply
    for (const call of graph.nodes[i]!.calls) {
      if (!sought.calls.has(call) || byCall.has(call)) continue
      byCall.set(call, reply)
      open.add(call)
    }
  }
  if (open.size > 0) for (const node of chain) for (const call of graph.nodes[node]!.answers) open.delete(call)
  const turnAbove = SessionGraph.inherit(graph, -1, (node) => (Round.isTurn(graph.nodes[node]!) ? node : undefined))
  const put = (node: number): void => {
    const reply = answered(graph.nodes[node]!.answers, open, byCall, byNode[graph.parent[node]!], isCall)
    if (reply === undefined) return
    reply.results.push(node)
    placed.add(node)
  }
  const elsewhere: Array<number> = []
  for (const i of off) {
    if (graph.nodes[i]!.answers.length === 0) continue
    const above = turnAbove(i)
    if (byNode[above] === undefined) elsewhere.push(i)
    else put(i)
  }
  // Only then: what hangs elsewhere may answer a copy of the reply, which has results of its own.
  const madeBeside = callsBeside(
    graph,
    off.filter((node) => !placed.has(node)),
    isOff
  )
  for (const i of elsewhere) {
    const turn = graph.nodes[turnAbove(i)]
    const isCopys = (id: string): boolean => turn?.calls.includes(id) === true || madeBeside(i, id)
    if (!byId.has(turn?.reply ?? "") && !graph.nodes[i]!.answers.some(isCopys)) put(i)
  }
  for (const { results } of replies) results.sort((a, b) => a - b)
  const ownNotes = (node: number): ReadonlyArray<number> => {
    const { answers, calls } = graph.nodes[node]!
    return answers.length > 0 || calls.length > 0 ? notesOf(node) : []
  }
  for (const node of chain) push(behind, node, ownNotes(node))
  const withNotes = (node: number): ReadonlyArray<number> => [node, ...ownNotes(node)]
  for (const { before, parts, results, siblings } of replies) {
    const partBefore = lastBefore(parts)
    for (const node of siblings) {
      const place = partBefore(node) ?? before
      push(behind, place < 0 ? parts[0]! : place, withNotes(node))
    }
    if (results.length > 0) push(behind, parts.at(-1)!, results.flatMap(withNotes))
  }
  return behind
}

/** Whether a call is made by a reply off the chain that hangs below the same prompt as a result, or as that below none. */
const callsBeside = (graph: Graph, off: ReadonlyArray<number>, isOff: (node: number) => boolean) => {
  const promptAbove = SessionGraph.inherit(graph, -1, (node) => (Round.isPrompt(graph.nodes[node]!) ? node : undefined))
  const callsOf = (node: number) => graph.nodes[node]!.calls.map((call) => `${promptAbove(node)} ${call}`)
  let made: ReadonlySet<string> | undefined
  return (result: number, call: string): boolean => {
    const prompt = promptAbove(result)
    return (prompt < 0 || isOff(prompt)) && (made ??= new Set(off.flatMap(callsOf))).has(`${prompt} ${call}`)
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

/** What the nodes off the chain can belong to: all else on the chain need not be looked up. */
interface Sought {
  readonly replies: ReadonlySet<string>
  readonly calls: ReadonlySet<string>
}

const soughtBy = (graph: Graph, off: ReadonlyArray<number>): Sought => {
  const replies = new Set<string>()
  const calls = new Set<string>()
  for (const node of off) {
    const { answers, reply } = graph.nodes[node]!
    if (reply !== undefined) replies.add(reply)
    for (const call of answers) calls.add(call)
  }
  return { replies, calls }
}

const repliesOn = (graph: Graph, chain: Chain, sought: Sought) => {
  const replies: Array<Reply> = []
  const byNode: Array<Reply | undefined> = Array.from({ length: graph.nodes.length })
  const byId = new Map<string, Reply>()
  const byCall = new Map<string, Reply>()
  const byParent = new Map<string, Reply>()
  const sincePrompt = new Map<string, Reply>()
  let before = -1
  for (const node of chain) {
    const { calls, entry, reply: named, uuid } = graph.nodes[node]!
    if (named === undefined && entry.type !== "assistant") {
      if (Round.isPrompt(graph.nodes[node]!)) sincePrompt.clear()
      before = node
      continue
    }
    const id = named ?? uuid
    let reply = sincePrompt.get(id)
    if (reply === undefined) {
      reply = { before, parts: [], siblings: [], results: [] }
      replies.push(reply)
      sincePrompt.set(id, reply)
    }
    reply.parts.push(node)
    before = node
    byNode[node] = reply
    for (const call of calls) if (sought.calls.has(call) && !byCall.has(call)) byCall.set(call, reply)
    if (!sought.replies.has(id)) continue
    byId.set(id, reply)
    byParent.set(`${graph.parent[node]} ${id}`, reply)
  }
  return { byCall, byId, byNode, byParent, replies }
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
  byNode: ReadonlyArray<Reply | undefined>,
  byParent: ReadonlyMap<string, Reply>
): ((node: number, id: string) => Reply | undefined) => {
  const ways = new Map<string, (node: number) => Reply | null>()
  const wayTo = (id: string): ((node: number) => Reply | null) =>
    // Two roots of one id are no siblings: old clients wrote history again under new ids.
    SessionGraph.inherit<Reply | null>(graph, null, (at) => {
      const beside = byParent.get(`${at} ${id}`)
      if (beside !== undefined) return beside
      if (graph.nodes[at]!.reply === id) return isOff(at) ? undefined : (byNode[at] ?? null)
      return Round.isTurn(graph.nodes[at]!) ? null : undefined
    })
  return (node, id) => {
    const way = ways.get(id) ?? wayTo(id)
    ways.set(id, way)
    return way(graph.parent[node]!) ?? undefined
  }
}

/** The reply whose open call is among those answered, or else on a part of which the result hangs; the first counts. */
const answered = (
  ids: ReadonlyArray<string>,
  open: Set<string>,
  byCall: ReadonlyMap<string, Reply>,
  above: Reply | undefined,
  isCall: (id: string) => boolean
): Reply | undefined => {
  if (ids.length === 0) return undefined
  let reply: Reply | undefined
  for (const id of ids) {
    if (open.delete(id)) reply ??= byCall.get(id)
  }
  if (reply !== undefined) return reply
  // A result that answers no call at all belongs where it hangs; one that answers another reply's call does not.
  return above === undefined || ids.some(isCall) ? undefined : above
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
      const isNote = Round.isNote(graph.nodes[at]!)
      if (!isOff(at) || !(isNote || graph.nodes[at]!.entry.type === "system")) return undefined
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
