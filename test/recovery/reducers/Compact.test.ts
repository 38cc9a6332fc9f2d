import { assert, describe, it } from "@effect/vitest"
import * as Compact from "@reprise/recovery/reducers/Compact"
import * as Relink from "@reprise/recovery/reducers/Relink"
import { findings, names, pathTo, recovers, rest, written } from "../picture.ts"

/** The chain to a leaf, before and after. */
const reduces = (picture: string, leaf: string): string => {
  const graph = Relink.reduce(written(picture))
  const chain = pathTo(graph, leaf)
  const reduced = Compact.reduce(graph, chain)
  assert.isTrue(Compact.isReduced(graph, reduced), "is reduced after")
  assert.strictEqual(Compact.reduce(graph, reduced), reduced, "twice is once")
  assert.strictEqual(Compact.isReduced(graph, chain), reduced === chain, "is not reduced before")
  return names(graph, reduced)
}

describe("Compact", () => {
  it("starts the chain at its last boundary, whatever the boundary's parent says", () => {
    assert.strictEqual(reduces("u1-a1-B1-S1-u2-a2", "a2"), "B1-S1-u2-a2")
    assert.strictEqual(reduces("u1-a1 x9-B1-S1-u2-a2", "a2"), "B1-S1-u2-a2")
    assert.strictEqual(reduces("u1-a1 B1-S1-u2-a2", "a2"), "B1-S1-u2-a2")
  })

  it("starts it at the last of several", () => {
    assert.strictEqual(reduces("u1-B1-S1-u2-B2-S2-u3", "u3"), "B2-S2-u3")
  })

  it("leaves a chain whole that passes no boundary", () => {
    assert.strictEqual(reduces("u1-a1-u2 B1-S1", "u2"), "u1-a1-u2")
    assert.strictEqual(reduces("u1", "u1"), "u1")
  })

  it("leaves the empty chain empty", () => {
    const graph = written("")
    assert.deepStrictEqual(Compact.reduce(graph, []), [])
    assert.isTrue(Compact.isReduced(graph, []))
  })

  it("is no matter of microcompact boundaries", () => {
    const bodies = { s1: { subtype: "microcompact_boundary" } }
    assert.strictEqual(recovers("u1-a1-s1-u2", { bodies }), "u1-a1-s1-u2")
  })

  it("does not cut at a boundary that is itself kept", () => {
    assert.strictEqual(reduces("u1 B1-S1-u2 B2{B1,S1,u2>S2}-S2-u3", "u3"), "B2-S2-B1-S1-u2-u3")
  })

  it("cuts at a boundary on an abandoned branch where that branch is asked for", () => {
    assert.strictEqual(reduces("u1-a1-B1-S1-u2 a1-u3", "u2"), "B1-S1-u2")
    assert.strictEqual(reduces("u1-a1-B1-S1-u2 a1-u3", "u3"), "u1-a1-u3")
  })
})

describe("The conversation", () => {
  it("after a boundary is boundary, summary, kept messages in listed order, later messages", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2-u3-a3 B1{u2,a3>S1}-S1-u4-a4"), "B1-S1-u2-a3-u4-a4")
  })

  it("of a session of version 1.0 starts at the summary; what stands before it is another branch", () => {
    assert.strictEqual(recovers("u1-a1 S1-u2-a2"), "S1-u2-a2")
    assert.strictEqual(rest("u1-a1 S1-u2-a2"), "a1<root ×2")
    assert.strictEqual(findings("u1-a1 S1-u2-a2"), "")
  })

  it("counts what stands before a boundary with a parent as archived", () => {
    assert.strictEqual(rest("u1-a1-B1-S1-u2"), "archived 2")
  })

  it("shows attachments between boundary and summary", () => {
    assert.strictEqual(recovers("u1-a1 B1-t1-t2-S1-u2"), "B1-t1-t2-S1-u2")
  })

  it("may go on without a summary", () => {
    assert.strictEqual(recovers("u1-a1 B1-u2-a2"), "B1-u2-a2")
  })
})
