/**
 * ExplainText: what a repair did to a log, and why, for people.
 *
 *   title · session · what became of every message
 *   the steps in their order: line, message, before → after, and the reason below
 *   in the end: the conversation, what is archived and removed, the branches
 *   what the model is sent · what else was found
 *
 * 1. What was found is not cut to the width of the terminal. Long lists are: to their first members, with a count.
 * 2. Changes that follow one another for the same reason share it.
 */
import type { Node } from "@reprise/recovery/SessionGraph"
import type * as Explanation from "./Explanation.ts"
import * as Look from "./Look.ts"
import * as Phrase from "./Phrase.ts"
import * as ResumeText from "./ResumeText.ts"
import * as Style from "./Style.ts"
import * as Trace from "./Trace.ts"

/**
 * An explained file, without a line feed at the end.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (explanation: Explanation.Explanation, look: Look.Look): string =>
  [head, repair, end, model, beside]
    .map((section) => section(explanation, look))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")

type Section = (explanation: Explanation.Explanation, look: Look.Look) => ReadonlyArray<string>

const head: Section = ({ resumed }, { style }) => ResumeText.header(resumed, style)

/** What each step is about. */
const about: { readonly [step: string]: string } = {
  Progress: "links through what is no message",
  Reparent: "broken links",
  Relink: "what a compaction keeps",
  Snip: "what was taken out",
  Compact: "the conversation starts at its last boundary",
  ToolResults: "parallel tool calls"
}

const repair: Section = (explanation, look) => {
  const { lines: damage, resumed, trace } = explanation
  const { id, limits, style } = look
  const { messages, sidechains } = resumed.state
  const written = [
    Phrase.times(messages, "message"),
    ...(resumed.progress > 0
      ? [Phrase.times(resumed.progress, "legacy progress entry", "legacy progress entries")]
      : []),
    ...(sidechains.length > 0 ? [`${Phrase.times(sidechains.length, "sidechain")} set aside`] : [])
  ]
  const found = Phrase.first(damage, limits.changes)
  const end = trace.repaired.graph.nodes.get(trace.leaf.node)
  return [
    Look.heading(style, "As written", written.join(", ")),
    ...Phrase.findings(style, found.shown, id),
    ...Look.more(found.more),
    ...trace.graph.flatMap((step) => ofStep(step, explanation, look)),
    Look.heading(style, "Leaf", end === undefined ? "none" : `${id(end.uuid)} on line ${end.at.line}`),
    ...explanation.leaf.map((sentence) => `  ${id(sentence)}`),
    Look.heading(style, "Walk", `${Phrase.times(trace.walked.length, "message")} from the root to the leaf`),
    ...trace.chain.flatMap((step) => ofStep(step, explanation, look))
  ]
}

const ofStep = (step: Trace.Step, explanation: Explanation.Explanation, look: Look.Look): ReadonlyArray<string> => {
  const { changes, compaction, findings, name } = step
  const said = changes.length === 0 && compaction === undefined && findings.length === 0
  const what = about[name] === undefined ? "" : `: ${about[name]}`
  const count = `${Phrase.times(changes.length, "message")}${what}`
  const { more: hidden, shown } = Phrase.first(changes, look.limits.changes)
  return [
    Look.heading(look.style, name, said ? "nothing to do" : count),
    ...(compaction === undefined ? [] : counted(compaction, explanation, look)),
    ...Look.changed(shown, look),
    ...Look.more(hidden),
    ...unsaid(step, look)
  ]
}

/** The boundary that counts, and what it keeps. */
const counted = (
  { boundary, kept }: NonNullable<Trace.Step["compaction"]>,
  { trace }: Explanation.Explanation,
  look: Look.Look
): ReadonlyArray<string> => {
  const { nodes } = trace.repaired.graph
  const { at, uuid } = nodes.get(boundary)!
  const text = `  Boundary ${look.id(uuid)} on line ${at.line} counts; it keeps `
  if (kept.length === 0) return [`${text}nothing.`]
  return [
    `${text}${kept.length}:`,
    ...Look.list(
      kept.map((node) => nodes.get(node)!.uuid),
      look,
      "    "
    )
  ]
}

