import * as Trace from "@reprise/cli/Trace"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Projection from "@reprise/domain/Projection"
import * as Lanes from "@reprise/recovery/Lanes"
import * as Repair from "@reprise/recovery/Repair"
import * as SessionGraph from "@reprise/recovery/SessionGraph"
import * as Snip from "@reprise/recovery/reducers/Snip"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const writtenOf = (picture: string): SessionGraph.SessionGraph =>
  SessionGraph.make(Projection.fold(Lanes.projection("main", "last-prompt"), Notation.log(picture)).written)

const watch = (picture: string): Trace.Trace => Trace.watch(writtenOf(picture))

/** What a step did, as one reads it. */
const did = ({ chain, graph }: Trace.Trace, name: string): ReadonlyArray<string> => {
  const step = [...graph, ...chain].find((one) => one.name === name)
  return step!.changes.map(({ from, to, uuid }) => `${uuid}: ${show(from)} → ${show(to)}`)
}

const show = (stand: Trace.Stand): string =>
  "uuid" in stand
    ? stand.is === "message"
      ? stand.uuid
      : `${stand.is} ${stand.uuid}`
    : "by" in stand
      ? `${stand.is} by ${stand.by}`
      : stand.is

describe("the steps", () => {
  it("are those of Repair, in its order", () => {
    const { chain, graph } = watch("u1-a1")
    assert.deepStrictEqual(
      graph.map(({ name }) => name),
      ["Progress", "Reparent", "Relink", "Snip"]
    )
    assert.deepStrictEqual(
      chain.map(({ name }) => name),
      ["Compact", "ToolResults"]
    )
  })

  it("change nothing of a log that is in order", () => {
    const { chain, graph } = watch("u1-a1(A)-rA-a2-u2-a3")
    for (const { changes, compaction, findings } of [...graph, ...chain])
      assert.deepStrictEqual([changes, findings, compaction], [[], [], undefined])
  })

  it("may be others, for those who study them", () => {
    const trace = Trace.watch(writtenOf("u1-a1-N1{a1}-u2"), { graph: [Snip.reduce, (graph) => graph], chain: [] })
    assert.deepStrictEqual(
      trace.graph.map(({ changes }) => changes.length),
      [2, 0]
    )
    assert.strictEqual(trace.graph[1]!.name, "a step")
    assert.deepStrictEqual(trace.walked, trace.repaired.chain)
  })
})

describe("a change", () => {
  for (const [what, picture, step, expected] of [
    ["a link is looked through", "u1-a1-p1-u2", "Progress", ["u2: link p1 → a1"]],
    ["a link may lead nowhere", "u1-a1 x9-p1-u2", "Progress", ["u2: link p1 → missing x9"]],
    ["a link may lead to itself", "u1-a1 x9-p1^p2-u2 x8-p2^p1", "Progress", ["u2: link p1 → loop p1"]],
    ["a parent in no line", "u1-a1 x9-u2", "Reparent", ["u2: missing x9 → a1"]],
    ["nothing older", "x9-u1-a1", "Reparent", ["u1: missing x9 → root"]],
    ["a parent in a sidechain", "u1-a1 u5~ab u5-u2", "Reparent", ["u2: sidechain u5 → a1"]],
    ["an entry that is its own parent", "u1-a1-u2^u2", "Reparent", ["u2: u2 → a1"]],
    [
      "a kept message, and what comes behind it",
      "u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3",
      "Relink",
      ["u2: a1 → S1", "u3: S1 → a2"]
    ],
    [
      "what hung on a message that was not kept",
      "u1-a1-u2 B1{u2>S1}-S1-u3 a1-t1",
      "Relink",
      ["u2: a1 → S1", "u3: S1 → u2", "t1: a1 → u2"]
    ],
    ["a snip", "u1-a1-u2-a2-N1{u2,a2}-u3", "Snip", ["u2: a1 → removed by N1", "a2: u2 → removed by N1", "N1: a2 → a1"]],
    [
      "what stands before the boundary",
      "u1-a1-B1-S1-u2",
      "Compact",
      ["u1: walk → archived by B1", "a1: walk → archived by B1"]
    ],
    ["a parallel result", "u1-a1@m(A)-a2@m(B)-rB-a3 a1-rA a3-u2", "ToolResults", ["rA: beside → behind a2"]]
  ] as const) {
    it(`shows ${what}`, () => assert.deepStrictEqual(did(watch(picture), step), [...expected]))
  }

  it("has the sentence of its finding, and its line", () => {
    const [change] = watch("u1-a1 x9-u2").graph[1]!.changes
    assert.deepInclude(change, { line: 3, why: ["The parent x9 of u2 is in no line; it hangs on a1."] })
  })

  it("has all sentences that name it", () => {
    const [change] = watch("u1-a1 ? x9-u2").graph[1]!.changes
    assert.strictEqual(change!.why.length, 2)
  })

  it("has a reason also where there is no finding", () => {
    for (const picture of [
      "u1-a1-p1-u2",
      "u1-a1-u2-a2-N1{u2,a2}-u3",
      "u1-a1-u2 B1{u2>S1}-S1-u3 a1-t1",
      "u1-a1-B1{a1>S1}-S1-u2",
      "u1-a1-B1-S1-u2"
    ]) {
      const { chain, graph } = watch(picture)
      const changes = [...graph, ...chain].flatMap((step) => step.changes)
      assert.isNotEmpty(changes)
      for (const { why } of changes) assert.isNotEmpty(why)
    }
  })
})

