/**
 * The one order of repair: for each pair of neighbours a log that comes out wrong when they are swapped, and what commutes.
 *
 *   Progress ─▶ Reparent ─▶ Relink ─▶ Snip ─▶ leaf ─▶ walk ─▶ Compact ─▶ ToolResults
 */
import { assert, describe, it } from "@effect/vitest"
import * as Conversation from "@reprise/recovery/Conversation"
import * as Compact from "@reprise/recovery/reducers/Compact"
import * as Progress from "@reprise/recovery/reducers/Progress"
import * as Relink from "@reprise/recovery/reducers/Relink"
import * as Reparent from "@reprise/recovery/reducers/Reparent"
import * as Snip from "@reprise/recovery/reducers/Snip"
import * as ToolResults from "@reprise/recovery/reducers/ToolResults"
import * as Repair from "@reprise/recovery/Repair"
import type { SessionGraph } from "@reprise/recovery/SessionGraph"
import { links, names, recovers, tell, written } from "./picture.ts"

const graphSteps = { Progress, Reparent, Relink, Snip } as const
const chainSteps = { Compact, ToolResults } as const
type GraphStep = keyof typeof graphSteps
type ChainStep = keyof typeof chainSteps

const order: ReadonlyArray<GraphStep> = ["Progress", "Reparent", "Relink", "Snip"]
const chainOrder: ReadonlyArray<ChainStep> = ["Compact", "ToolResults"]

const reduced = (picture: string, steps: ReadonlyArray<GraphStep>): SessionGraph =>
  steps.reduce((graph, step) => graphSteps[step].reduce(graph), written(picture))

const walked = (graph: SessionGraph, leaf: number, steps: ReadonlyArray<ChainStep>): string =>
  names(
    graph,
    steps.reduce((chain, step) => chainSteps[step].reduce(graph, chain), Conversation.chain(graph, leaf))
  )

/** The conversation by other orders of the steps. */
const by = (picture: string, steps: ReadonlyArray<GraphStep>, chain = chainOrder): string => {
  const graph = reduced(picture, steps)
  return walked(graph, Conversation.leafOf(graph).node, chain)
}

/** Two neighbours of the order, swapped. */
const swapped = (first: GraphStep): ReadonlyArray<GraphStep> => {
  const at = order.indexOf(first)
  return [...order.slice(0, at), order[at + 1]!, first, ...order.slice(at + 2)]
}

describe("Repair", () => {
  it("is its steps in their order", () => {
    for (const picture of [
      "",
      "u1-p1-a1 x9-u2-a2 B1{a2>S1}-S1-u3-a3-N1{u3}",
      "u1-a1@m(A)-a2@m(B) a1-rA a2-rB-a3",
      "u1-a1-u2-a2 a1-u3-a3 !a2"
    ]) {
      assert.strictEqual(recovers(picture), by(picture, order), picture)
    }
  })

  it("leaves every step reduced", () => {
    const { chain, graph } = Repair.repair(
      written("u1-p1-a1 x9-u2 u3^u3-a3 u4^a4-a4 B1{u3,a3>S1}-S1-u5-a5@m(A)-a6@m(B) a5-rA a6-rB-a7-N1{u5}")
    )
    for (const step of order) assert.isTrue(graphSteps[step].isReduced(graph), step)
    for (const step of chainOrder) assert.isTrue(chainSteps[step].isReduced(graph, chain), step)
  })

  it("changes nothing when it runs again", () => {
    for (const picture of [
      "u1-p1-a1 x9-u2 u3^u3-a3 u4^a4-a4 B1{u3,a3>S1}-S1-u5-N1{u5,u3,x8}-a5@m(A)-a6@m(B) a5-rA a6-rB-a7",
      "u1-a1-u2-a2 B1{a2>S1}-S1-u3 B2{u3>x9}-S2-u4-a4 u3-w1 B3"
    ]) {
      const once = Repair.repair(written(picture))
      const twice = Repair.repair(once.graph)
      assert.strictEqual(names(twice.graph, twice.chain), names(once.graph, once.chain), picture)
      assert.strictEqual(links(twice.graph), links(once.graph), picture)
    }
  })

  it("reports what its steps found, in their order", () => {
    const { findings } = Repair.repair(written("u1 x9-a1 B1{x8,a1>S1}-S1-u2-N1{x7}-a2@m(A)-a3@m(B) a2-rA a3-rB-a4 !x6"))
    assert.strictEqual(
      tell(findings),
      "missing-parent a1>u1; preserved-missing B1 x8; snip-unknown-id N1 x7; last-prompt-unknown x6; parallel-recovered m rA"
    )
  })

  it("leaves the graph that it was given as it was", () => {
    const graph = written("u1-p1-a1 x9-u2-N1{a1}")
    Repair.repair(graph)
    assert.strictEqual(links(graph), "u1 #0-a1 ?-u2 u2-N1")
  })
})

