import { assert, describe, it } from "@effect/vitest"
import * as Progress from "@reprise/recovery/reducers/Progress"
import { findings, links, recovers, written } from "../picture.ts"

/** The links of a log before and after. */
const reduces = (picture: string): string => {
  const graph = written(picture)
  const reduced = Progress.reduce(graph)
  assert.isTrue(Progress.isReduced(reduced), "is reduced after")
  assert.strictEqual(links(Progress.reduce(reduced)), links(reduced), "twice is once")
  return links(reduced)
}

describe("Progress", () => {
  it("hangs a message on the nearest ancestor that is a message", () => {
    assert.strictEqual(links(written("u1-a1-p1-rA")), "u1 u1-a1 #0-rA")
    assert.strictEqual(reduces("u1-a1-p1-rA"), "u1 u1-a1 a1-rA")
  })

  it("is not reduced while a message hangs on a link, and is afterwards", () => {
    assert.isFalse(Progress.isReduced(written("u1-p1-a1")))
    assert.isTrue(Progress.isReduced(written("u1-a1 u1-p1")))
  })

  it("leaves a graph without links as it is", () => {
    const graph = written("u1-a1 x9-u2")
    assert.strictEqual(Progress.reduce(graph), graph)
    assert.strictEqual(reduces(""), "")
    assert.strictEqual(reduces("u1"), "u1")
    assert.strictEqual(reduces("p1"), "")
  })

  it("looks through a row of links", () => {
    assert.strictEqual(reduces("u1-a1-p1-p2-q3-rA"), "u1 u1-a1 a1-rA")
  })

  it("looks through an entry of an unknown type that has an id and a parent", () => {
    assert.strictEqual(reduces("u1-q1-a1"), "u1 u1-a1")
    assert.strictEqual(recovers("u1-a1-q1-u2-a2"), "u1-a1-u2-a2")
  })

  it("does not look through an unknown type without a parent: it is no link", () => {
    const bodies = { q1: { type: "future-thing", uuid: "q1" } }
    assert.strictEqual(links(Progress.reduce(written("u1-q1-a1", { bodies }))), "u1 ?-a1")
  })

  it("finds links in any order of the file", () => {
    for (const picture of [
      "u1-a1-p1-p2-u2",
      "u2^p2 u1-a1-p1-p2",
      "u1 u2^p2 p2^p1 p1^a1 u1-a1",
      "p2^p1 p1^a1 u1-a1 p2-u2"
    ]) {
      const graph = Progress.reduce(written(picture))
      assert.strictEqual(graph.nodes.get(graph.parent[graph.byId.get("u2")!]!)?.uuid, "a1", picture)
    }
  })

  it("makes a root of a message behind a link that has no parent", () => {
    assert.strictEqual(reduces("p1-u1-a1"), "u1 u1-a1")
  })

  it("lets siblings share a link", () => {
    assert.strictEqual(reduces("u1-a1-p1-u2 p1-u3"), "u1 u1-a1 a1-u2 a1-u3")
  })

  it("passes on where a link leads: to nothing, or to another lane", () => {
    const graph = Progress.reduce(written("x9-p1-p2-u1"))
    assert.strictEqual(links(graph), "?-u1")
    assert.strictEqual(graph.dangling.get(0), "x9")
    assert.strictEqual(reduces("u1 u1-u2~abc-p1-a1"), "u1 ~-a1")
  })

  it("tells a message behind a loop of links apart, and ends", () => {
    assert.strictEqual(reduces("p1^p2 p1-p2-u1"), "@-u1")
    assert.strictEqual(reduces("p1^p1 p1-u1"), "@-u1")
    assert.strictEqual(reduces("u1^p1 u1-p1"), "u1-u1")
  })

  it("resolves each link to the nearest earlier occurrence of an id, so that a re-parented copy makes no cycle", () => {
    // p1 is written again below a1, which hangs on the first one.
    assert.strictEqual(reduces("u1-p1-a1-p1-u2"), "u1 u1-a1 a1-u2")
    assert.strictEqual(recovers("u1-p1-a1-p1-u2-a2"), "u1-a1-u2-a2")
    assert.strictEqual(findings("u1-p1-a1-p1-u2-a2"), "repeated-id p1 2,4")
  })

  it("resolves a link that names its own id to the occurrence before it", () => {
    assert.strictEqual(reduces("u1-p1-p1-u2"), "u1 u1-u2")
    assert.strictEqual(recovers("u1-a1-p1-p1-p1-u2"), "u1-a1-u2")
  })

  it("resolves a link that is only written later to its first occurrence", () => {
    assert.strictEqual(reduces("u1-a1 u2^p1 a1-p1 u1-p1"), "u1 u1-a1 a1-u2")
  })

  it("leaves the graph that it was given as it was", () => {
    const graph = written("u1-p1-a1")
    Progress.reduce(graph)
    assert.strictEqual(links(graph), "u1 #0-a1")
  })

  it("is linear in the length of a row of links", () => {
    const row = Array.from({ length: 20_000 }, (_, i) => `p${i}`).join("-")
    assert.strictEqual(reduces(`u1-${row}-a1 p19999-u2`), "u1 u1-a1 u1-u2")
  })
})

describe("The chain", () => {
  const plain = "u1-a1-u2-a2"

  it("does not change when links are added", () => {
    for (const picture of [
      "u1-p1-a1-u2-a2",
      "u1-a1-p1-p2-p3-u2-a2",
      "u1-a1-u2-a2-p1",
      "u1-p1-a1-p2-u2-p3-a2-p4",
      "p1-u1-a1-u2-a2",
      "u1-a1-u2-a2 u1-p1 x9-p2"
    ]) {
      assert.strictEqual(recovers(picture), plain, picture)
      assert.strictEqual(findings(picture), "", picture)
    }
  })

  it("does not change when links are moved", () => {
    for (const picture of ["p1^a1 u1-a1 p1-u2-a2", "u1-a1-u2^p1-a2 a1-p1", "p2^p1 p1^a1 u1-a1 p2-u2-a2"]) {
      assert.strictEqual(recovers(picture), plain, picture)
    }
  })

  it("does not change when a link is removed and its children point at its parent", () => {
    assert.strictEqual(recovers("u1-a1-p1-p2-u2-a2"), recovers("u1-a1-p2-u2-a2"))
    assert.strictEqual(recovers("u1-a1-p2-u2-a2"), recovers(plain))
  })

  it("never ends in a link", () => {
    assert.strictEqual(recovers("u1-a1-p1-q1"), "u1-a1")
  })

  it("is nowhere where there is nothing but links", () => {
    assert.strictEqual(recovers("p1-p2"), "")
  })
})