describe("Relink", () => {
  it("tells the boundary that counts and what it keeps", () => {
    const { graph, repaired } = watch("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3")
    const { compaction } = graph[2]!
    assert.deepStrictEqual(
      compaction!.kept.map((node) => repaired.graph.nodes.get(node)!.uuid),
      ["u2", "a2"]
    )
    assert.strictEqual(repaired.graph.nodes.get(compaction!.boundary)!.uuid, "B1")
  })
})

describe("findings", () => {
  it("stand with the step that made them, each once", () => {
    const picture = "u1-a1@m(A)-a2@m(B)-rB-a3 a1-rA x9-u2-N1{x8}-u3 !x7"
    const trace = watch(picture)
    const all = [...trace.graph, { findings: trace.leaf.findings }, ...trace.chain].flatMap(({ findings }) => findings)
    assert.deepStrictEqual([...trace.written.findings, ...all], [...trace.repaired.findings])
    assert.deepStrictEqual(
      trace.graph.map(({ findings }) => findings.map(({ kind }) => kind)),
      [[], ["missing-parent"], [], ["snip-unknown-id"]]
    )
    assert.deepStrictEqual(
      trace.chain.map(({ findings }) => findings.map(({ kind }) => kind)),
      [[], ["parallel-recovered"]]
    )
  })
})

describe("watching", () => {
  const words =
    "u1 u1-a1@m(A) a1-a2@m(B) a2-rB rB-a3 a1-rA a3-p1 p1-u2 u2-a4 u5~ab u5-t1 B1{u2,a4>S1} B1-S1 S1-u3 u3-a5 x9-u6 N1{u3} u6-N1 N1-u7 !a5 u7-u7 p1-t2"
  const lines = words.split(" ").map((picture) => picture.split("-"))
  const order = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: lines.length - 1 })))

  it.prop("changes nothing, and its changes lead from as written to as repaired", { order }, ({ order }) => {
    const picture = order.map((line) => lines[line]!.join("-")).join(" ")
    const written = writtenOf(picture)
    const trace = Trace.watch(written)
    assert.deepStrictEqual(trace.repaired, Repair.repair(written))

    const stands = new Map([...written.nodes].map(({ index, uuid }) => [uuid, show(Trace.hangs(written, index))]))
    for (const { changes } of trace.graph) {
      for (const { from, to, uuid } of changes) {
        assert.strictEqual(show(from), stands.get(uuid))
        stands.set(uuid, show(to))
      }
    }
    const { graph } = trace.repaired
    for (const { index, uuid } of graph.nodes) {
      if (!graph.removed.has(index)) assert.strictEqual(stands.get(uuid), show(Trace.hangs(graph, index)))
      else assert.match(stands.get(uuid)!, /^removed by/)
    }

    const chain = new Set(trace.walked.map((node) => graph.nodes.get(node)!.uuid))
    for (const { to, uuid } of trace.chain.flatMap(({ changes }) => changes)) {
      if (to.is === "archived") chain.delete(uuid)
      else chain.add(uuid)
    }
    assert.deepStrictEqual(
      [...chain].toSorted(),
      trace.repaired.chain.map((node) => graph.nodes.get(node)!.uuid).toSorted()
    )
    return true
  })
})
