/**
 * Explanation: what became of every message of a log, and why: the recovered file, its repair as it was watched, and
 * the place of each message in the end.
 *
 *   messages = conversation + archived + removed + branches          each message stands in one place
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Finding from "@reprise/domain/Finding"
import * as Conversation from "@reprise/recovery/Conversation"
import type { Why } from "@reprise/recovery/ModelMessages"
import type { Node } from "@reprise/recovery/SessionGraph"
import type { Resumed } from "./ResumeJson.ts"
import * as Trace from "./Trace.ts"

/**
 * Where a message stands in the end; `index` counts the conversation from 0. A branch is named by its leaf.
 *
 * @category models
 * @since 0.1.0
 */
export type Place =
  | { readonly in: "conversation"; readonly index: number }
  | { readonly in: "archived"; readonly by: string }
  | { readonly in: "removed"; readonly by: string }
  | { readonly in: "branch"; readonly leaf: string; readonly forkPoint: string | null }

/**
 * What the model is sent of a message: the messages, counted from 0, that it stands in, or why it is left out. Nothing
 * for what is not in the conversation.
 *
 * @category models
 * @since 0.1.0
 */
export type Sent =
  | { readonly messages: ReadonlyArray<{ readonly index: number; readonly role: "user" | "assistant" }> }
  | { readonly why: Why }

/**
 * A recovered file with its reasons. `lines` are findings of the bytes and entries, `state` those of what stands beside
 * the conversation; those of a step stand with it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Explanation {
  readonly resumed: Resumed
  readonly trace: Trace.Trace
  readonly lines: ReadonlyArray<Finding.Finding>
  readonly state: ReadonlyArray<Finding.Finding>
  /** Why the conversation ends where it does, in sentences. */
  readonly leaf: ReadonlyArray<string>
  readonly placeOf: (node: Node) => Place
  readonly sentOf: (node: Node) => Sent | undefined
}

/**
 * Explains a recovered file by its watched repair.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (resumed: Resumed, trace: Trace.Trace): Explanation => {
  const repairs = new Set(trace.repaired.findings)
  const read = new Set(trace.written.findings)
  const beside = resumed.state.findings.filter((finding) => !repairs.has(finding))
  return {
    resumed,
    trace,
    lines: [...beside.filter(({ kind }) => !isOfState.has(kind)), ...read],
    state: beside.filter(({ kind }) => isOfState.has(kind)),
    leaf: whyLeaf(trace),
    placeOf: places(resumed, trace),
    sentOf: sent(resumed)
  }
}

const isOfState: ReadonlySet<Finding.Kind> = new Set<Finding.Kind>(["pending-prompt", "drift"])

/** Why the leaf is the leaf. */
const whyLeaf = ({ leaf, repaired: { graph }, walked }: Trace.Trace): ReadonlyArray<string> => {
  const end = graph.nodes.get(leaf.node)
  if (end === undefined) return ["Nothing was said, so there is no leaf."]
  const found = leaf.findings.map(Finding.explain)
  const newest = Conversation.leafOf({ ...graph, policy: "newest" }).node
  const { lastPrompt } = graph
  if (leaf.node !== newest && lastPrompt !== undefined) {
    const named = `The last prompt on line ${lastPrompt.at.line} names it, and no message was written elsewhere after that.`
    return [named, `Without it the leaf would be ${graph.nodes.get(newest)?.uuid ?? "none"}.`, ...found]
  }
  const last = graph.nodes.get(walked.reduce((most, node) => Math.max(most, node), -1))!
  const isLast =
    last.index === end.index
      ? "It is the last line on or above which something was said."
      : `${last.uuid} on line ${last.at.line} is the last line on or above which something was said; below it, this is the newest message, and stands earlier in the file.`
  const passed = graph.nodes.length - 1 - last.index
  const skipped = `Of ${passed === 1 ? "1 message" : `${passed} messages`} behind it none is a leaf: removed, nothing said, or a late result.`
  const agrees =
    lastPrompt !== undefined && found.length === 0
      ? [`The last prompt on line ${lastPrompt.at.line} names ${lastPrompt.leafUuid}, which the conversation passes.`]
      : []
  return [isLast, ...(passed === 0 ? [] : [skipped]), ...agrees, ...found]
}

