/**
 * ExplainJson: what `reprise explain --json` prints: one object to a line, each with its `record`. A function of the
 * bytes read. Nothing is cut.
 *
 *   file · finding … (of the lines) · step · change … · finding … · … · leaf · … · message … · branch … · sidechain … · sum
 *
 * Findings stand once each, with the step that made them. For one message: those records that touch it, and its own.
 */
import * as Finding from "@reprise/domain/Finding"
import type { Nodes } from "@reprise/recovery/Nodes"
import type { Node } from "@reprise/recovery/SessionGraph"
import type * as Explanation from "./Explanation.ts"
import * as ExplainMessage from "./ExplainMessage.ts"
import * as Phrase from "./Phrase.ts"
import * as Trace from "./Trace.ts"
import * as Style from "./Style.ts"

/**
 * The lines of an explained file, or what they say of one subject.
 *
 * @category encoding
 * @since 0.1.0
 */
export function* encode(
  explanation: Explanation.Explanation,
  subject?: ExplainMessage.Subject
): Generator<string, void, void> {
  for (const record of records(explanation, subject)) yield Style.json(record)
}

function* records(explanation: Explanation.Explanation, subject: ExplainMessage.Subject | undefined) {
  const { resumed, trace } = explanation
  const { nodes } = trace.repaired.graph
  yield {
    record: "file",
    file: resumed.file,
    sessionId: resumed.sessionId,
    messages: resumed.state.messages,
    links: resumed.progress,
    sidechains: resumed.state.sidechains.length,
    lines: resumed.state.extent.lines
  }
  if (subject !== undefined && subject.node === undefined)
    yield { record: "id", uuid: subject.uuid, occurrences: subject.occurrences }
  yield* found("Lines", explanation.lines, subject)
  for (const step of trace.graph) yield* ofStep(step, nodes, subject)
  const end = nodes.get(trace.leaf.node)
  if (subject === undefined || (end !== undefined && end.uuid === subject.uuid))
    yield { record: "leaf", uuid: end?.uuid ?? null, line: end?.at.line ?? null, why: explanation.leaf }
  yield* found("Leaf", trace.leaf.findings, subject)
  if (subject === undefined) yield { record: "walk", messages: trace.walked.length }
  for (const step of trace.chain) yield* ofStep(step, nodes, subject)
  yield* found("State", explanation.state, subject)
  yield* found("Model", resumed.view.findings, subject)
  for (const node of nodes) {
    if (subject === undefined || node.uuid === subject.uuid) yield message(explanation, node)
  }
  if (subject === undefined) yield* totals(explanation)
}

function* found(step: string, findings: ReadonlyArray<Finding.Finding>, subject: ExplainMessage.Subject | undefined) {
  for (const finding of findings) {
    if (subject !== undefined && !ExplainMessage.isAbout(subject, { finding })) continue
    yield { record: "finding", step, ...finding, explanation: Finding.explain(finding) }
  }
}

function* ofStep(
  { changes, compaction, findings, name: step }: Trace.Step,
  nodes: Nodes,
  subject: ExplainMessage.Subject | undefined
) {
  if (subject === undefined) {
    const idOf = (node: number): string => nodes.get(node)!.uuid
    const counts = { changes: changes.length, findings: findings.length }
    yield {
      record: "step",
      step,
      ...counts,
      ...(compaction && { boundary: idOf(compaction.boundary), kept: compaction.kept.map(idOf) })
    }
  }
  for (const change of changes) {
    if (subject !== undefined && !ExplainMessage.isAbout(subject, { change })) continue
    yield { record: "change", step, ...change }
  }
  yield* found(step, findings, subject)
}

const message = ({ placeOf, sentOf, trace }: Explanation.Explanation, node: Node) => ({
  record: "message",
  uuid: node.uuid,
  line: node.at.line,
  type: node.entry.type,
  written: Trace.hangs(trace.written, node.index),
  hangs: Trace.hangs(trace.repaired.graph, node.index),
  place: placeOf(node),
  model: sentOf(node) ?? null
})

function* totals({ resumed: { state } }: Explanation.Explanation) {
  for (const branch of state.branches) yield { record: "branch", ...branch }
  for (const sidechain of state.sidechains) yield { record: "sidechain", ...sidechain }
  yield { record: "sum", ...Phrase.countsOf(state) }
}
