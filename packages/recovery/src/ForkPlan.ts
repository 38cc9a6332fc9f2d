/**
 * ForkPlan: what a fork copies, decided while the log streams by.
 *
 *   source   u1 ─ a1 ─ ??? ─ u2 ─ call a ─ call b ─ result b ─ a2        u3 was abandoned, n1 snipped by N
 *                 └─ u3              └─ result a
 *   at a2    u1'   a1'   ???'  u2'   call a'  call b'  result a'  result b'  a2'
 *
 * 1. The conversation up to the message, as recovery finds it, in its order: rounds are whole, kept messages stand behind
 *    their summary, and the last line is the end. With it come the messages that its own snips took out, and entries of
 *    unknown types that it runs through.
 * 2. A message hangs on its nearest ancestor that is copied. Should a reader of that not find the same conversation (a
 *    result whose call was snipped on another branch), each hangs on the one before it; and should a record of kept
 *    messages still lead a reader astray (its anchor is archived), the boundary says no more what it kept.
 * 3. Beside it come sidechains of old logs, and snapshots that speak of copied messages only: no message and no rewind
 *    point of an abandoned branch. Prompts that wait, costs and requests as sent stay with the source.
 * 4. No text of the log is held but one prompt: a message weighs what its links weigh.
 */
import * as Boundary from "@reprise/domain/Boundary"
import type * as Entry from "@reprise/domain/Entry"
import * as Fork from "@reprise/domain/Fork"
import type { Located } from "@reprise/domain/Line"
import * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as Result from "effect/Result"
import { type Beside, noted, type Noted, slim } from "./internal/forking.ts"
import * as Lanes from "./Lanes.ts"
import * as Repair from "./Repair.ts"
import * as SessionGraph from "./SessionGraph.ts"

/**
 * The projection from a log to what a fork of it copies. `at`: the message that it ends at, by default the leaf.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection = (
  options: { readonly at?: string } = {}
): Projection.Projection<Located, Result.Result<Fork.Plan, Fork.NoForkPoint>> =>
  Projection.map(
    Projection.struct({
      lanes: Projection.mapInput(
        Lanes.projection("main", options.at === undefined ? "last-prompt" : { uuid: options.at }),
        slim
      ),
      noted,
      metadata: Projection.entries(SessionMetadata.projection)
    }),
    ({ lanes, metadata, noted }) => plan(lanes.written, noted, metadata, options.at)
  )

const plan = (
  written: SessionGraph.Written,
  noted: Noted,
  metadata: SessionMetadata.SessionMetadata,
  at: string | undefined
): Result.Result<Fork.Plan, Fork.NoForkPoint> => {
  const asWritten = SessionGraph.make(written)
  const { chain, graph, leaf } = Repair.repair(asWritten)
  const named = at === undefined ? leaf : graph.byId.get(at)
  const fail = (found: Fork.NoForkPoint["found"]) => Result.fail(new Fork.NoForkPoint({ at: at ?? null, found }))
  if (chain.length === 0) return fail(at === undefined ? "Empty" : "Nothing")
  if (named === undefined || !chain.includes(named))
    return fail(named !== undefined && graph.removed.has(named) ? "Removed" : "Nothing")
  const snipped = snippedBy(graph, chain)
  const copied = new Set([...chain, ...snipped])
  const whole = SessionGraph.unsnipped(graph)
  const nearest = SessionGraph.inherit(whole, -1, (node) => (copied.has(node) ? node : undefined))
  const source: Source = { written, asWritten, graph, chain, links: noted.links, copied, snipped, nearest }
  const kept = besides(source, noted, at === undefined)
  const parents: Parents = (node) => nearest(whole.parent[node]!)
  const ways = [
    () => stepsOf(source, kept, parents),
    // A boundary that another one keeps must stand before it.
    () =>
      stepsOf(
        source,
        kept,
        parents,
        chain.toSorted((a, b) => a - b)
      ),
    () => stepsOf(source, kept, inLine(chain, parents)),
    () => stepsOf(source, kept, inLine(chain, parents)).map(withoutRecord(graph))
  ]
  const steps = firstThat(ways, (made) => shows(made, source))
  return Result.succeed({
    steps,
    leaf: graph.nodes[named]!.uuid,
    messages: copied.size,
    ...naming(source, noted, metadata, graph.nodes[named]!.uuid),
    leftOut: leftOut(source, noted)
  })
}

interface Source {
  readonly written: SessionGraph.Written
  readonly asWritten: SessionGraph.SessionGraph
  readonly graph: SessionGraph.SessionGraph
  readonly chain: ReadonlyArray<number>
  readonly links: Noted["links"]
  readonly copied: ReadonlySet<number>
  readonly snipped: ReadonlyArray<number>
  /** A node, or the nearest above it, that is copied; -1: none is. */
  readonly nearest: (node: number) => number
}