const places = ({ state }: Resumed, { repaired: { chain, graph } }: Trace.Trace): ((node: Node) => Place) => {
  const onChain = new Map(chain.map((node, index) => [node, index]))
  const onBranch = new Map<number, Place>()
  for (const { entries, forkPoint, leaf } of state.branches) {
    const place: Place = { in: "branch", leaf, forkPoint }
    let at = graph.byId.get(leaf) ?? -1
    for (let left = entries; left > 0 && at >= 0; left--) {
      onBranch.set(at, place)
      at = graph.parent[at]!
    }
  }
  const snips = new Map<string, string>()
  for (const { entry, uuid } of graph.nodes)
    for (const id of Boundary.removed(entry) ?? []) if (!snips.has(id)) snips.set(id, uuid)
  const archived: Place = { in: "archived", by: state.conversation[0]?.uuid ?? "" }
  return ({ index, uuid }) => {
    const place = onChain.get(index)
    if (place !== undefined) return { in: "conversation", index: place }
    if (graph.removed.has(index)) return { in: "removed", by: snips.get(uuid) ?? "" }
    return onBranch.get(index) ?? archived
  }
}

const sent = ({ view }: Resumed): ((node: Node) => Sent | undefined) => {
  const messages = new Map<string, Array<{ readonly index: number; readonly role: "user" | "assistant" }>>()
  view.messages.forEach(({ role, uuids }, index) => {
    for (const uuid of uuids) {
      const known = messages.get(uuid)
      if (known === undefined) messages.set(uuid, [{ index, role }])
      else known.push({ index, role })
    }
  })
  const omitted = new Map(view.omitted.map(({ uuid, why }) => [uuid, why]))
  return ({ uuid }) => {
    const stands = messages.get(uuid)
    if (stands !== undefined) return { messages: stands }
    const why = omitted.get(uuid)
    return why === undefined ? undefined : { why }
  }
}

/**
 * All steps in their order, those on the graph before those on the conversation.
 *
 * @category getters
 * @since 0.1.0
 */
export const steps = ({ trace }: Explanation): ReadonlyArray<Trace.Step> => [...trace.graph, ...trace.chain]

/**
 * Every finding with where it was made: the lines, a step, the leaf, the state or the model view.
 *
 * @category getters
 * @since 0.1.0
 */
export const findings = (
  explanation: Explanation
): ReadonlyArray<{ readonly step: string; readonly findings: ReadonlyArray<Finding.Finding> }> => [
  { step: "Lines", findings: explanation.lines },
  ...explanation.trace.graph.map(({ findings, name }) => ({ step: name, findings })),
  { step: "Leaf", findings: explanation.trace.leaf.findings },
  ...explanation.trace.chain.map(({ findings, name }) => ({ step: name, findings })),
  { step: "State", findings: explanation.state },
  { step: "Model", findings: explanation.resumed.view.findings }
]

/**
 * Whether a change touches a message: it is its own, or it leads away from it or to it.
 *
 * @category guards
 * @since 0.1.0
 */
export const touches = ({ from, to, uuid: own }: Trace.Change, uuid: string): boolean =>
  own === uuid ||
  [from, to].some((stand) => ("uuid" in stand && stand.uuid === uuid) || ("by" in stand && stand.by === uuid))

/**
 * Whether a finding names a message, in whatever part.
 *
 * @category guards
 * @since 0.1.0
 */
export const names = (finding: Finding.Finding, uuid: string): boolean =>
  Trace.touched(finding).includes(uuid) ||
  ("parent" in finding && finding.parent === uuid) ||
  ("bridgedTo" in finding && finding.bridgedTo === uuid) ||
  ("anchor" in finding && finding.anchor === uuid)
