/**
 * Lanes: the log taken apart, as written: the messages and links of one lane, and what stands beside it.
 *
 *   u1 · a1 · p1 · s1(side) · u1 again · ???      a log
 *   nodes u1 a1 · links p1 · sidechains s1 · finding repeated-id · hole
 *
 * 1. A message enters at its first occurrence; a copy that differs in more than key order is reported, and changes
 *    nothing (RECOVERY §2).
 * 2. Entries with `isSidechain: true` belong to their agent's lane, else to that of their root (RECOVERY §1).
 * 3. The fold of a long log costs one map entry and one small object for each message; all rules come afterwards. What
 *    is to be counted once for each message is folded here, while its line is at hand.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Column from "./internal/column.ts"
import * as Json from "./internal/json.ts"
import * as Nodes from "./Nodes.ts"
import * as Round from "./Round.ts"
import * as SessionGraph from "./SessionGraph.ts"
import * as Usage from "./Usage.ts"

/**
 * A subagent's lane inside the log: its agent (null: none is named), the id at its root, and its length.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sidechain {
  readonly agentId: string | null
  readonly root: string
  readonly entries: number
}

/**
 * The log as written: the chosen lane, and what the others hold.
 *
 * @category models
 * @since 0.1.0
 */
export interface Lanes {
  readonly written: SessionGraph.Written
  readonly sidechains: ReadonlyArray<Sidechain>
  readonly usage: Usage.Usage
}

/**
 * `main`: the messages that are no sidechain's. `sidechain`: all messages, for a log that is one agent's.
 *
 * @category models
 * @since 0.1.0
 */
export type Choice = "main" | "sidechain"

/**
 * Where the messages of the lane are put while it is read, each in its place.
 *
 * @category models
 * @since 0.1.0
 */
export interface Shelf {
  readonly ids: Nodes.Ids
  readonly put: (node: SessionGraph.Node) => void
  /** The message of a place, where this one, of the same id, says something else. */
  readonly unlike: (index: number, entry: Entry.Message) => SessionGraph.Node | undefined
  /** All of them so far. */
  readonly nodes: () => Nodes.Nodes
}

/**
 * What is held of the lane: its messages, on a shelf that is made for each run, and what they used.
 *
 * @category models
 * @since 0.1.0
 */
export interface Holding {
  readonly shelf: () => Shelf
  readonly usage: Projection.Projection<Round.Part, Usage.Usage>
}

const whole: Holding = {
  shelf: () => {
    const nodes: Array<SessionGraph.Node> = []
    const ids = new Map<string, number>()
    return {
      ids,
      put: (node) => {
        ids.set(node.uuid, node.index)
        nodes.push(node)
      },
      unlike: (index, entry) => (sameContent(nodes[index]!.entry, entry) ? undefined : nodes[index]),
      nodes: () => Nodes.of([...nodes])
    }
  },
  usage: Usage.ofParts
}

interface Draft {
  seq: number
  readonly shelf: Shelf
  readonly systems: Array<number>
  readonly parents: Column.Column
  readonly links: Array<SessionGraph.Link>
  readonly linksById: Map<string, { readonly parent: string | null; readonly line: number }>
  readonly holes: Array<SessionGraph.Hole>
  readonly findings: Array<Finding.Finding>
  readonly others: Array<SessionGraph.Node>
  readonly otherIds: Map<string, number>
  readonly foreign: Set<string>
  readonly usage: Projection.Run<Round.Part, Usage.Usage>
  lastPrompt: SessionGraph.LastPrompt | undefined
}

