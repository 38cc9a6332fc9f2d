/**
 * Recovery: the fold from a log to the state of its session. It never fails, never writes, and ends on every log.
 *
 *   Located ──▶ struct({ lanes, skills, metadata, snapshots, reading }) ──extract──▶ repair ──▶ SessionState
 *
 * Following a live log costs `evolve` only; repair runs when the state is asked for.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import type { Located } from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import type * as SessionSource from "@reprise/domain/SessionSource"
import type * as Suffix from "@reprise/domain/Suffix"
import { constUndefined } from "effect/Function"
import * as Branches from "./Branches.ts"
import * as Consistency from "./Consistency.ts"
import * as Lanes from "./Lanes.ts"
import * as Repair from "./Repair.ts"
import * as SessionGraph from "./SessionGraph.ts"
import * as SessionState from "./SessionState.ts"
import * as SkillState from "./SkillState.ts"
import * as Sufficiency from "./Sufficiency.ts"
import * as Snapshots from "./Snapshots.ts"

/**
 * What is recovered: which lane (default: main), and by which rule its leaf is chosen (default: the log's own).
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly lane?: Lanes.Choice
  readonly leaf?: SessionGraph.LeafPolicy
  /** Another repair than the right one, for those who study what each step is for. */
  readonly repair?: (written: SessionGraph.SessionGraph) => Repair.Repaired
}

interface Count {
  readonly key: string
  readonly at: Finding.Position
  count: number
}

/** What is noticed entry by entry: damage of lines, unknown types, whose entries they are, how far it was read. */
interface Reading {
  readonly damage: Array<Finding.Finding>
  readonly unknown: Map<string, Count>
  readonly sessions: Map<string, Count>
  /** That of the entry before: as a rule the same session goes on. */
  session: Count | undefined
  start: number
  end: number
  lines: number
  lastLine: number
}

/** Gives what is counted under the key. */
const count = (counts: Map<string, Count>, key: string, at: Finding.Position): Count => {
  const known = counts.get(key)
  if (known !== undefined) {
    known.count++
    return known
  }
  const first = { key, count: 1, at }
  counts.set(key, first)
  return first
}

const reading: Projection.Projection<Located, Reading> = Projection.make({
  initial: (): Reading => ({
    damage: [],
    unknown: new Map(),
    sessions: new Map(),
    session: undefined,
    start: -1,
    end: 0,
    lines: 0,
    lastLine: -1
  }),
  evolve: (draft, { at, damage, entry }: Located) => {
    for (const finding of damage) Finding.push(draft.damage, finding)
    if (draft.start === -1) draft.start = at.byteStart
    draft.end = at.byteEnd
    if (at.line !== draft.lastLine) draft.lines++
    draft.lastLine = at.line
    if (entry instanceof Entry.Malformed) return draft
    if (Entry.kindOf(entry) === "unknown") count(draft.unknown, entry.type, at)
    const { sessionId } = entry as { readonly sessionId?: unknown }
    if (typeof sessionId !== "string" || sessionId === "") return draft
    if (sessionId === draft.session?.key) draft.session.count++
    else draft.session = count(draft.sessions, sessionId, at)
    return draft
  },
  extract: (draft) => draft
})

const readingFindings = ({ damage, sessions, unknown }: Reading): ReadonlyArray<Finding.Finding> => [
  ...damage,
  ...Array.from(unknown, ([type, { at, count }]) => Finding.make("unknown-type", { type, count }, at)),
  ...Array.from(sessions, ([sessionId, { at, count }]) =>
    Finding.make("foreign-session", { sessionId, count }, at)
  ).slice(1)
]

const conversation = ({ lane = "main", leaf = "last-prompt" }: Options) => ({
  lanes: Lanes.projection(lane, leaf),
  skills: Projection.entries(SkillState.projection)
})

const beside = {
  metadata: Projection.entries(SessionMetadata.projection),
  snapshots: Snapshots.projection,
  reading
}

type Answers<P> = { readonly [K in keyof P]: P[K] extends Projection.Projection<any, infer S> ? S : never }

type Conversation = Answers<ReturnType<typeof conversation>>

/**
 * What stands beside the conversation of a session.
 *
 * @category models
 * @since 0.1.0
 */
export interface Beside extends Answers<typeof beside> {}

/**
 * The projection from located entries to the recovered session.
 *
 * @category projections
 * @since 0.1.0
 */
export const make = (options: Options = {}): Projection.Projection<Located, SessionState.SessionState> =>
  Projection.map(Projection.struct({ ...conversation(options), ...beside }), (parts) =>
    stateOf(parts, (options.repair ?? Repair.repair)(SessionGraph.make(parts.lanes.written)))
  )

/**
 * The same for each door. Of a log that was read in part, `extent.partial` says what belongs to that part alone, and the
 * verdict whether the conversation is that of the whole log.
 *
 * @category projections
 * @since 0.1.0
 */
