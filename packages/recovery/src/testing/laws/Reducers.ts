/**
 * Reducers: what is promised about each step of the repair (RECOVERY §2b–§7).
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import type * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as History from "@reprise/domain/testing/History"
import * as Conversation from "../../Conversation.ts"
import * as ModelMessages from "../../ModelMessages.ts"
import * as Compact from "../../reducers/Compact.ts"
import * as Progress from "../../reducers/Progress.ts"
import * as Relink from "../../reducers/Relink.ts"
import * as Reparent from "../../reducers/Reparent.ts"
import * as Snip from "../../reducers/Snip.ts"
import * as ToolResults from "../../reducers/ToolResults.ts"
import * as Repair from "../../Repair.ts"
import * as Round from "../../Round.ts"
import type { SessionGraph } from "../../SessionGraph.ts"
import * as Law from "../Law.ts"

/** The graph as it was written: what a repair is given. */
const writtenOf = (log: ReadonlyArray<Line.Located>, reader: Law.Reader): SessionGraph => {
  let written: SessionGraph | undefined
  reader(log, {
    repair: (graph) => {
      written = graph
      return Repair.repair(graph)
    }
  })
  return written!
}

const graphOf = ({ compaction, findings, nodes, parent, removed }: SessionGraph): string =>
  JSON.stringify([[...parent], [...removed].toSorted((a, b) => a - b), compaction, findings.length, nodes.length])

const graphReducers = { Progress, Reparent, Relink, Snip } as const
const chainReducers = { Compact, ToolResults } as const

const idempotent = Law.log("each reducer is idempotent and establishes its isReduced", ({ bytes }, reader) => {
  let graph = writtenOf(Law.read(bytes), reader)
  for (const [name, { isReduced, reduce }] of Object.entries(graphReducers)) {
    graph = reduce(graph)
    if (!isReduced(graph)) return `${name}: not reduced after reduce`
    const verdict = Law.same(`${name} twice`, graphOf(graph), graphOf(reduce(graph)))
    if (verdict !== true) return verdict
  }
  let chain = Conversation.chain(graph, Conversation.leafOf(graph).node)
  for (const [name, { isReduced, reduce }] of Object.entries(chainReducers)) {
    chain = reduce(graph, chain)
    if (!isReduced(graph, chain)) return `${name}: not reduced after reduce`
    const verdict = Law.same(`${name} twice`, chain.join(), reduce(graph, chain).join())
    if (verdict !== true) return verdict
  }
  return true
})

const unchanged = Law.log("a reducer leaves alone what is reduced", ({ bytes }, reader) => {
  let graph = writtenOf(Law.read(bytes), reader)
  for (const [name, { isReduced, reduce }] of Object.entries(graphReducers)) {
    const next = reduce(graph)
    if (isReduced(graph)) {
      const verdict = Law.same(`${name} on what is reduced`, [...graph.parent].join(), [...next.parent].join())
      if (verdict !== true) return verdict
    }
    graph = next
  }
  return true
})

/** Where no link is broken there is nothing for Reparent to do, wherever it stands behind Progress. */
const commuting = Law.history(
  "without broken links Reparent commutes with Relink and with Snip",
  ({ history }, reader) => {
    const written = writtenOf(History.log(history), reader)
    const after = (...order: ReadonlyArray<keyof typeof graphReducers>): string =>
      graphOf(order.reduce((graph, name) => graphReducers[name].reduce(graph), written))
    const expected = after("Progress", "Reparent", "Relink", "Snip")
    return Law.all(
      () => Law.same("behind Relink", expected, after("Progress", "Relink", "Reparent", "Snip")),
      () => Law.same("behind Snip", expected, after("Progress", "Relink", "Snip", "Reparent"))
    )
  }
)

const closed = Law.log(
  "a snip is closed: nothing hangs on what is removed, and none of it is shown",
  ({ bytes }, reader) => {
    const log = Law.read(bytes)
    const state = reader(log)
    const removed = new Set(state.removed)
    const shown = state.conversation.find(({ uuid }) => removed.has(uuid))
    if (shown !== undefined) return `${shown.uuid} is removed and shown`
    const graph = Object.values(graphReducers).reduce((graph, { reduce }) => reduce(graph), writtenOf(log, reader))
    const hanging = graph.nodes.find(
      ({ index }) => !graph.removed.has(index) && graph.removed.has(graph.parent[index]!)
    )
    return hanging === undefined ? true : `${hanging.uuid} hangs on what is removed`
  }
)

const appended = (history: History.History, entries: ReadonlyArray<object>): ReadonlyArray<Line.Located> =>
  Law.read([...history.lines, ...entries.map((entry) => JSON.stringify(entry))])

