/**
 * ExplainMessage: everything that touched one message: the steps that moved it, or another because of it; its place in
 * the end; what the model is sent of it.
 *
 *   u3           user on line 12: And now?
 *   Written      hangs on x9 (in no line)
 *   Reparent     line 12  u3  x9 (in no line) → a2
 *   Place        3 of 9 in the conversation, behind a2, before a3
 *   Model        in message 3 of 7 (user)
 *
 * An id need not be a message: what a link led to, what stands in a sidechain, and what is in no line is explained too.
 */
import * as Finding from "@reprise/domain/Finding"
import type { Located } from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import type { Node } from "@reprise/recovery/SessionGraph"
import * as Explanation from "./Explanation.ts"
import * as Look from "./Look.ts"
import * as Phrase from "./Phrase.ts"
import * as Said from "./Said.ts"
import * as Style from "./Style.ts"
import * as Trace from "./Trace.ts"

/**
 * A line on which an entry with the id stands.
 *
 * @category models
 * @since 0.1.0
 */
export interface Occurrence {
  readonly uuid: string
  readonly line: number
  readonly type: string
  /** The agent of a sidechain's entry, `""` where none is named. */
  readonly agentId?: string
}

/**
 * What an id names: a message of the lane, or only lines and links.
 *
 * @category models
 * @since 0.1.0
 */
export interface Subject {
  readonly uuid: string
  readonly node: Node | undefined
  readonly occurrences: ReadonlyArray<Occurrence>
}

/**
 * Gathers the lines whose entries have an id that begins so.
 *
 * @category projections
 * @since 0.1.0
 */
export const occurrences = (prefix: string): Projection.Projection<Located, ReadonlyArray<Occurrence>> =>
  Projection.make({
    initial: (): Array<Occurrence> => [],
    evolve: (found, { at, entry }: Located) => {
      const { agentId, isSidechain, type, uuid } = entry as { readonly [key: string]: unknown }
      if (typeof uuid !== "string" || typeof type !== "string" || !uuid.startsWith(prefix)) return found
      const agent = isSidechain === true ? { agentId: typeof agentId === "string" ? agentId : "" } : undefined
      found.push({ uuid, line: at.line, type, ...agent })
      return found
    },
    extract: (found) => [...found]
  })

/**
 * The ids that begin so: of messages, of other lines, and of what links lead to; one alone where it is the whole id.
 *
 * @category combinators
 * @since 0.1.0
 */
export const candidates = (
  explanation: Explanation.Explanation,
  found: ReadonlyArray<Occurrence>,
  prefix: string
): ReadonlyArray<string> => {
  const ids = new Set<string>()
  const consider = (uuid: string): void => {
    if (uuid.startsWith(prefix)) ids.add(uuid)
  }
  for (const { uuid } of explanation.trace.written.nodes) consider(uuid)
  for (const { uuid } of found) consider(uuid)
  for (const { changes } of Explanation.steps(explanation))
    for (const { from } of changes) if ("uuid" in from) consider(from.uuid)
  return ids.has(prefix) ? [prefix] : [...ids]
}

/**
 * What an id names.
 *
 * @category constructors
 * @since 0.1.0
 */
export const subject = (
  { trace }: Explanation.Explanation,
  found: ReadonlyArray<Occurrence>,
  uuid: string
): Subject => ({
  uuid,
  node: trace.written.nodes.get(trace.written.byId.get(uuid) ?? -1),
  occurrences: found.filter((occurrence) => occurrence.uuid === uuid)
})

/**
 * Whether something in the explanation speaks of the subject.
 *
 * @category guards
 * @since 0.1.0
 */
export const isAbout = (
  { uuid }: Subject,
  told: { readonly change: Trace.Change } | { readonly finding: Finding.Finding }
): boolean => ("change" in told ? Explanation.touches(told.change, uuid) : Explanation.names(told.finding, uuid))

