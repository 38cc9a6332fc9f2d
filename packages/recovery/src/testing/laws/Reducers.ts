/**
 * Reducers: what is promised about each step of the repair (RECOVERY §2b–§7).
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Finding from "@reprise/domain/Finding"
import type * as Line from "@reprise/domain/Line"
import * as History from "@reprise/domain/testing/History"
import * as Conversation from "../../Conversation.ts"
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
import * as Compaction from "./Compaction.ts"

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
    const hanging = [...graph.nodes].find(
      ({ index }) => !graph.removed.has(index) && graph.removed.has(graph.parent[index]!)
    )
    return hanging === undefined ? true : `${hanging.uuid} hangs on what is removed`
  }
)

const twice = Law.history("snipping twice is snipping once", ({ history }, reader) => {
  const before = reader(History.log(history), Law.newest)
  const leaf = before.conversation.at(-1)
  if (leaf === undefined || history.sees.removed.size === 0) return true
  const again = {
    ...Boundary.snip([...history.sees.removed]),
    uuid: "N0new",
    parentUuid: leaf.uuid,
    isSidechain: false
  }
  const after = reader(Law.appended(history, [again]), Law.newest)
  return Law.all(
    () => Law.same("removed", before.removed.toSorted().join(), after.removed.toSorted().join()),
    () =>
      Law.same("conversation", [...Law.idsOf(before), "N0new"].toSorted().join(), Law.idsOf(after).toSorted().join())
  )
})

const asked = Law.history("a snip takes out what it names, and nothing else", (given, reader) => {
  const { history } = given
  const before = reader(History.log(history), Law.newest).conversation
  const leaf = before.at(-1)
  // The start of a context and what holds a branch are not taken out; and something has to stay that was said.
  const names = before.filter(
    ({ entry }, i) => ((given.dice[0]! >> (i % 16)) & 1) === 1 && !Boundary.isCompact(entry) && !Round.isRewind(entry)
  )
  const stay = before.filter((node) => !names.includes(node))
  if (leaf === undefined || !stay.some(({ entry }) => Round.isSpeech(entry))) return true
  const snip = { ...Boundary.snip(names.map(({ uuid }) => uuid)), uuid: "N0new", parentUuid: leaf.uuid }
  const after = reader(Law.appended(history, [snip]), Law.newest)
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
  ...Compaction.laws
]