/** The messages that snips of the conversation took out, in log order. */
const snippedBy = (graph: SessionGraph.SessionGraph, chain: ReadonlyArray<number>): ReadonlyArray<number> => {
  const nodes = new Set<number>()
  for (const node of chain) {
    for (const uuid of Boundary.removed(graph.nodes[node]!.entry) ?? []) {
      const named = graph.byId.get(uuid)
      if (named !== undefined && graph.removed.has(named)) nodes.add(named)
    }
  }
  return [...nodes].toSorted((a, b) => a - b)
}

/** What each copied message hangs on (-1: nothing). */
type Parents = (node: number) => number

/** Each message of the conversation on the one before it. */
const inLine = (chain: ReadonlyArray<number>, parents: Parents): Parents => {
  const before = new Map(chain.map((node, i) => [node, chain[i - 1] ?? -1]))
  return (node) => before.get(node) ?? parents(node)
}

/** The conversation in its order, everything else before the first message that it stood before. */
const stepsOf = (
  source: Source,
  kept: ReadonlyArray<Beside>,
  parents: Parents,
  order: ReadonlyArray<number> = source.chain
): ReadonlyArray<Fork.Step> => {
  const { graph, snipped } = source
  const steps: Array<Fork.Step> = []
  const linked = new Map<string, string | null>()
  const message = (node: number): void => {
    const { at, entry, uuid } = graph.nodes[node]!
    const on = parents(node)
    let parent = graph.nodes[on]?.uuid ?? null
    for (const link of on < 0 ? [] : linksAbove(source, node, on).toReversed()) {
      if ((linked.get(link.uuid) ?? parent) !== parent) continue
      if (!linked.has(link.uuid)) steps.push({ _tag: "Message", ...link, parent, isReply: false })
      linked.set(link.uuid, parent)
      parent = link.uuid
    }
    const { byteEnd, byteStart } = at
    steps.push({ _tag: "Message", byteStart, byteEnd, uuid, parent, isReply: entry.type === "assistant" })
  }
  const others = [
    ...snipped.map((node) => ({ seq: graph.nodes[node]!.seq, emit: () => message(node) })),
    ...kept.map(({ byteEnd, byteStart, seq }) => ({
      seq,
      emit: () => void steps.push({ _tag: "Beside", byteStart, byteEnd })
    }))
  ].toSorted((a, b) => a.seq - b.seq)
  let next = 0
  for (const node of order) {
    for (; next < others.length && others[next]!.seq < graph.nodes[node]!.seq; next++) others[next]!.emit()
    message(node)
  }
  // What stood behind all of them stays before the last one, so that this is the end.
  const last = steps.pop()!
  for (; next < others.length; next++) others[next]!.emit()
  return [...steps, last]
}

/** The same boundary without a record of what it kept. */
const withoutRecord =
  (graph: SessionGraph.SessionGraph) =>
  (step: Fork.Step): Fork.Step => {
    const entry = step._tag === "Message" ? SessionGraph.nodeOf(graph, step.uuid)?.entry : undefined
    if (!Boundary.isCompact(entry)) return step
    const { compactMetadata } = entry as { readonly compactMetadata?: { readonly [key: string]: unknown } | null }
    const { preservedMessages: _, preservedSegment: __, ...rest } = compactMetadata ?? {}
    return { ...step, compactMetadata: rest } as Fork.Step
  }

/** What the first way gives that is right, else the last. */
const firstThat = <A>(ways: ReadonlyArray<() => A>, isRight: (made: A) => boolean): A => {
  for (const way of ways.slice(0, -1)) {
    const made = way()
    if (isRight(made)) return made
  }
  return ways.at(-1)!()
}

/** An entry of an unknown type, and where it stands. */
interface Link {
  readonly uuid: string
  readonly byteStart: number
  readonly byteEnd: number
}

/** The entries of unknown types that a message hangs on its parent by, from the message up. */
const linksAbove = (
  { asWritten, graph, links, nearest, written }: Source,
  node: number,
  parent: number
): ReadonlyArray<Link> => {
  const count = graph.nodes.length
  const found: Array<Link> = []
  let at = asWritten.parent[node]!
  for (let steps = 0; at >= count && steps <= written.links.length; steps++) {
    const { seq, uuid } = written.links[at - count]!
    const place = links.get(seq)
    if (place !== undefined && !graph.byId.has(uuid)) found.push({ uuid, ...place })
    at = asWritten.linkParent[at - count]!
  }
  return at >= 0 && at < count && nearest(at) === parent ? found : []
}

