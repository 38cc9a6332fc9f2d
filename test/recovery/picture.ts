/**
 * Pictures of what a log recovers to; the logs themselves are drawn in the words of Notation.
 *
 *   recovers("u1-a1-u2-a2-N1{u2,a2}-u3")   "u1-a1-N1-u3"                 the conversation
 *   findings("u1-a1 x9-u2")                "missing-parent u2>a1"        kinds with ids, by `;`
 *   view("u1-a1(A)-rA-a2")                 "u[u1] a[use:A] u[res:A] a[a2]"
 *   links(written("u1-a1 x9-u2"))          "u1 u1-a1 ?-u2"               each message with what it hangs on
 *
 * `bodies` says what the notation cannot: `{ s1: Message.turnDuration(…) }` gives s1 another body at its place in the
 * chain, a body that is no message takes the line alone, keys without `type` are laid over what was drawn.
 */
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import type * as Finding from "@reprise/domain/Finding"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Notation from "@reprise/domain/testing/Notation"
import type * as Branches from "@reprise/recovery/Branches"
import * as Interruption from "@reprise/recovery/Interruption"
import * as Lanes from "@reprise/recovery/Lanes"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import * as SessionGraph from "@reprise/recovery/SessionGraph"
import type { SessionState } from "@reprise/recovery/SessionState"
import * as vm from "node:vm"

/** What stands in the entries of these names instead of what was drawn. */
export interface Bodies {
  readonly [name: string]: { readonly type?: string; readonly [key: string]: unknown }
}

/** How a log is recovered, and what is asked of it. */
export interface Options extends Recovery.Options {
  readonly bodies?: Bodies
  readonly unresolved?: ModelMessages.Unresolved
}

/** The lines of a log. */
export const lines = (picture: string, bodies: Bodies = {}): ReadonlyArray<string> =>
  (picture === "" ? [] : Notation.entries(picture)).map((entry) => Line.encode(redrawn(entry, bodies)))

const redrawn = (entry: Entry.Entry, bodies: Bodies): Entry.Entry => {
  if (entry instanceof Entry.Malformed) return entry
  const { agentId, isSidechain, parentUuid, sessionId, timestamp, uuid } = entry as Entry.Message
  const body = bodies[uuid]
  if (body === undefined) return entry
  if (body.type === undefined) return { ...entry, ...body } as Entry.Entry
  const envelope = { uuid, parentUuid, isSidechain, agentId, timestamp, sessionId }
  return { ...(Entry.isMessage(body as Entry.Unknown) ? envelope : { sessionId }), ...body } as Entry.Entry
}

/** The entries of a log given as text, whole lines or not. */
export const located = (text: string): ReadonlyArray<Line.Located> => Line.decodeAll(new TextEncoder().encode(text))

export const log = (picture: string, { bodies }: Options = {}): ReadonlyArray<Line.Located> =>
  located(
    lines(picture, bodies)
      .map((line) => `${line}\n`)
      .join("")
  )

export const recover = (picture: string, options: Options = {}): SessionState =>
  Recovery.fold(log(picture, options), options)

/** The conversation, root to leaf. */
export const recovers = (picture: string, options: Options = {}): string =>
  Notation.show(recover(picture, options).conversation)

/** The conversation in order of names, where order is free. */
export const holds = (picture: string, options: Options = {}): string =>
  Array.from(recover(picture, options).conversation, ({ uuid }) => uuid)
    .toSorted()
    .join(" ")

export const tell = (findings: ReadonlyArray<Finding.Finding>): string => findings.map(told).join("; ")

const told = (finding: Finding.Finding): string => {
  const { bridgedTo, count, expected, found, lines, messageId, text, toolUseId, uuid, uuids } = finding as unknown as {
    readonly [key: string]: unknown
  }
  const name = [uuid ?? messageId, bridgedTo === undefined ? undefined : `>${String(bridgedTo ?? "root")}`, toolUseId]
  const what = name.filter((part) => part !== undefined).join(toolUseId === undefined ? "" : "/")
  const rest = [uuids, lines, text, count, expected === undefined ? undefined : `${String(expected)}≠${String(found)}`]
  return [finding.kind, what, ...rest.filter((part) => part !== undefined).map(String)]
    .filter((part) => part !== "")
    .join(" ")
}

export const findings = (picture: string, options: Options = {}): string => tell(recover(picture, options).findings)