describe("Swapped neighbours", () => {
  it("Reparent before Progress loses what stands before a link that leads nowhere", () => {
    const picture = "u1-a1 x9-p1-u2"
    assert.strictEqual(by(picture, order), "u1-a1-u2")
    assert.strictEqual(by(picture, swapped("Progress")), "u2")
  })

  it("Relink before Reparent finds no way through a kept segment with a broken link", () => {
    const picture = "u1-a1 x9-u2-a2 B1{a1..a2>S1}-S1-u3"
    assert.strictEqual(by(picture, order), "B1-S1-a1-u2-a2-u3")
    assert.strictEqual(by(picture, swapped("Reparent")), "B1-S1-u3")
  })

  it("Snip before Relink finds no way to the head of a segment that was snipped", () => {
    const picture = "u1-a1-u2-a2 B1{u2..a2>S1}-S1-u3-N1{u2}"
    assert.strictEqual(by(picture, order), "B1-S1-a2-u3-N1")
    assert.strictEqual(by(picture, swapped("Relink")), "B1-S1-u3-N1")
  })

  it("the leaf before Snip is one that was taken out", () => {
    const picture = "u1-a1-u2 u1-u3 N1{u3}"
    assert.strictEqual(by(picture, order), "u1-a1-u2")
    const early = Conversation.leafOf(reduced(picture, ["Progress", "Reparent", "Relink"]))
    assert.notStrictEqual(walked(reduced(picture, order), early.node, chainOrder), "u1-a1-u2")
  })

  it("the leaf before Relink is not below the boundary", () => {
    const picture = "u1-a1 B1{a1>S1}-S1"
    assert.strictEqual(by(picture, order), "B1-S1-a1")
    const early = Conversation.leafOf(reduced(picture, ["Progress", "Reparent"]))
    assert.strictEqual(walked(reduced(picture, order), early.node, chainOrder), "B1-S1")
  })

  it("ToolResults before Compact takes a result from before the boundary for one of the conversation's", () => {
    const picture = "u1-a1@m(A)-B1-a2@m(B) a1-rA a2-rB-a3"
    assert.strictEqual(by(picture, order), "B1-a2-rB-a3")
    assert.strictEqual(by(picture, order, ["ToolResults", "Compact"]), "B1-a2-rA-rB-a3")
  })
})

describe("Steps that are no neighbours", () => {
  it("Snip before Progress leaves a message on one that was taken out, behind a link", () => {
    const picture = "u1-a1-p1-u2-N1{a1}"
    assert.strictEqual(links(reduced(picture, order)), "u1 u1-u2 u2-N1")
    assert.strictEqual(links(reduced(picture, ["Snip", "Progress", "Reparent", "Relink"])), "u1 a1-u2 u2-N1")
  })

  it("Relink before Progress finds no way through a kept segment with a link", () => {
    const picture = "u1-a1-u2-p1-a2 B1{u2..a2>S1}-S1-u3"
    assert.strictEqual(by(picture, order), "B1-S1-u2-a2-u3")
    assert.strictEqual(by(picture, ["Relink", "Progress", "Reparent", "Snip"]), "B1-S1-u3")
  })

  it("Snip before Reparent bridges to a message that was taken out", () => {
    const picture = "u1-a1 x9-u2 u2-N1{a1}"
    assert.strictEqual(links(reduced(picture, order)), "u1 u1-u2 u2-N1")
    assert.strictEqual(links(reduced(picture, ["Progress", "Snip", "Reparent", "Relink"])), "u1 a1-u2 u2-N1")
  })
})

describe("These commute", () => {
  const commute = (picture: string, first: GraphStep): void => {
    assert.strictEqual(links(reduced(picture, swapped(first))), links(reduced(picture, order)), picture)
    assert.strictEqual(by(picture, swapped(first)), by(picture, order), picture)
  }

  it("Progress and Reparent, where every link leads to a message", () => {
    commute("u1-p1-a1 x9-u2-p2-a2 u3^u3", "Progress")
  })

  it("Reparent and Relink, where the record names a list and no link is broken behind the boundary", () => {
    commute("u1-a1 x9-u2-a2 B1{u2,a2>S1}-S1-u3", "Reparent")
  })

  it("Relink and Snip, where nothing is snipped that is kept, an anchor or a boundary", () => {
    commute("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3-N1{u3}-u4", "Relink")
    commute("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-N1{a1,u3}-u4", "Relink")
  })

  it("Relink and Snip, where a listed message is snipped: by a list it is left out in either order", () => {
    commute("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-N1{a2}-u4", "Relink")
  })

  it("Compact and ToolResults, where no reply stands on both sides of the boundary", () => {
    const picture = "u1-a1@m(A)-a2@m(B)-rB-B1-S1-u2-a3@k(C)-a4@k(D) a3-rC a4-rD-a5"
    assert.strictEqual(by(picture, order, ["ToolResults", "Compact"]), by(picture, order))
  })

  it("all, where they have nothing to do with each other", () => {
    const picture = "u1-p1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3 x9-u4-a4-u5-N1{u5}-u6"
    const expected = by(picture, order)
    assert.strictEqual(expected, "B1-S1-u2-a2-u3-a3-u4-a4-N1-u6")
    assert.strictEqual(by(picture, ["Progress", "Reparent", "Snip", "Relink"]), expected)
    assert.strictEqual(by(picture, ["Reparent", "Progress", "Relink", "Snip"]), expected)
  })
})