/** Whether a reader of the steps finds the conversation: their graph, of the same nodes in other places. */
const shows = (steps: ReadonlyArray<Fork.Step>, { chain, graph }: Source): boolean => {
  const nodes: Array<SessionGraph.Node> = []
  const links: Array<SessionGraph.Link> = []
  const byId = new Map<string, number>()
  steps.forEach((step, seq) => {
    if (step._tag === "Beside") return
    const { compactMetadata, parent, uuid } = step
    const node = SessionGraph.nodeOf(graph, uuid)
    if (node === undefined) {
      links.push({ seq, uuid, parentUuid: parent })
      return
    }
    const isRecorded = compactMetadata === undefined
    const changed = isRecorded ? { parentUuid: parent } : { parentUuid: parent, compactMetadata }
    const isLinked = parent === null || graph.byId.has(parent)
    const entry = isLinked && isRecorded ? node.entry : ({ ...node.entry, ...changed } as Entry.Message)
    byId.set(uuid, nodes.length)
    nodes.push({ ...node, entry, index: nodes.length, seq })
  })
  const parents = new Int32Array(nodes.length).fill(SessionGraph.MISSING)
  for (const step of steps) {
    if (step._tag === "Beside") continue
    const index = byId.get(step.uuid)
    if (index === undefined) continue
    parents[index] = step.parent === null ? SessionGraph.ROOT : (byId.get(step.parent) ?? SessionGraph.MISSING)
  }
  const read = Repair.repair(
    SessionGraph.make({
      nodes,
      byId,
      parents,
      systems: nodes.flatMap(({ entry, index }) => (entry.type === "system" ? [index] : [])),
      links,
      foreign: new Set(),
      holes: [],
      lastPrompt: undefined,
      policy: "newest",
      findings: []
    })
  )
  return (
    read.chain.length === chain.length &&
    read.chain.every((node, i) => nodes[node]!.uuid === graph.nodes[chain[i]!]!.uuid)
  )
}

/** Of what stands beside the messages, that which speaks of none that is left out. */
const besides = (source: Source, noted: Noted, whole: boolean): ReadonlyArray<Beside> => {
  const { chain, copied, graph } = source
  const isCopied = (uuid: string): boolean => copied.has(graph.byId.get(uuid) ?? -1)
  const boundary = Boundary.isCompact(graph.nodes[chain[0]!]!.entry) ? chain[0]! : 0
  /** A message of an abandoned branch; what stands before the boundary may be built upon. */
  const isLeft = (uuid: string): boolean => (graph.byId.get(uuid) ?? -1) >= boundary && !isCopied(uuid)
  const speaks = noted.beside.filter(({ about, on }) => about.every(isCopied) && (on === undefined || !isLeft(on)))
  const built = new Set(speaks.flatMap(({ on }) => (on === undefined ? [] : [on])))
  const isBuiltOn = ({ about, on }: Beside): boolean =>
    on !== undefined && about[0] === on && built.has(on) && !isLeft(on)
  const left = leftOut(source, noted)
  const end = chain.reduce((last, node) => Math.max(last, graph.nodes[node]!.seq), -1)
  const chosen = new Set(speaks)
  return noted.beside.filter(
    (one) =>
      (chosen.has(one) || isBuiltOn(one)) &&
      (one.agentId === undefined || !left.has(one.agentId)) &&
      (whole || one.inline !== true || one.seq < end)
  )
}

const leftOut = ({ copied, graph }: Source, { agents }: Noted): ReadonlySet<string> => {
  const seqs = new Set(Array.from(copied, (node) => graph.nodes[node]!.seq))
  const spoken = new Set(agents.flatMap(({ agentId, seq }) => (seqs.has(seq) ? [agentId] : [])))
  return new Set(agents.flatMap(({ agentId }) => (spoken.has(agentId) ? [] : [agentId])))
}

/** Title and metadata: prompts are those of the fork. */
const naming = (
  { chain, graph }: Source,
  { prompts }: Noted,
  metadata: SessionMetadata.SessionMetadata,
  leafUuid: string
): Pick<Fork.Plan, "title" | "metadata"> => {
  const { firstPrompt: first, lastPrompt: said, ...others } = metadata
  const seqs = new Set(chain.map((node) => graph.nodes[node]!.seq))
  const own = prompts.filter(({ seq }) => seqs.has(seq))
  const lastPrompt = own.at(-1)?.text
  const firstPrompt = own[0]?.text ?? first
  const title = SessionMetadata.titleOf({
    ...others,
    // Where the source is not named by its last prompt, nor is the fork.
    ...(said !== undefined && lastPrompt !== undefined && { lastPrompt }),
    ...(firstPrompt !== undefined && { firstPrompt })
  })
  const customTitle = `${title ?? "Session"} (fork)`
  const prompt = Metadata.lastPrompt({ ...(lastPrompt !== undefined && { lastPrompt }), leafUuid })
  return { title: customTitle, metadata: [prompt, ...SessionMetadata.restate({ ...others, customTitle })] }
}