export const judged = (options: Omit<Options, "repair"> = {}): Suffix.Doors<SessionState.SessionState, Beside> => ({
  full: make(options),
  conversation: Projection.map(Projection.struct(conversation(options)), (parts) => {
    const written = SessionGraph.make(parts.lanes.written)
    const repaired = Repair.repair(written)
    return {
      verdict: Sufficiency.judge(written, repaired),
      answer: (beside, history) => partial(stateOf({ ...parts, ...beside }, repaired), repaired, history)
    }
  }),
  beside: Projection.struct(beside)
})

/** The state of a part: without what was found about links that lead out of it. */
const partial = (
  state: SessionState.SessionState,
  { chain, graph }: Repair.Repaired,
  history: SessionState.Partial["history"]
): SessionState.SessionState => {
  const first = (graph.compaction?.kept ?? []).reduce((a, b) => Math.min(a, b), chain[0] ?? -1)
  const byteStart = graph.nodes.get(first)?.at.byteStart ?? state.extent.byteStart
  const links = new Set<Finding.Finding>(graph.findings)
  const boundary = graph.nodes.get(chain[0] ?? -1)?.at.byteStart ?? 0
  const isOutside = (finding: Finding.Finding) => links.has(finding) && (finding.byteStart ?? boundary) < boundary
  return {
    ...state,
    findings: state.findings.filter((finding) => !isOutside(finding)),
    extent: { ...state.extent, byteStart, partial: { history, unknown: SessionState.unknown[history] } }
  }
}

const stateOf = (
  { lanes, metadata, reading, skills, snapshots }: Conversation & Beside,
  repaired: Repair.Repaired
): SessionState.SessionState => {
  const conversation = repaired.chain.map((node) => repaired.graph.nodes.get(node)!)
  const { nodes, systems } = lanes.written
  const consistency = Consistency.check(
    systems.map((node) => nodes.get(node)!),
    conversation
  )
  return {
    sessionId: reading.sessions.keys().next().value,
    conversation,
    leaf: repaired.graph.nodes.get(repaired.leaf),
    ...Branches.account(repaired),
    sidechains: lanes.sidechains,
    messages: nodes.length,
    metadata,
    snapshots,
    skills,
    usage: lanes.usage,
    consistency,
    findings: [
      ...readingFindings(reading),
      ...repaired.findings,
      ...snapshots.pending.map(({ at, text }) => Finding.make("pending-prompt", { text }, at)),
      ...Consistency.findings(consistency, conversation)
    ],
    extent: { byteStart: Math.max(reading.start, 0), byteEnd: reading.end, lines: reading.lines }
  }
}

/**
 * The projection for the main lane and the log's own leaf.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection: Projection.Projection<Located, SessionState.SessionState> = make()

/**
 * Where a session goes on, by a rule for its leaf: what the next message hangs on (null: it is a root), and the ids of the
 * conversation. For each door: the end of a log tells, where it tells the conversation.
 *
 * @category projections
 * @since 0.1.0
 */
export const leafWith = ({ leaf = "last-prompt" }: Pick<Options, "leaf">): SessionSource.FindLeaf => {
  const lanes = Lanes.projection("main", leaf)
  const repaired = ({ written }: Lanes.Lanes) => {
    const graph = SessionGraph.make(written)
    return { graph, repaired: Repair.repair(graph) }
  }
  return {
    full: Projection.map(lanes, (read) => leafIn(repaired(read).repaired)),
    conversation: Projection.map(lanes, (read) => {
      const both = repaired(read)
      return { verdict: Sufficiency.judge(both.graph, both.repaired), answer: () => leafIn(both.repaired) }
    }),
    beside: Projection.make({ initial: constUndefined, evolve: constUndefined, extract: constUndefined })
  }
}

const leafIn = ({ chain, graph, leaf }: Repair.Repaired): SessionSource.Leaf => ({
  parent: graph.nodes.get(leaf)?.uuid ?? null,
  conversation: chain.map((node) => graph.nodes.get(node)!.uuid)
})

/**
 * Where a recovered session goes on.
 *
 * @category getters
 * @since 0.1.0
 */
export const leafOf = (state: SessionState.SessionState): SessionSource.Leaf => ({
  parent: SessionState.leafOf(state)?.uuid ?? null,
  conversation: state.conversation.map(({ uuid }) => uuid)
})

/**
 * The same for the log's own leaf.
 *
 * @category projections
 * @since 0.1.0
 */
export const leaf = leafWith({})

/**
 * Recovers a session from its entries.
 *
 * @category running
 * @since 0.1.0
 */
export const fold = (entries: Iterable<Located>, options?: Options): SessionState.SessionState =>
  Projection.fold(options === undefined ? projection : make(options), entries)

/**
 * The session as it was after the first `n` entries.
 *
 * @category running
 * @since 0.1.0
 */
export const stateAt = (entries: ReadonlyArray<Located>, n: number, options?: Options): SessionState.SessionState =>
  fold(entries.slice(0, n), options)

/**
 * What a later entry changed.
 *
 * @category combinators
 * @since 0.1.0
 */
export const diff: (a: SessionState.SessionState, b: SessionState.SessionState) => SessionState.Difference =
  SessionState.diff
