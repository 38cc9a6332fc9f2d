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
 * 4. No text of the log is held, and no object for each message: it weighs what its links weigh. Steps are made when they
 *    are asked for.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Fork from "@reprise/domain/Fork"
import type { Located } from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as Result from "effect/Result"
import * as Forking from "./internal/forking.ts"
import * as Packed from "./internal/packed.ts"
import * as Shown from "./internal/shown.ts"
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
): Projection.Projection<Located, Result.Result<Fork.Plan, Fork.NoForkPoint>> => {
  const policy = options.at === undefined ? "last-prompt" : { uuid: options.at }
  return Projection.map(
    Projection.struct({
      lanes: Projection.mapInput(Lanes.projection("main", policy, Packed.holding), Forking.mainOnly),
      noted: Forking.noted,
      metadata: Projection.entries(SessionMetadata.projection)
    }),
    ({ lanes, metadata, noted }) => plan(lanes.written, noted, metadata, options.at)
  )
}

const plan = (
  written: SessionGraph.Written,
  noted: Forking.Noted,
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
  const copied = marked(graph.nodes.length, chain, snipped)
  const whole = SessionGraph.unsnipped(graph)
  const above = SessionGraph.inherit(whole, -1, (node) => (copied(node) ? node : undefined))
  const nearest = (node: number): number => (copied(node) ? node : above(node))
  const source: Source = { written, asWritten, graph, chain, noted, copied, snipped, nearest }
  const left = leftOut(source)
  const kept = besides(source, left, at === undefined)
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
    () => withoutRecord(graph, stepsOf(source, kept, inLine(chain, parents)))
  ]
  return Result.succeed({
    steps: firstThat(ways, (made) => Shown.isSame(made, graph, chain, named)),
    leaf: graph.nodes.get(named)!.uuid,
    messages: chain.length + snipped.length,
    prompts: promptsOf(source),
    metadata,
    backups: noted.backups,
    leftOut: left
  })
}

interface Source {
  readonly written: SessionGraph.Written
  readonly asWritten: SessionGraph.SessionGraph
  readonly graph: SessionGraph.SessionGraph
  readonly chain: ReadonlyArray<number>
  readonly noted: Forking.Noted
  readonly copied: (node: number) => boolean
  readonly snipped: ReadonlyArray<number>
  /** A node, or the nearest above it, that is copied; -1: none is. */
  readonly nearest: (node: number) => number
}

/** Whether a number below `count` is one of these. */
const marked = (count: number, ...numbers: ReadonlyArray<ReadonlyArray<number>>): ((number: number) => boolean) => {
  const marks = new Uint8Array(count)
  for (const some of numbers) for (const number of some) marks[number] = 1
  return (number) => marks[number] === 1
}