/** Findings of a step that are said of no change. */
const unsaid = ({ changes, findings }: Trace.Step, { id, limits, style }: Look.Look): ReadonlyArray<string> => {
  const changed = new Set(changes.map(({ uuid }) => uuid))
  const left = findings.filter((finding) => !Trace.touched(finding).some((uuid) => changed.has(uuid)))
  const { more: hidden, shown } = Phrase.first(left, limits.changes)
  return [...Phrase.findings(style, shown, id), ...Look.more(hidden)]
}

const end: Section = (explanation, look) => {
  const { placeOf, resumed, trace } = explanation
  const { branches, conversation, sidechains } = resumed.state
  const { id, limits, style } = look
  const gone = { archived: new Array<string>(), removed: new Array<string>() }
  for (const node of trace.repaired.graph.nodes) {
    const place = placeOf(node)
    if (place.in === "archived" || place.in === "removed") gone[place.in].push(node.uuid)
  }
  const one = (node: Node): string => `${id(node.uuid)} on line ${node.at.line}`
  const root = conversation[0]
  const listed = Phrase.first(branches, limits.changes)
  const of = (title: string, text: string, ids: ReadonlyArray<string>): ReadonlyArray<string> =>
    ids.length === 0 ? [] : [Look.heading(style, title, text), ...Look.list(ids, look, "  ")]
  return [
    ...(root === undefined
      ? [Look.heading(style, "Conversation", "none")]
      : of(
          "Conversation",
          `${Phrase.times(conversation.length, "message")}, from ${one(root)} to ${one(conversation.at(-1)!)}`,
          conversation.map(({ uuid }) => uuid)
        )),
    ...of(
      "Archived",
      `${Phrase.times(gone.archived.length, "message")} before the boundary ${root === undefined ? "" : one(root)}`,
      gone.archived
    ),
    ...of("Removed", `${Phrase.times(gone.removed.length, "message")} by a snip`, gone.removed),
    ...listed.shown.map(({ entries, forkPoint, leaf }) => {
      const start = forkPoint === null ? "with a root of its own" : `that left at ${id(forkPoint)}`
      return Look.heading(style, "Branch", `${Phrase.times(entries, "message")} up to ${id(leaf)}, ${start}`)
    }),
    ...Look.more(listed.more),
    ...sidechains.map(({ agentId, entries, root }) => {
      const whose = agentId === null ? "no named agent" : `agent ${Style.clean(agentId)}`
      return Look.heading(
        style,
        "Sidechain",
        `${Phrase.times(entries, "entry", "entries")} of ${whose}, from ${id(root)}`
      )
    })
  ]
}

const model: Section = ({ resumed }, look) => {
  const { state, view } = resumed
  if (state.conversation.length === 0) return []
  const reasons = new Map<string, Array<string>>()
  for (const { uuid, why } of view.omitted) {
    const known = reasons.get(why)
    if (known === undefined) reasons.set(why, [uuid])
    else known.push(uuid)
  }
  const entries = Phrase.times(state.conversation.length - view.omitted.length, "entry", "entries")
  return [
    Look.heading(look.style, "Model", `${Phrase.times(view.messages.length, "message")} from ${entries}`),
    ...Array.from(reasons).flatMap(([why, ids]) => [
      `  left out: ${Phrase.times(ids.length, "entry", "entries")}, ${why}`,
      ...Look.list(ids, look, "    ")
    ])
  ]
}

const beside: Section = (explanation, look) => {
  const { id, limits, style } = look
  const { more: hidden, shown } = Phrase.first(
    [...explanation.state, ...explanation.resumed.view.findings],
    limits.changes
  )
  if (shown.length === 0) return []
  return [style.paint("title", "Also found"), ...Phrase.findings(style, shown, id), ...Look.more(hidden)]
}