/**
 * The text about one subject, without a line feed at the end.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (explanation: Explanation.Explanation, subject: Subject, look: Look.Look): string =>
  [
    ...title(explanation, subject, look),
    ...touching(explanation, subject, look),
    ...(subject.node === undefined ? [] : inTheEnd(explanation, subject.node, look)),
    ...naming(explanation, subject, look)
  ].join("\n")

const title = (
  { resumed, trace }: Explanation.Explanation,
  { node, occurrences, uuid }: Subject,
  { id, style }: Look.Look
): ReadonlyArray<string> => {
  const name = style.paint("title", Style.clean(uuid))
  if (node !== undefined) {
    const { role, text } = Said.of(node.entry, Said.tools(resumed.state.conversation))
    const start = `${role} on line ${node.at.line}`
    const said = Style.cut(Phrase.oneLine(text), Math.max(20, style.columns - Style.width(uuid) - start.length - 4))
    const copies = occurrences.filter(({ line }) => line !== node.at.line).map(({ line }) => line)
    return [
      `${name}  ${start}${said === "" ? "" : `: ${said}`}`,
      Look.heading(style, "Written", `hangs on ${Look.stand(Trace.hangs(trace.written, node.index), uuid, id)}`),
      ...(copies.length === 0
        ? []
        : [
            Look.heading(
              style,
              "Copies",
              `on ${copies.length === 1 ? "line" : "lines"} ${copies.join(", ")}; the first stands`
            )
          ])
    ]
  }
  const first = occurrences[0]
  if (first === undefined) return [`${name}  in no line`]
  const lines = occurrences.map(({ line }) => line).join(", ")
  const where = `${Style.clean(first.type)} on ${occurrences.length === 1 ? "line" : "lines"} ${lines}`
  const { agentId } = first
  if (agentId === undefined) return [`${name}  ${where}: no message; what hangs on it is looked through to its parent`]
  const whose = agentId === "" ? "a sidechain" : `the sidechain of agent ${Style.clean(agentId)}`
  return [`${name}  ${where}: in ${whose}, which is set aside; --sidechain explains the log of one`]
}

const touching = (explanation: Explanation.Explanation, subject: Subject, look: Look.Look): ReadonlyArray<string> =>
  Explanation.steps(explanation).flatMap(({ changes, name }) => {
    const own = changes.filter((change) => isAbout(subject, { change }))
    if (own.length === 0) return []
    const { more, shown } = Phrase.first(own, look.limits.changes)
    const heading = Look.heading(look.style, name, Phrase.times(own.length, "change"))
    return [heading, ...Look.changed(shown, look), ...Look.more(more)]
  })

const inTheEnd = (
  { placeOf, resumed, sentOf, trace }: Explanation.Explanation,
  node: Node,
  { id, style }: Look.Look
): ReadonlyArray<string> => {
  const { conversation } = resumed.state
  const place = placeOf(node)
  const hangs = Look.stand(Trace.hangs(trace.repaired.graph, node.index), node.uuid, id)
  const sent = sentOf(node)
  const model =
    sent === undefined
      ? "not sent: not in the conversation"
      : "why" in sent
        ? `left out: ${sent.why}`
        : sent.messages
            .map(({ index, role }) => `in message ${index + 1} of ${resumed.view.messages.length} (${role})`)
            .join(", ")
  const isLeaf = trace.leaf.node === node.index ? [Look.heading(style, "Leaf", "the conversation ends here")] : []
  const rows = [
    Look.heading(style, "Hangs on", place.in === "removed" ? "nothing: it was removed" : hangs),
    ...isLeaf,
    Look.heading(style, "Place", inWords(place, conversation, id)),
    Look.heading(style, "Model", model)
  ]
  return rows
}

const inWords = (place: Explanation.Place, conversation: ReadonlyArray<Node>, id: Phrase.Short): string => {
  switch (place.in) {
    case "conversation": {
      const [before, after] = [conversation[place.index - 1], conversation[place.index + 1]]
      const beside = [
        ...(before === undefined ? [] : [`behind ${id(before.uuid)}`]),
        ...(after === undefined ? [] : [`before ${id(after.uuid)}`])
      ]
      return [`${place.index + 1} of ${conversation.length} in the conversation`, ...beside].join(", ")
    }
    case "archived":
      return `archived: before boundary ${id(place.by)}, and not kept`
    case "removed":
      return `removed by snip ${id(place.by)}`
    case "branch": {
      const start = place.forkPoint === null ? "with a root of its own" : `that left at ${id(place.forkPoint)}`
      return `on the branch up to ${id(place.leaf)}, ${start}`
    }
  }
}

/** What else is found of it: what the changes say already is not said again. */
const naming = (
  explanation: Explanation.Explanation,
  subject: Subject,
  { id, limits, style }: Look.Look
): ReadonlyArray<string> => {
  const moved = new Set(
    Explanation.steps(explanation).flatMap(({ changes }) =>
      changes.flatMap((change) => (isAbout(subject, { change }) ? change.why : []))
    )
  )
  const all = Explanation.findings(explanation).flatMap(({ findings }) => findings)
  const own = all.filter((finding) => isAbout(subject, { finding }) && !moved.has(Finding.explain(finding)))
  if (own.length === 0) return []
  const { more, shown } = Phrase.first(own, limits.changes)
  return [style.paint("title", "Also found"), ...Phrase.findings(style, shown, id), ...Look.more(more)]
}