/** For each finding, the entry that stands exactly where it points: `missing-parent@u2`. */
export const places = (found: ReadonlyArray<Finding.Finding>, entries: ReadonlyArray<Line.Located>): string =>
  found
    .map((finding) => {
      const place = entries.find(
        ({ at }) => at.line === finding.line && at.byteStart === finding.byteStart && at.byteEnd === finding.byteEnd
      )
      return `${finding.kind}@${place === undefined ? "nowhere" : ((place.entry as Entry.Message).uuid ?? "line")}`
    })
    .join(" ")

/** What became of the rest: `removed u2,a2; archived 3; a3<u1 ×2` (leaf, fork point, length). */
export const rest = (picture: string, options: Options = {}): string => {
  const { archived, branches, removed, sidechains } = recover(picture, options)
  return [
    ...(removed.length === 0 ? [] : [`removed ${removed.join(",")}`]),
    ...(archived === 0 ? [] : [`archived ${archived}`]),
    ...branches.map(branch),
    ...sidechains.map(({ agentId, entries, root }) => `side ${agentId ?? root} ×${entries}`)
  ].join("; ")
}

export const branch = ({ entries, forkPoint, leaf }: Branches.Branch): string =>
  `${leaf}<${forkPoint ?? "root"} ×${entries}`

export const model = (picture: string, options: Options = {}): ModelMessages.ModelView =>
  ModelMessages.make(recover(picture, options), options)

/** What would be sent. */
export const view = (picture: string, options: Options = {}): string => sent(model(picture, options))

export const sent = ({ messages }: ModelMessages.ModelView): string =>
  messages.map(({ parts, role }) => `${role[0]}[${parts.map(({ block }) => part(block)).join(" ")}]`).join(" ")

const part = (block: Content.Block): string => {
  if (Content.isToolUse(block)) return `use:${block.id}`
  if (Content.isToolResult(block)) return `res:${block.tool_use_id}${block.is_error === true ? ":error" : ""}`
  if (!Content.isText(block)) return block.type
  return /\[(\w+)\]/.exec(block.text)?.[1] ?? JSON.stringify(block.text)
}

/** What would not be sent, and why: `s1:system`. */
export const omitted = (picture: string, options: Options = {}): string =>
  model(picture, options)
    .omitted.map(({ uuid, why }) => `${uuid}:${why}`)
    .join(" ")

/** How the last turn ended, `interrupted-turn rA`, by the view under the same options. */
export const ended = (picture: string, options: Options = {}): string => {
  const judged = Interruption.judge(recover(picture, options).conversation, model(picture, options))
  return judged.kind === "none" ? "none" : `${judged.kind} ${judged.uuid}`
}

/** The graph of a log before any rule. */
export const written = (picture: string, options: Options = {}): SessionGraph.SessionGraph =>
  SessionGraph.make(
    Projection.fold(Lanes.projection(options.lane ?? "main", options.leaf ?? "last-prompt"), log(picture, options))
      .written
  )

/** The graph as a picture: `?` missing, `~` another lane, `@` a loop of links, `#0` the first link. */
export const links = ({ nodes, parent, removed }: SessionGraph.SessionGraph): string => {
  const above = (to: number): string =>
    to >= nodes.length
      ? `#${to - nodes.length}`
      : (nodes.get(to)?.uuid ?? { [-2]: "?", [-3]: "~", [-4]: "@" }[to] ?? "")
  return [...nodes]
    .filter(({ index }) => !removed.has(index))
    .map(({ index, uuid }) => (parent[index] === SessionGraph.ROOT ? uuid : `${above(parent[index]!)}-${uuid}`))
    .join(" ")
}

/** The chain to a message as indices, and back. */
export const pathTo = (graph: SessionGraph.SessionGraph, uuid: string): ReadonlyArray<number> =>
  SessionGraph.pathTo(graph, graph.byId.get(uuid)!)

export const names = (graph: SessionGraph.SessionGraph, chain: ReadonlyArray<number>): string =>
  Notation.show(chain.map((index) => graph.nodes.get(index)!))

/** The answer of what must end: where it has none after two seconds it is stopped, and the test fails. */
export const inTime = <A>(question: () => A): A => {
  Object.assign(globalThis, { question })
  return vm.runInThisContext("question()", { timeout: 2000 }) as A
}