/** The steps that leave no last-prompt behind, which would outrank nothing here but say nothing either. */
const newest = { leaf: "newest" } as const

const twice = Law.history("snipping twice is snipping once", ({ history }, reader) => {
  const before = reader(History.log(history), newest)
  const leaf = before.conversation.at(-1)
  if (leaf === undefined || history.sees.removed.size === 0) return true
  const again = {
    ...Boundary.snip([...history.sees.removed]),
    uuid: "N0new",
    parentUuid: leaf.uuid,
    isSidechain: false
  }
  const after = reader(appended(history, [again]), newest)
  return Law.all(
    () => Law.same("removed", before.removed.toSorted().join(), after.removed.toSorted().join()),
    () =>
      Law.same("conversation", [...Law.idsOf(before), "N0new"].toSorted().join(), Law.idsOf(after).toSorted().join())
  )
})

const asked = Law.history("a snip takes out what it names, and nothing else", (given, reader) => {
  const { history } = given
  const before = reader(History.log(history), newest).conversation
  const leaf = before.at(-1)
  // The start of a context and what holds a branch are not taken out; and something has to stay that was said.
  const names = before.filter(
    ({ entry }, i) => ((given.dice[0]! >> (i % 16)) & 1) === 1 && !Boundary.isCompact(entry) && !Round.isRewind(entry)
  )
  const stay = before.filter((node) => !names.includes(node))
  if (leaf === undefined || !stay.some(({ entry }) => Round.isSpeech(entry))) return true
  const snip = { ...Boundary.snip(names.map(({ uuid }) => uuid)), uuid: "N0new", parentUuid: leaf.uuid }
  const after = reader(appended(history, [snip]), newest)
  const expected = [...stay.map(({ uuid }) => uuid), "N0new"]
  return Law.same("conversation", expected.toSorted().join(), Law.idsOf(after).toSorted().join())
})

/** What is found in logs of whole sessions: how they are written down, and nothing that is broken. */
const usual: ReadonlySet<string> = new Set([
  "torn-line",
  "repeated-id",
  "unknown-type",
  "parallel-recovered",
  "late-result",
  "boundary-unfinished",
  "boundary-off-chain",
  "last-prompt-outranked",
  "last-prompt-unknown",
  "snip-half-pair",
  "pending-prompt",
  "drift"
] satisfies ReadonlyArray<Finding.Kind>)

const quiet = Law.history(
  "a whole session needs no bridge, and misses nothing that a record names",
  ({ history }, reader) => {
    const odd = reader(History.log(history)).findings.find(({ kind }) => !usual.has(kind))
    return odd === undefined ? true : `${odd.kind}: ${Finding.explain(odd)}`
  }
)

/** Whether something was said on the way up from a message, as its links are written. */
const isSaidAbove = (log: ReadonlyArray<Line.Located>, uuid: string): boolean => {
  const messages = new Map(log.flatMap(({ entry }) => (Entry.isMessage(entry) ? [[entry.uuid, entry] as const] : [])))
  let at = messages.get(uuid)
  for (let steps = 0; at !== undefined && steps <= messages.size; steps++) {
    if (at.type === "user" || at.type === "assistant") return true
    at = messages.get(at.parentUuid ?? "")
  }
  return false
}

const local = Law.history("a compaction is local to its branch", (given, reader) => {
  const { history } = given
  const log = History.log(history)
  const before = reader(log, newest)
  const leaf = before.conversation.at(-1)
  // A marker chooses no branch where nothing was said.
  if (leaf === undefined || !isSaidAbove(log, leaf.uuid)) return true
  const ids = Law.idsOf(before).slice(0, -1)
  const kept = ids.slice(Law.choose(given, 0, ids.length + 1))
  const preserved = kept.length === 0 ? undefined : { anchor: "S0new", uuids: kept }
  const boundary = Boundary.compact({ trigger: "auto", preTokens: 1, logicalParentUuid: leaf.uuid, preserved })
  const after = reader(
    appended(history, [
      { ...boundary, uuid: "B0new", parentUuid: null },
      { ...Boundary.compactSummary("[summary]"), uuid: "S0new", parentUuid: "B0new" },
      { ...Message.user("[prompt]"), uuid: "u0new", parentUuid: "S0new" },
      { ...Message.informational("[rewind]"), uuid: "w0new", parentUuid: leaf.uuid }
    ]),
    newest
  )
  return Law.same("conversation", [...Law.idsOf(before), "w0new"].toSorted().join(), Law.idsOf(after).toSorted().join())
})