/**
 * Takes a log apart for one lane. By default its messages are held as they are.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection = (
  lane: Choice,
  policy: SessionGraph.LeafPolicy,
  holding: Holding = whole
): Projection.Projection<Line.Located, Lanes> =>
  Projection.make({
    initial: (): Draft => ({
      seq: 0,
      shelf: holding.shelf(),
      systems: [],
      parents: Column.int32(),
      links: [],
      linksById: new Map(),
      holes: [],
      findings: [],
      others: [],
      otherIds: new Map(),
      foreign: new Set(),
      usage: Projection.run(holding.usage),
      lastPrompt: undefined
    }),
    evolve: (draft, located: Line.Located) => {
      const { entry } = located
      const seq = draft.seq++
      if (Entry.isMessage(entry)) message(draft, entry, located.at, seq, lane)
      else if (entry instanceof Entry.Malformed) hole(draft, entry, seq)
      else if (entry.type === "last-prompt") lastPrompt(draft, entry as Entry.OfKind<"last-prompt">, located.at, seq)
      else link(draft, entry, located.at, seq)
      return draft
    },
    extract: ({ findings, foreign, holes, lastPrompt, links, otherIds, others, parents, shelf, systems, usage }) => ({
      written: {
        nodes: shelf.nodes(),
        byId: shelf.ids,
        parents: Int32Array.from({ length: parents.length() }, (_, node) => parents.get(node)),
        systems: [...systems],
        links: [...links],
        foreign,
        holes,
        lastPrompt,
        policy,
        findings
      },
      sidechains: sidechains(others, otherIds),
      usage: usage.extract()
    })
  })

const message = (draft: Draft, entry: Entry.Message, at: Finding.Position, seq: number, lane: Choice): void => {
  const { uuid } = entry
  if (uuid === "") {
    // An absent id was reported with its line; an empty one fits, and names nothing all the same.
    const { uuid: written } = Entry.original(entry) as { readonly uuid?: unknown }
    if (written === "") draft.findings.push(Finding.make("ill-formed", { type: entry.type, keys: ["uuid"] }, at))
    return
  }
  if (lane === "main" && entry.isSidechain === true) return aside(draft, entry, at, seq)
  const { ids, put } = draft.shelf
  const first = ids.get(uuid)
  if (first === undefined) {
    const node = nodeOf(entry, at, seq, draft.parents.length())
    put(node)
    const parentUuid = SessionGraph.parentUuidOf(entry)
    draft.parents.push(parentUuid === null ? SessionGraph.ROOT : (ids.get(parentUuid) ?? SessionGraph.MISSING))
    draft.usage.evolve(node)
    if (entry.type === "system") draft.systems.push(node.index)
    if (Boundary.isCompact(entry)) draft.lastPrompt = undefined
    return
  }
  const other = draft.shelf.unlike(first, entry)
  if (other === undefined) return
  draft.findings.push(Finding.make("repeated-id", { uuid, lines: [other.at.line, at.line] }, at))
}

const aside = (draft: Draft, entry: Entry.Message, at: Finding.Position, seq: number): void => {
  const key = otherKey(entry.agentId, entry.uuid)
  if (draft.otherIds.has(key)) return
  draft.otherIds.set(key, draft.others.length)
  draft.foreign.add(entry.uuid)
  draft.others.push(nodeOf(entry, at, seq, draft.others.length))
}

const nodeOf = (entry: Entry.Message, at: Finding.Position, seq: number, index: number): SessionGraph.Node => ({
  index,
  seq,
  uuid: entry.uuid,
  at,
  entry,
  reply: Round.replyOf(entry),
  calls: Round.callsOf(entry),
  answers: Round.answersOf(entry)
})

/** Ids are a namespace per lane: of several agents in one log, each may hold the same id. */
const otherKey = (agentId: string | undefined, uuid: string): string =>
  `${agentId?.length ?? 0} ${agentId ?? ""}${uuid}`

const sameContent = (a: Entry.Message, b: Entry.Message): boolean => Json.isSame(Entry.original(a), Entry.original(b))

const link = (draft: Draft, entry: Entry.Known | Entry.Unknown, at: Finding.Position, seq: number): void => {
  const { parentUuid, uuid } = entry as { readonly uuid?: unknown; readonly parentUuid?: unknown }
  if (typeof uuid !== "string" || uuid === "" || parentUuid === undefined) return
  if (entry.type !== "progress" && Entry.kindOf(entry) !== "unknown") return
  const parent = typeof parentUuid === "string" && parentUuid !== "" ? parentUuid : null
  draft.links.push({ seq, uuid, parentUuid: parent })
  const first = draft.linksById.get(uuid)
  if (first === undefined) draft.linksById.set(uuid, { parent, line: at.line })
  else if (first.parent !== parent) {
    draft.findings.push(Finding.make("repeated-id", { uuid, lines: [first.line, at.line] }, at))
  }
}

const lastPrompt = (
  draft: Draft,
  { leafUuid }: Entry.OfKind<"last-prompt">,
  at: Finding.Position,
  seq: number
): void => {
  if (leafUuid !== undefined && leafUuid !== "") draft.lastPrompt = { seq, leafUuid, at }
}

const hole = (draft: Draft, entry: Entry.Malformed, seq: number): void => {
  if (entry.reason === "blank") return
  draft.holes.push({ seq, ids: new Set(Array.from(Line.encode(entry).matchAll(idInText), ([, id]) => id!)) })
}

const idInText = /"uuid"\s*:\s*"([^"\\]{1,128})"/g

const sidechains = (
  nodes: ReadonlyArray<SessionGraph.Node>,
  ids: ReadonlyMap<string, number>
): ReadonlyArray<Sidechain> => {
  const roots = new Int32Array(nodes.length).fill(-1)
  const rootOf = (start: number): number => {
    const path: Array<number> = []
    const seen = new Set<number>()
    let at = start
    while (roots[at] === -1 && !seen.has(at)) {
      path.push(at)
      seen.add(at)
      const { entry } = nodes[at]!
      const parent = SessionGraph.parentUuidOf(entry)
      const up = parent === null ? undefined : ids.get(otherKey(entry.agentId, parent))
      if (up === undefined) roots[at] = at
      else at = up
    }
    const root = roots[at] === -1 ? at : roots[at]!
    for (const node of path) roots[node] = root
    return root
  }
  const lanes = new Map<string, { agentId: string | null; root: string; entries: number }>()
  for (const node of nodes) {
    const root = nodes[rootOf(node.index)]!.uuid
    const agentId = node.entry.agentId || null
    const key = agentId === null ? `root ${root}` : `agent ${agentId}`
    const lane = lanes.get(key)
    if (lane === undefined) lanes.set(key, { agentId, root, entries: 1 })
    else lane.entries++
  }
  return [...lanes.values()]
}