/** The messages that snips of the conversation took out, in log order. */
const snippedBy = (graph: SessionGraph.SessionGraph, chain: ReadonlyArray<number>): ReadonlyArray<number> => {
  const nodes = new Set<number>()
  for (const node of chain) {
    for (const uuid of Boundary.removed(graph.nodes.get(node)!.entry) ?? []) {
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
  const places = new Map(chain.map((node, place) => [node, place]))
  return (node) => {
    const place = places.get(node)
    return place === undefined ? parents(node) : (chain[place - 1] ?? -1)
  }
}

type Steps = Iterable<Fork.Step>

/** The conversation in its order, everything else before the first message that it stood before. */
const stepsOf = (
  source: Source,
  kept: ReadonlyArray<number>,
  parents: Parents,
  order: ReadonlyArray<number> = source.chain
): Steps => ({
  *[Symbol.iterator]() {
    const { graph, noted, snipped } = source
    const seqOf = (node: number): number => graph.nodes.get(node)!.seq
    const message = messages(source, parents)
    let [nextSnipped, nextKept] = [0, 0]
    const others = function* (before: number): Generator<Fork.Step> {
      for (;;) {
        const node = snipped[nextSnipped]
        const place = kept[nextKept]
        const snippedAt = node === undefined ? Infinity : seqOf(node)
        const keptAt = place === undefined ? Infinity : noted.beside.seq.get(place)
        if (Math.min(snippedAt, keptAt) >= before) return
        if (snippedAt < keptAt) {
          nextSnipped++
          yield* message(node!)
        } else {
          nextKept++
          yield besideOf(noted, place!)
        }
      }
    }
    for (const [place, node] of order.entries()) {
      // What stood behind all of them stays before the last one, so that this is the end.
      yield* others(place === order.length - 1 ? Infinity : seqOf(node))
      yield* message(node)
    }
  }
})

const besideOf = ({ beside }: Forking.Noted, place: number): Fork.Step => {
  const byteStart = beside.start.get(place)
  return { _tag: "Beside", byteStart, byteEnd: byteStart + beside.size.get(place) }
}

/** Makes the steps of messages, each with the links above it that were not made yet. */
const messages = (source: Source, parents: Parents) => {
  const { graph } = source
  const linked = new Map<string, string | null>()
  return function* (node: number): Generator<Fork.Step> {
    const { at, entry, uuid } = graph.nodes.get(node)!
    const on = parents(node)
    let parent = graph.nodes.get(on)?.uuid ?? null
    for (const link of on < 0 ? [] : linksAbove(source, node, on).toReversed()) {
      if ((linked.get(link.uuid) ?? parent) !== parent) continue
      if (!linked.has(link.uuid)) yield { _tag: "Message", ...link, parent, isReply: false }
      linked.set(link.uuid, parent)
      parent = link.uuid
    }
    const { byteEnd, byteStart } = at
    yield { _tag: "Message", byteStart, byteEnd, uuid, parent, isReply: entry.type === "assistant" }
  }
}

/** The same boundaries without a record of what they kept. */
const withoutRecord = (graph: SessionGraph.SessionGraph, steps: Steps): Steps => {
  const changed = (step: Fork.Step): Fork.Step => {
    const entry = step._tag === "Message" ? SessionGraph.nodeOf(graph, step.uuid)?.entry : undefined
    if (!Boundary.isCompact(entry)) return step
    const { compactMetadata } = entry as { readonly compactMetadata?: { readonly [key: string]: unknown } | null }
    const { preservedMessages: _, preservedSegment: __, ...rest } = compactMetadata ?? {}
    return { ...step, compactMetadata: rest } as Fork.Step
  }
  return {
    *[Symbol.iterator]() {
      for (const step of steps) yield changed(step)
    }
  }
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
interface Link extends Fork.Place {
  readonly uuid: string
}

/** The entries of unknown types that a message hangs on its parent by, from the message up. */
const linksAbove = (
  { asWritten, graph, nearest, noted, written }: Source,
  node: number,
  parent: number
): ReadonlyArray<Link> => {
  const count = graph.nodes.length
  const found: Array<Link> = []
  let at = asWritten.parent[node]!
  for (let steps = 0; at >= count && steps <= written.links.length; steps++) {
    const { seq, uuid } = written.links[at - count]!
    const place = noted.links.get(seq)
    if (place !== undefined && !graph.byId.has(uuid)) found.push({ uuid, ...place })
    at = asWritten.linkParent[at - count]!
  }
  return at >= 0 && at < count && nearest(at) === parent ? found : []
}

/** The places of what stands beside the messages and speaks of none that is left out. */
const besides = (source: Source, left: ReadonlySet<string>, whole: boolean): ReadonlyArray<number> => {
  const { chain, copied, graph, noted } = source
  const { about, agent, inline, names, on, seq } = noted.beside
  const boundary = Boundary.isCompact(graph.nodes.get(chain[0]!)!.entry) ? chain[0]! : 0
  const nodeOf = (name: number): number => graph.byId.get(names.at(name)) ?? -1
  const isCopied = (name: number): boolean => name === Forking.NONE || copied(nodeOf(name))
  /** A message of an abandoned branch; what stands before the boundary may be built upon. */
  const isLeft = (name: number): boolean => !isCopied(name) && nodeOf(name) >= boundary
  const speaks = (place: number): boolean =>
    about.every((column) => isCopied(column.get(place))) && !isLeft(on.get(place))
  const built = new Uint8Array(names.size())
  for (let place = 0; place < seq.length(); place++) if (speaks(place)) built[on.get(place)] = 1
  const isBuiltOn = (place: number): boolean => {
    const name = on.get(place)
    return about[0].get(place) === name && built[name] === 1 && !isLeft(name)
  }
  const isOfLeft = (name: number): boolean => name !== Forking.NONE && left.has(names.at(name))
  const end = chain.reduce((last, node) => Math.max(last, graph.nodes.get(node)!.seq), -1)
  const kept: Array<number> = []
  for (let place = 0; place < seq.length(); place++) {
    if (!speaks(place) && !isBuiltOn(place)) continue
    if (isOfLeft(agent.get(place)) || (!whole && inline.get(place) === 1 && seq.get(place) >= end)) continue
    kept.push(place)
  }
  return kept
}

/** Whether one of these nodes stands at a place among all entries. */
const standing = (
  { graph, noted }: Source,
  ...nodes: ReadonlyArray<ReadonlyArray<number>>
): ((seq: number) => boolean) => {
  const marks = new Uint8Array(noted.seq)
  for (const some of nodes) for (const node of some) marks[graph.nodes.get(node)!.seq] = 1
  return (seq) => marks[seq] === 1
}

const leftOut = (source: Source): ReadonlySet<string> => {
  const { agents } = source.noted
  const isThere = standing(source, source.chain, source.snipped)
  const spoken = new Set(agents.flatMap(({ agentId, seq }) => (isThere(seq) ? [agentId] : [])))
  return new Set(agents.flatMap(({ agentId }) => (spoken.has(agentId) ? [] : [agentId])))
}

/** The first and the last prompt of the conversation, in the order of the log. */
const promptsOf = (source: Source): Fork.Plan["prompts"] => {
  const { chain, graph, noted } = source
  const isThere = standing(source, chain)
  let [first, last] = [-1, -1]
  for (let place = 0; place < noted.prompts.length(); place++) {
    const seq = noted.prompts.get(place)
    if (!isThere(seq)) continue
    if (first < 0) first = seq
    last = seq
  }
  const placeOf = (seq: number): Fork.Place =>
    graph.nodes.get(chain.find((node) => graph.nodes.get(node)!.seq === seq)!)!.at
  return first < 0 ? undefined : { first: placeOf(first), last: placeOf(last) }
}
