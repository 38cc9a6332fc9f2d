/**
 * Subagents: the states of a session's agents and of their lead, as one tree.
 *
 *   lead ─ call ─ result { agentId: a }        a ─ call ─ result { agentId: b }        c (nobody speaks of it)
 *
 *   lead
 *   ├─ a          found by whose result names it, else by what its file says of it
 *   │  └─ b
 *   └─ c          `spawn` is null
 *
 * 1. An agent is known by its id, whether it has a log of its own or stands in an old main log; there, sidechains without
 *    an id are known by their root.
 * 2. A lane is recovered by the rules of any conversation; ids may repeat those of the lead, whose context was copied.
 * 3. An agent whose first message hangs on one of another lane goes on from there: `inherited` is that conversation.
 */
import * as Entry from "@reprise/domain/Entry"
import type { Located } from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Interruption from "./Interruption.ts"
import * as ModelMessages from "./ModelMessages.ts"
import * as Recovery from "./Recovery.ts"
import * as Round from "./Round.ts"
import * as SessionGraph from "./SessionGraph.ts"
import type { SessionState } from "./SessionState.ts"

/**
 * Where an agent is spoken of: the result that names it, and the call which that answers.
 *
 * @category models
 * @since 0.1.0
 */
export interface Spawn {
  readonly agentId: string
  readonly uuid: string
  readonly toolUseId: string | undefined
  readonly agentType: string | undefined
}

/**
 * What the file beside an agent's log says of it; open to more keys.
 *
 * @category models
 * @since 0.1.0
 */
export interface Meta {
  readonly agentType?: unknown
  readonly description?: unknown
  readonly toolUseId?: unknown
  readonly parentAgentId?: unknown
  readonly [key: string]: unknown
}

/**
 * A lane as it was read: its state, and the agents that it speaks of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Lane {
  readonly state: SessionState
  readonly spawns: ReadonlyArray<Spawn>
}

/**
 * A lane inside of a main log: its agent (null: none is named) and the id at its root.
 *
 * @category models
 * @since 0.1.0
 */
export interface Inline extends Lane {
  readonly agentId: string | null
  readonly root: string
}

/**
 * An agent to place in the tree; `source` is whatever the caller knows it by.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found<out A> extends Lane {
  readonly agentId: string | null
  readonly meta?: Meta | undefined
  readonly source: A
}

/**
 * An agent in the tree: what the model is sent of it and how its last turn ended, where it was spawned (null: nobody
 * speaks of it), what it goes on from, and its own agents.
 *
 * @category models
 * @since 0.1.0
 */
export interface Agent<out A> extends Found<A> {
  readonly view: ModelMessages.ModelView
  readonly interruption: Interruption.Interruption
  readonly spawn: Spawn | null
  readonly inherited: ReadonlyArray<SessionGraph.Node>
  readonly agents: ReadonlyArray<Agent<A>>
}

const spawnOf = (entry: Entry.Entry): Spawn | undefined => {
  if (entry.type !== "user") return undefined
  const user = entry as Entry.OfKind<"user">
  const result = user.toolUseResult as { readonly [key: string]: unknown } | null | undefined
  if (typeof result?.["agentId"] !== "string" || result["agentId"] === "") return undefined
  const agentType = typeof result["agentType"] === "string" ? result["agentType"] : undefined
  return { agentId: result["agentId"], uuid: user.uuid, toolUseId: Round.answersOf(user)[0], agentType }
}

const spawnsOf = (isOwn: (entry: Entry.Entry) => boolean): Projection.Projection<Located, ReadonlyArray<Spawn>> =>
  Projection.make({
    initial: (): Array<Spawn> => [],
    evolve: (spawns: Array<Spawn>, { entry }: Located) => {
      const spawn = isOwn(entry) ? spawnOf(entry) : undefined
      if (spawn !== undefined) spawns.push(spawn)
      return spawns
    },
    extract: (spawns) => [...spawns]
  })

const isInline = (entry: Entry.Entry): boolean => Entry.isMessage(entry) && entry.isSidechain === true

/**
 * The lane of an agent's own log.
 *
 * @category projections
 * @since 0.1.0
 */
export const agent: Projection.Projection<Located, Lane> = Projection.struct({
  state: Recovery.make({ lane: "sidechain" }),
  spawns: spawnsOf(() => true)
})

/**
 * A main log: its lead, and the agents that stand in it.
 *
 * @category projections
 * @since 0.1.0
 */
export const lead: Projection.Projection<Located, Lane & { readonly inline: ReadonlyArray<Inline> }> =
  Projection.struct({
    state: Recovery.make(),
    spawns: spawnsOf((entry) => !isInline(entry)),
    inline: Projection.make({
      initial: (): Array<Located> => [],
      evolve: (all: Array<Located>, located: Located) => {
        if (isInline(located.entry)) all.push(located)
        return all
      },
      extract: (all) => lanesOf(all)
    })
  })

