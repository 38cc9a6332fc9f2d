import { assert, describe, it } from "@effect/vitest"
import * as ToolResults from "@reprise/recovery/reducers/ToolResults"
import { tell, findings, holds, names, pathTo, recovers, rest, view, written } from "../picture.ts"

/** The chain to a leaf, after; `u1-a1 → u1-a1-rA`. */
const reduces = (picture: string, leaf: string): string => {
  const graph = written(picture)
  const chain = pathTo(graph, leaf)
  const reduced = ToolResults.reduce(graph, chain)
  assert.isTrue(ToolResults.isReduced(graph, reduced), "is reduced after")
  assert.strictEqual(names(graph, ToolResults.reduce(graph, reduced)), names(graph, reduced), "twice is once")
  assert.strictEqual(ToolResults.isReduced(graph, chain), reduced.length === chain.length, "is not reduced before")
  assert.strictEqual(new Set(reduced).size, reduced.length, "each once")
  return names(graph, reduced)
}

describe("ToolResults", () => {
  it("puts results that hang on their own calls back behind the last part of the reply", () => {
    const picture = "u1-a1@m(A)-a2@m(B)-a3@m(C) a2-rB a1-rA a3-rC-a4"
    assert.strictEqual(names(written(picture), pathTo(written(picture), "a4")), "u1-a1-a2-a3-rC-a4")
    assert.strictEqual(reduces(picture, "a4"), "u1-a1-a2-a3-rB-rA-rC-a4")
    assert.strictEqual(recovers(picture), "u1-a1-a2-a3-rB-rA-rC-a4")
    assert.strictEqual(rest(picture), "")
  })

  it("reports what no walk along parents reaches, by reply", () => {
    const picture = "u1-a1@m(A)-a2@m(B)-a3@m(C) a2-rB a1-rA a3-rC-a4"
    assert.strictEqual(findings(picture), "parallel-recovered m rB,rA")
    const graph = written(picture)
    const chain = pathTo(graph, "a4")
    assert.deepStrictEqual(ToolResults.findings(graph, chain, chain), [])
    assert.strictEqual(
      tell(ToolResults.findings(graph, chain, ToolResults.reduce(graph, chain))),
      "parallel-recovered m rB,rA"
    )
  })

  it("leaves a chain that lacks nothing as it is", () => {
    for (const [picture, leaf] of [
      ["u1", "u1"],
      ["u1-a1-u2", "u2"],
      ["u1-a1(A)-rA-a2", "a2"],
      ["u1-a1(A)", "a1"],
      ["u1-a1 u1-u2-a2", "a2"]
    ] as const) {
      const graph = written(picture)
      const chain = pathTo(graph, leaf)
      assert.strictEqual(ToolResults.reduce(graph, chain), chain, picture)
    }
    assert.deepStrictEqual(ToolResults.reduce(written(""), []), [])
  })

  it("puts the missing parts of a reply back", () => {
    assert.strictEqual(holds("u1-a1@m(A)-rA u1-a2@m(B)-rB-a3"), "a1 a2 a3 rA rB u1")
    assert.strictEqual(holds("u1-a1@m-a2@m(A) a1-a3@m(B)-rB-a4 a2-rA"), "a1 a2 a3 a4 rA rB u1")
    assert.strictEqual(view("u1-a1@m-a2@m(A) a1-a3@m(B)-rB-a4 a2-rA"), "u[u1] a[a1 use:A use:B] u[res:A res:B] a[a4]")
  })

  it("prefers a result that hangs on the reply to one that hangs elsewhere", () => {
    const again = "u5-a5@m-a6@m(c1)-a7@m(c2)-r5(c1)-r6(c2) a5-w1"
    const picture = `u1-a1@m(c1)-a2@m(c2) u1-r1(c1) a2-r2(c2) ${again}`
    assert.strictEqual(reduces(picture, "w1"), "u5-a5-a6-a7-r5-r6-w1")
    // Before the copy has its result.
    assert.strictEqual(
      reduces("u1-u2-a1@m(A)-a2@m(B) u2-r3(A) a2-r4(B) u5-u6-a7@m-a8@m(A)-a9@m(B)", "a9"),
      "u5-u6-a7-a8-a9"
    )
    assert.strictEqual(reduces("u0-r1(A) u1-a1@m(A)-a2@m(B) a1-r2(A) a2-r3(B)", "r3"), "u1-a1-a2-r2-r3")
  })

  it("finds a result by its call where it hangs elsewhere", () => {
    assert.strictEqual(holds("u1-a1@m(A)-a2@m(B)-rA a2-rB-a3"), "a1 a2 a3 rA rB u1")
    assert.strictEqual(holds("u1-a1(A)-a2 u1-rA a2-u2"), "a1 a2 rA u1 u2")
  })

  it("finds a result by its parent where its call id is another", () => {
    assert.strictEqual(holds("u1-a1@m(A)-a2@m(B)-r9(Z) a2-rB-a3"), "a1 a2 a3 r9 rB u1")
  })

  it("finds results that stand before their call in the file", () => {
    assert.strictEqual(holds("u1 rA^a1 u1-a1@m(A)-a2@m(B)-rB-a3"), "a1 a2 a3 rA rB u1")
    assert.strictEqual(view("u1 rA^a1 u1-a1@m(A)-a2@m(B)-rB-a3"), "u[u1] a[use:A use:B] u[res:A res:B] a[a3]")
  })

  it("finds results that were written after later turns", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B)-rB-a3-u2-a4 a1-rA"), "u1-a1-a2-rA-rB-a3-u2-a4")
  })

  it("puts each result back with the attachments that hang on it", () => {
    assert.strictEqual(reduces("u1-a1@m(A)-a2@m(B) a1-rA-t1-t2 a2-rB-t3-a3", "a3"), "u1-a1-a2-rA-t1-t2-rB-t3-a3")
  })

  it("puts side branches of a call back: what hooks and skills added", () => {
    assert.strictEqual(holds("u1-a1(A)-t1-m1-s1 a1-rA-a2"), "a1 a2 m1 rA s1 t1 u1")
  })

  it("puts side branches of a result back, also when no result was missing", () => {
    assert.strictEqual(reduces("u1-a1(A)-rA-m1-t1 rA-a2", "a2"), "u1-a1-rA-m1-t1-a2")
    assert.strictEqual(recovers("u1-a1(A)-rA-m1-t1 rA-a2"), "u1-a1-rA-m1-t1-a2")
  })

  it("puts a note back that stands in front of all others in the file", () => {
    assert.strictEqual(recovers("t1^rA u1-a1(A)-rA-a2"), "u1-a1-rA-t1-a2")
  })

  it("puts a note back below which a result was put back", () => {
    assert.strictEqual(holds("u1-a1@m(A)-t1-rA a1-a2@m(B)-rB-a3"), "a1 a2 a3 rA rB t1 u1")
  })

  it("gives a result to the first of two calls with its id", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B)-rB-u2-a3@k(A)-u3 a1-rA"), "u1-a1-a2-rA-rB-u2-a3-u3")
  })

  it("leaves a side branch that holds a turn of its own a branch", () => {
    assert.strictEqual(recovers("u1-a1(A)-rA-m1-u2-a2 rA-a3"), "u1-a1-rA-a3")
    assert.strictEqual(rest("u1-a1(A)-rA-m1-u2-a2 rA-a3"), "a2<rA ×3")
  })

  it("leaves side branches of prompts and plain replies alone", () => {
    assert.strictEqual(recovers("u1-t1 u1-a1-t2 a1-u2"), "u1-a1-u2")
    assert.strictEqual(rest("u1-t1 u1-a1-t2 a1-u2"), "t2<a1 ×1; t1<u1 ×1")
  })

  it("never mixes different replies", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-rA-a2 u1-a3@k(C)-rC-a4"), "u1-a3-rC-a4")
    assert.strictEqual(rest("u1-a1@m(A)-rA-a2 u1-a3@k(C)-rC-a4"), "a2<u1 ×3")
  })

  it("takes parts with the same message id in two turns for two replies", () => {
    assert.strictEqual(recovers("u1-a1@gw-u2-a2@gw-u3-a3@gw"), "u1-a1-u2-a2-u3-a3")
    assert.strictEqual(view("u1-a1@gw-u2-a2@gw"), "u[u1] a[a1] u[u2] a[a2]")
  })

  it("takes no part of an abandoned turn for a part of the reply that has its id", () => {
    // A gateway gives every reply the id gw; u2 was rewound and asked again as u3.
    assert.strictEqual(recovers("u1-a1@gw-u2-a2@gw a1-u3-a3@gw"), "u1-a1-u3-a3")
    assert.strictEqual(rest("u1-a1@gw-u2-a2@gw a1-u3-a3@gw"), "a2<a1 ×2")
  })

  it("gives two rounds with the same message id each their own results", () => {
    const picture = "u1-a1@gw(A)-a2@gw(B)-rB-u2-a3@gw(C)-a4@gw(D)-rD-u3 a1-rA a3-rC"
    assert.strictEqual(view(picture), "u[u1] a[use:A use:B] u[res:A res:B u2] a[use:C use:D] u[res:C res:D u3]")
    assert.strictEqual(rest(picture), "")
  })

  it("never makes up a result", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B)-rB-a3"), "u1-a1-a2-rB-a3")
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B)"), "u1-a1-a2")
  })

  it("puts the results of a turn back that has just ended", () => {
    assert.strictEqual(holds("u1-a1@m(A)-a2@m(B) a1-rA a2-rB"), "a1 a2 rA rB u1")
    assert.strictEqual(holds("u1-a1@m(A)-a2@m(B)-rB a1-rA"), "a1 a2 rA rB u1")
    assert.strictEqual(rest("u1-a1@m(A)-a2@m(B)-rB a1-rA"), "")
  })

  it("puts a second answer of a call nowhere that would hide the first", () => {
    const picture = "u1-a1@m(A)-a2@m(B)-rA-rB-a3-u2 a1-r9(A)"
    assert.include(recovers(picture), "a3-u2")
    assert.strictEqual(view(picture), "u[u1] a[use:A use:B] u[res:A res:B] a[a3] u[u2]")
  })

  it("puts one entry with several results back once", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B)-a3@m(C)-rC-a4 a2-r9(A,B)"), "u1-a1-a2-a3-r9-rC-a4")
  })

  it("puts nothing back that was snipped", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B) a1-rA a2-rB-a3-N1{rA}"), "u1-a1-a2-rB-a3-N1")
  })

  it("puts nothing back from before the boundary that is not kept", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B) a1-rA a2-rB B1{a1,a2,rB>S1}-S1-u2"), "B1-S1-a1-a2-rB-u2")
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B)-rB B1-S1-a3@m(C)-rC-a4"), "B1-S1-a3-rC-a4")
  })

  it("recovers two rounds in one conversation", () => {
    assert.strictEqual(
      recovers("u1-a1@m(A)-a2@m(B) a1-rA a2-rB-a3@k(C)-a4@k(D) a3-rC a4-rD-a5"),
      "u1-a1-a2-rA-rB-a3-a4-rC-rD-a5"
    )
  })

  it("recovers the rounds of a branch that is asked for", () => {
    const picture = "u1-a1@m(A)-a2@m(B) a1-rA a2-rB-a3 u1-u2"
    assert.strictEqual(recovers(picture, { leaf: { uuid: "a3" } }), "u1-a1-a2-rA-rB-a3")
  })

  it("passes over markers that nobody went on from among the notes of a round", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B)-rB-t3-B1 t3-t4 a1-w5"), "u1-a1-a2-rB-t3-t4-w5")
    assert.strictEqual(rest("u1-a1@m(A)-a2@m(B)-rB-t3-B1 t3-t4 a1-w5"), "B1<t3 ×1")
    assert.strictEqual(recovers("u1-a1@m(A)-rA-t2-w3-t4 rA-a5"), "u1-a1-rA-t2-a5")
    assert.strictEqual(recovers("u1-a1@m(A)-rA-t2-w3-u4 rA-a5"), "u1-a1-rA-a5")
  })

  it("takes notes for a part of the round where they hang on its calls or results alone", () => {
    assert.strictEqual(recovers("u1-a1@m-a2@m(B)-t3 a1-w4"), "u1-a1-a2-t3-w4")
    assert.strictEqual(recovers("u1-a1@m-a2@m-t3 a1-w4"), "u1-a1-a2-w4")
    assert.strictEqual(recovers("u1-a1@m-a2@m-t3-N4{a2} a1-w5"), "u1-a1-w5")
  })

  it("brings a result that hangs nowhere where a copy of its reply has results of its own", () => {
    const picture = "a1@m(A)-a2@m(B) r3(A) a2-r4(B) a5@m(A):1-a6@m(B):2-r7(A):3-r8(B):4"
    assert.strictEqual(reduces(picture, "r4"), "a1-a2-r3-r4")
    assert.strictEqual(reduces(picture, "r8"), "a5-a6-r7-r8")
  })

  it("gives the results of a reply to no copy of it in a history that was written again", () => {
    assert.strictEqual(recovers("a1@m(A,B) r3(A) r4(B) a5@m(A,B):1"), "a5")
    assert.strictEqual(recovers("r3(A) r4(B) a5@m(A,B)"), "a5-r3-r4")
  })
})
