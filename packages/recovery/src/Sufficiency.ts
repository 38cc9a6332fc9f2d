/**
 * Sufficiency: whether a log that was read from a boundary on, or from the first message that the boundary keeps, gives
 * the conversation of the whole log.
 *
 *   │ …  u1 ─ a1 ─ u2 │ B ─ S ─ u3 ─ a3         sufficient: all that counts hangs on B
 *   │ …  u1 ─ a1      │ B ─ S    a1 ─ u3        whole: u3 hangs on what was not read
 *   │ …  u1 ─ a1      │ B                       earlier: nothing was said behind B, so it does not count
 *
 * Recovery goes through its steps on the part that was read. This is a look at whether any of them could have gone
 * another way: whether a link, a leaf, a snip or a round could have led to what was not read. Where that cannot be
 * excluded, the whole log is read; so a wrong answer is never the price of speed.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Suffix from "@reprise/domain/Suffix"
import * as Iterable from "effect/Iterable"
import * as Conversation from "./Conversation.ts"
import type { Repaired } from "./Repair.ts"
import * as Round from "./Round.ts"
import type { SessionGraph } from "./SessionGraph.ts"

/**
 * Judges a repair by the graph as it was written and what became of it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const judge = (written: SessionGraph, { chain, graph }: Repaired): Suffix.Verdict => {
  const first = graph.systems.find((node) => Boundary.isCompact(graph.nodes.get(node)!.entry))
  if (first === undefined) return Suffix.whole("there is no boundary")
  const loose = looseLink(written, graph, graph.compaction?.boundary ?? first)
  if (loose !== undefined) return Suffix.whole(loose)
  if (typeof graph.policy === "object" && !graph.byId.has(graph.policy.uuid)) {
    return Suffix.whole(`the leaf ${graph.policy.uuid} that is asked for was not read`)
  }
  const { compaction } = graph
  if (compaction === undefined || chain[0] !== compaction.boundary) {
    return Suffix.earlier("the conversation does not start at the boundary")
  }
  const { uuid } = graph.nodes.get(compaction.boundary)!
  if (!isSaidBehind(written, graph, compaction.boundary)) return Suffix.earlier(`nothing was said behind ${uuid}`)
  const isLast =
    graph.systems.findLast((node) => Boundary.isCompact(graph.nodes.get(node)!.entry)) === compaction.boundary
  const misses = graph.findings.some((finding) => finding.kind === "preserved-missing" && finding.uuid === uuid)
  // What the last boundary keeps has been looked for in the whole log, what others keep has not.
  if (misses && !isLast) return Suffix.earlier(`the messages that ${uuid} keeps were not read`)
  const why =
    recordLeadsOut(graph, compaction.boundary) ??
    passedOver(graph, compaction.boundary) ??
    snipLeadsOut(graph) ??
    leafLeadsOut(graph, compaction) ??
    roundLeadsOut(graph, compaction.boundary)
  return why === undefined ? Suffix.sufficient : Suffix.whole(why)
}

/** Whether something was said that hangs on the boundary as it was written; kept messages may hang on it by their time. */
const isSaidBehind = ({ nodes, parent }: SessionGraph, { removed }: SessionGraph, boundary: number): boolean =>
  Iterable.some(nodes, ({ entry, index }) => {
    if (index <= boundary || removed.has(index) || (entry.type !== "user" && entry.type !== "assistant")) return false
    let at = index
    while (at > boundary && at < nodes.length) at = parent[at]!
    return at === boundary
  })

/** A message behind the boundary whose link does not lead to what was read, or is one that the prefix may change. */
const looseLink = (written: SessionGraph, { bridged, nodes }: SessionGraph, start: number): string | undefined => {
  for (const node of bridged) if (node >= start) return `${nodes.get(node)!.uuid} hangs on what was not read`
  for (let node = start; node < nodes.length; node++) {
    const link = written.parent[node]! - nodes.length
    if (link >= 0 && written.linkSeqs[link]! > nodes.get(node)!.seq) {
      return `${nodes.get(node)!.uuid} hangs on a link that was written later`
    }
  }
  return undefined
}