/** Sidechains taken apart: by their agent, or by their root where none is named. */
const lanesOf = (all: ReadonlyArray<Located>): ReadonlyArray<Inline> => {
  const messages = all.map(({ entry }) => entry as Entry.Message)
  const byId = new Map<string, Entry.Message>()
  for (const entry of messages) if (!entry.agentId && !byId.has(entry.uuid)) byId.set(entry.uuid, entry)
  // Each message is walked over once: what hangs on a known one, or on a circle, has its root.
  const roots = new Map<string, string>()
  const rootOf = (entry: Entry.Message): string => {
    const seen = new Set<string>()
    for (let at = entry; ;) {
      seen.add(at.uuid)
      const above = byId.get(SessionGraph.parentUuidOf(at) ?? "")
      const root = roots.get(at.uuid) ?? (above === undefined || seen.has(above.uuid) ? at.uuid : undefined)
      if (root === undefined) at = above!
      else {
        for (const uuid of seen) roots.set(uuid, root)
        return root
      }
    }
  }
  const lanes = new Map<
    string,
    { readonly agentId: string | null; readonly root: string; readonly log: Array<Located> }
  >()
  for (const [i, entry] of messages.entries()) {
    const agentId = entry.agentId || null
    const root = agentId === null ? rootOf(entry) : entry.uuid
    const key = agentId === null ? `root ${root}` : `agent ${agentId}`
    const lane = lanes.get(key) ?? { agentId, root, log: [] }
    lane.log.push(all[i]!)
    lanes.set(key, lane)
  }
  return Array.from(lanes.values(), ({ agentId, log, root }) => ({ agentId, root, ...Projection.fold(agent, log) }))
}

/**
 * The agents of a session below their lead. Where records make a circle, or an agent speaks of itself, the first of them
 * hangs on the lead: each agent is in the tree once.
 *
 * @category combinators
 * @since 0.1.0
 */
export const tree = <A>(lead: Lane, agents: ReadonlyArray<Found<A>>): ReadonlyArray<Agent<A>> => {
  const byId = new Map<string, Found<A>>()
  for (const one of agents) if (one.agentId !== null && !byId.has(one.agentId)) byId.set(one.agentId, one)
  const spokenOf = new Map<string, { readonly by: Found<A> | null; readonly spawn: Spawn }>()
  for (const by of [null, ...agents]) {
    for (const spawn of (by ?? lead).spawns) {
      if (!spokenOf.has(spawn.agentId) && spawn.agentId !== by?.agentId) spokenOf.set(spawn.agentId, { by, spawn })
    }
  }
  const parentOf = ({ agentId, meta }: Found<A>): Found<A> | null => {
    const known = agentId === null ? undefined : spokenOf.get(agentId)
    if (known !== undefined) return known.by
    const named = typeof meta?.parentAgentId === "string" ? byId.get(meta.parentAgentId) : undefined
    return named === undefined || named.agentId === agentId ? null : named
  }
  const hangsBelow = trees<Found<A>>()
  const below = new Map<Found<A> | null, Array<Found<A>>>()
  for (const one of agents) {
    const parent = parentOf(one)
    const by = parent !== null && hangsBelow(one, parent) ? parent : null
    const others = below.get(by)
    if (others === undefined) below.set(by, [one])
    else others.push(one)
  }
  // From the lead down, and then upward: agents may be nested as deep as somebody made them.
  const order = (below.get(null) ?? []).map((one) => ({ one, by: null as Found<A> | null }))
  for (const { one } of order) for (const own of below.get(one) ?? []) order.push({ one: own, by: one })
  const placed = new Map<Found<A>, Agent<A>>()
  for (const { by, one } of order.toReversed()) {
    const { agentId, state } = one
    const view = ModelMessages.make(state, agentId === null ? {} : { agentId })
    const interruption = Interruption.judge(state.conversation, view)
    placed.set(one, {
      ...one,
      view: Interruption.inject(view, interruption),
      interruption,
      spawn: (agentId === null ? undefined : spokenOf.get(agentId)?.spawn) ?? null,
      inherited: inheritedBy(state, by ?? lead),
      agents: (below.get(one) ?? []).map((own) => placed.get(own)!)
    })
  }
  return (below.get(null) ?? []).map((one) => placed.get(one)!)
}

/** Hangs a node, which hangs nowhere yet, below another one; false: that one is below it already. */
const trees = <N>(): ((one: N, on: N) => boolean) => {
  const above = new Map<N, N>()
  const topOf = (node: N): N => {
    const path: Array<N> = []
    let top = node
    for (let next = above.get(top); next !== undefined; next = above.get(top)) {
      path.push(top)
      top = next
    }
    for (const passed of path) above.set(passed, top)
    return top
  }
  return (one, on) => {
    const top = topOf(on)
    if (top === one) return false
    above.set(one, top)
    return true
  }
}

/** The conversation of the other lane up to the message that the first one hangs on. */
const inheritedBy = ({ conversation }: SessionState, from: Lane): ReadonlyArray<SessionGraph.Node> => {
  const first = conversation[0]
  const parent = first === undefined ? null : SessionGraph.parentUuidOf(first.entry)
  const at = from.state.conversation.findIndex(({ uuid }) => uuid === parent)
  return from.state.conversation.slice(0, at + 1)
}