const cut = Law.history(
  "what stands before the boundary belongs to no round of the conversation",
  ({ history }, reader) => {
    const plain = History.make(history.steps.map((step) => (step._tag === "Compact" ? { ...step, kept: 0 } : step)))
    const part = (uuid: string, parentUuid: string | null, content: Content.Block) => ({
      ...Message.assistant({ id: "m0new", model: "model", content: [content] }),
      uuid,
      parentUuid
    })
    const boundary = Boundary.compact({ trigger: "auto", preTokens: 1, logicalParentUuid: "a0new" })
    const result = Message.toolResults([Content.toolResult({ tool_use_id: "c0new", content: "[late]" })])
    const state = reader(
      appended(plain, [
        part(
          "a0new",
          reader(History.log(plain)).conversation.at(-1)?.uuid ?? null,
          Content.toolUse({ id: "c0new", name: "Tool", input: {} })
        ),
        { ...boundary, uuid: "B0new", parentUuid: "a0new" },
        part("a1new", "B0new", Content.text("[text]")),
        { ...result, uuid: "r0new", parentUuid: "a0new" },
        { ...Message.user("[prompt]"), uuid: "u0new", parentUuid: "a1new" }
      ])
    )
    return Law.same("conversation", "B0new-a1new-u0new", Law.shown(state))
  }
)

const inOrder = Law.history(
  "after a boundary the chain is boundary, summary, kept in order, later",
  ({ history }, reader) => {
    const [first, ...rest] = Law.idsOf(reader(History.log(history)))
    const { live, sees } = history
    if (first === undefined || live.get(first).kind !== "boundary") return true
    const all = live.keptBy.get(first)
    if (all === undefined) return `${first} has no summary`
    const isKept = (id: string): boolean => all.has(id)
    const { place } = live.get(first)
    const head = rest.findIndex((id) => isKept(id) || !["attachment", "summary"].includes(live.get(id).kind))
    const behind = head < 0 ? [] : rest.slice(head)
    const later = behind.findIndex((id) => !isKept(id))
    const kept = later < 0 ? behind : behind.slice(0, later)
    const expected = [...all].filter((id) => rest.includes(id))
    const stray = behind.slice(kept.length).find((id) => live.get(id).place < place)
    return stray === undefined
      ? Law.same("kept", History.settle(expected, sees.rounds).join("-"), History.settle(kept, sees.rounds).join("-"))
      : `${stray} of before the boundary stands among what came later: ${rest.join("-")}`
  }
)

const isMain = (entry: Entry.Entry): entry is Entry.Message => Entry.isMessage(entry) && entry.isSidechain !== true

const doors = Law.history(
  "conversation and model messages are the same with and without the bytes before the boundary",
  ({ history }, reader) => {
    const log = History.log(history)
    const whole = reader(log)
    const first = whole.conversation[0]
    const at = log.findLastIndex(({ entry }) => Boundary.isCompact(entry))
    if (first === undefined || log[at]?.entry !== first.entry) return true
    const preserved = Boundary.preserved(first.entry)
    const kept = new Set(preserved?.kind === "messages" ? preserved.uuids : history.live.keptBy.get(first.uuid))
    const suffix = log.filter(
      ({ entry }, i) => i >= at || !Entry.isMessage(entry) || (isMain(entry) && kept.has(entry.uuid))
    )
    // A branch that leaves before the boundary needs what it hangs on: who reads from the boundary on must see that.
    const there = new Set(suffix.flatMap(({ entry }) => ("uuid" in entry ? [entry.uuid] : [])))
    const leaves = suffix.some(
      ({ entry }) => isMain(entry) && !kept.has(entry.uuid) && !!entry.parentUuid && !there.has(entry.parentUuid)
    )
    if (leaves) return true
    const part = reader(suffix)
    const sent = (state: typeof whole): string => JSON.stringify(ModelMessages.make(state).messages)
    // Of the messages before the boundary only these values are known.
    const ofFirst = new Set(["firstPrompt", "title", "createdAt", "cwd"])
    const said = ({ metadata }: typeof whole): string =>
      JSON.stringify(
        Object.entries(metadata)
          .filter(([key]) => !ofFirst.has(key))
          .toSorted()
      )
    return Law.all(
      () => Law.same("conversation", Law.shown(whole), Law.shown(part)),
      () => Law.same("model messages", sent(whole), sent(part)),
      () => Law.same("metadata", said(whole), said(part))
    )
  }
)

/**
 * The laws.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law.Law> = [
  idempotent,
  unchanged,
  commuting,
  closed,
  twice,
  asked,
  quiet,
  local,
  cut,
  inOrder,
  doors
]