/** The kept messages, or the anchor, of the boundary that counts are not all there. */
const recordLeadsOut = (graph: SessionGraph, boundary: number): string | undefined => {
  const { uuid } = graph.nodes.get(boundary)!
  const broken = graph.findings.find(
    (finding) => (finding.kind === "preserved-broken" || finding.kind === "anchor-missing") && finding.uuid === uuid
  )
  if (broken !== undefined) return `the messages that ${uuid} keeps were not read`
  const record = Boundary.preserved(graph.nodes.get(boundary)!.entry)
  if (record === undefined) return undefined
  const anchor = graph.byId.get(record.anchor)
  if (anchor !== undefined && anchor < boundary) return `the anchor of ${uuid} stands before it`
  const walked = record.kind === "segment" ? (graph.compaction?.kept ?? []).slice(1) : []
  return walked.some((node) => graph.bridged.has(node)) ? `the segment that ${uuid} keeps was not all read` : undefined
}

/** A later boundary that the conversation passes over: whether it prunes may hang on a record before the suffix. */
const passedOver = ({ findings, nodes, systems }: SessionGraph, counted: number): string | undefined => {
  const unfinished = new Set(findings.flatMap((one) => (one.kind === "boundary-unfinished" ? [one.uuid] : [])))
  const boundaries = systems.filter((node) => Boundary.isCompact(nodes.get(node)!.entry))
  const firstRecord = boundaries.find((node) => Boundary.preserved(nodes.get(node)!.entry) !== undefined) ?? Infinity
  const unclear = boundaries.find(
    (node) => node > counted && node < firstRecord && !unfinished.has(nodes.get(node)!.uuid)
  )
  return unclear === undefined ? undefined : `boundary ${nodes.get(unclear)!.uuid} is passed over`
}

/** A snip that names what was not read. */
const snipLeadsOut = ({ findings }: SessionGraph): string | undefined => {
  const snip = findings.find((finding) => finding.kind === "snip-unknown-id")
  return snip === undefined ? undefined : "a snip names what was not read"
}

/** A `last-prompt` that names what was not read, unless that cannot be the leaf any more. */
const leafLeadsOut = (graph: SessionGraph, { prunes }: { readonly prunes: boolean }): string | undefined => {
  const { lastPrompt, policy } = graph
  if (policy !== "last-prompt" || lastPrompt === undefined || graph.byId.has(lastPrompt.leafUuid) || prunes) return
  const newest = graph.nodes.get(Conversation.leafOf(graph).node)
  return newest !== undefined && newest.seq > lastPrompt.seq ? undefined : "the last prompt names what was not read"
}

/**
 * A tool result at the end: whether it came late is told by its reply, which the prefix may know more of when it is a
 * kept one, when the call is not there, or when its id is not its own.
 */
const roundLeadsOut = (graph: SessionGraph, boundary: number): string | undefined => {
  const { lastPrompt, nodes, policy } = graph
  const asksAll = policy === "last-prompt" && lastPrompt !== undefined
  const from = asksAll ? boundary : Conversation.leafOf(graph).node
  const results = [...nodes].slice(Math.max(from, boundary)).filter(({ answers }) => answers.length > 0)
  if (results.length === 0) return undefined
  const callers = new Map<string, number>()
  for (const { calls, index } of nodes) for (const call of calls) callers.set(call, index)
  const isOpen = results.some(({ answers }) => answers.some((call) => (callers.get(call) ?? -1) < boundary))
  if (isOpen) return "a tool result answers what was not read"
  return sharesIds(graph, boundary) ? "replies share their ids" : undefined
}

/** Whether one `message.id` stands on both sides of a prompt, as where a gateway gives every reply the same. */
const sharesIds = ({ nodes }: SessionGraph, boundary: number): boolean => {
  const turns = new Map<string, number>()
  let turn = 0
  for (const node of [...nodes].slice(boundary)) {
    if (Round.isPrompt(node)) turn++
    if (node.reply === undefined) continue
    const known = turns.get(node.reply)
    if (known !== undefined && known !== turn) return true
    turns.set(node.reply, turn)
  }
  return false
}
