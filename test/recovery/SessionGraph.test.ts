import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import * as Notation from "@reprise/domain/testing/Notation"
import * as SessionGraph from "@reprise/recovery/SessionGraph"
import * as Progress from "@reprise/recovery/reducers/Progress"
import { links, written } from "./picture.ts"

const indices = (graph: SessionGraph.SessionGraph, ...uuids: ReadonlyArray<string>): ReadonlySet<number> =>
  new Set(uuids.map((uuid) => graph.byId.get(uuid)!))

describe("SessionGraph.make", () => {
  it("holds each message at its place in the log, with what it hangs on", () => {
    const graph = written("u1-a1-u2 a1-u3")
    assert.strictEqual(Notation.show(graph.nodes), "u1-a1-u2-u3")
    assert.deepStrictEqual(
      [...graph.nodes].map(({ index, seq }) => [index, seq]),
      [
        [0, 0],
        [1, 1],
        [2, 2],
        [3, 3]
      ]
    )
    assert.strictEqual(links(graph), "u1 u1-a1 a1-u2 a1-u3")
  })

  it("counts the messages of the lane by index, and all entries by seq", () => {
    const { nodes } = written("u1 u1-p1 !u1 u2~abc p1-a1")
    assert.deepStrictEqual(
      [...nodes].map(({ index, seq, uuid }) => [uuid, index, seq]),
      [
        ["u1", 0, 0],
        ["a1", 1, 4]
      ]
    )
  })

  it("says of a parent in no line that it is missing, and remembers its name", () => {
    const graph = written("u1-a1 x9-u2")
    assert.strictEqual(links(graph), "u1 u1-a1 ?-u2")
    assert.strictEqual(graph.dangling.get(2), "x9")
  })

  it("says of a parent in another lane that it is foreign", () => {
    assert.strictEqual(links(written("u1 u1-u2~abc-a2")), "u1 ~-a2")
  })

  it("links to messages that stand later in the file, and to itself, as written", () => {
    assert.strictEqual(links(written("a1^u1 u1 u2^u2")), "u1-a1 u1 u2-u2")
  })

  it("prefers a message to a link of the same id", () => {
    const graph = written("u1 p1 u1-a1", { bodies: { p1: { type: "progress", uuid: "u1", parentUuid: "x9" } } })
    assert.strictEqual(links(graph), "u1 u1-a1")
  })

  it("resolves a repeated link to the nearest occurrence before, else to the first one after", () => {
    // p1 stands three times: before a1, before a2, and behind all.
    assert.strictEqual(links(written("u1-p1-a1 u2-p1-a2 u3-p1")), "u1 #0-a1 u2 #1-a2 u3")
    assert.strictEqual(links(written("a1^p1 u1-p1 u2-p1")), "#0-a1 u1 u2")
  })

  it("makes the empty graph of the empty log", () => {
    const graph = written("")
    assert.strictEqual(graph.nodes.length, 0)
    assert.strictEqual(links(graph), "")
    assert.deepStrictEqual(SessionGraph.leaves(graph), [])
  })
})

describe("SessionGraph.parentUuidOf", () => {
  it("reads an absent, null or empty parent as none", () => {
    for (const more of [{}, { parentUuid: null }, { parentUuid: "" }]) {
      assert.isNull(SessionGraph.parentUuidOf({ type: "system", uuid: "s1", ...more } as Entry.Message))
    }
  })

  it("reads a parent as it is written", () => {
    assert.strictEqual(SessionGraph.parentUuidOf({ type: "system", uuid: "s1", parentUuid: "U1" }), "U1")
  })
})

describe("SessionGraph, changed", () => {
  it("with other parents is another graph, and the first one stays as it was", () => {
    const graph = written("u1-a1-u2")
    const changed = SessionGraph.withParents(graph, new Map([[2, 0]]))
    assert.strictEqual(links(changed), "u1 u1-a1 u1-u2")
    assert.strictEqual(links(graph), "u1 u1-a1 a1-u2")
    assert.strictEqual(SessionGraph.withParents(graph, new Map()), graph)
  })

  it("reports what it does not report already", () => {
    const graph = written("u1")
    const unknown = Finding.make("last-prompt-unknown", { uuid: "x9" })
    const once = SessionGraph.report(graph, [unknown])
    assert.deepStrictEqual(once.findings, [unknown])
    assert.strictEqual(SessionGraph.report(once, [unknown]), once)
    assert.strictEqual(SessionGraph.report(graph, []), graph)
    const other = Finding.make("last-prompt-unknown", { uuid: "x8" })
    assert.deepStrictEqual(SessionGraph.report(once, [unknown, other]).findings, [unknown, other])
  })

  it("without some nodes hangs what hung on them on the nearest ancestor that stays", () => {
    const graph = written("u1-a1-u2-a2-u3 a1-u4")
    const changed = SessionGraph.without(graph, indices(graph, "a1", "u2", "a2"))
    assert.strictEqual(links(changed), "u1 u1-u3 u1-u4")
    assert.strictEqual(changed.nodes.length, 6)
    assert.deepStrictEqual([...changed.removed], [1, 2, 3])
  })

  it("without all ancestors of a node makes it a root", () => {
    const graph = written("u1-a1-u2")
    assert.strictEqual(links(SessionGraph.without(graph, indices(graph, "u1", "a1"))), "u2")
  })

  it("without a cycle leaves its survivors as roots", () => {
    const graph = written("u1^a1-a1-u2")
    assert.strictEqual(links(SessionGraph.without(graph, indices(graph, "u1", "a1"))), "u2")
  })

  it("without nodes twice is without both", () => {
    const graph = written("u1-a1-u2-a2")
    const twice = SessionGraph.without(SessionGraph.without(graph, indices(graph, "a1")), indices(graph, "u2"))
    assert.strictEqual(links(twice), "u1 u1-a2")
  })

  it("without nodes in a long row takes time in proportion to the row", () => {
    const graph = written(Array.from({ length: 3000 }, (_, i) => `u${i}`).join("-"))
    const changed = SessionGraph.without(graph, new Set(Array.from({ length: 2998 }, (_, i) => i + 1)))
    assert.strictEqual(links(changed), "u0 u0-u2999")
  })
})

describe("SessionGraph, asked", () => {
  const graph = written("u1-a1-u2 a1-u3")

  it("lists the children of each node in log order", () => {
    const { first, last, next } = SessionGraph.children(graph)
    assert.deepStrictEqual([...first], [1, 2, -1, -1])
    assert.deepStrictEqual([...last], [1, 3, -1, -1])
    assert.deepStrictEqual([...next], [-1, -1, 3, -1])
    assert.strictEqual(SessionGraph.children(graph), SessionGraph.children(graph))
  })

  it("counts no removed node as a child", () => {
    const { first } = SessionGraph.children(SessionGraph.without(graph, indices(graph, "u2", "u3")))
    assert.strictEqual(first[1], -1)
  })

  it("finds the node of an id, and nothing for an id in no line", () => {
    assert.strictEqual(SessionGraph.nodeOf(graph, "u2")?.index, 2)
    assert.isUndefined(SessionGraph.nodeOf(graph, "x9"))
  })

  it("names the parent of an id; a root and an id in no line have none", () => {
    assert.strictEqual(SessionGraph.parentOf(graph, "u3"), "a1")
    assert.isNull(SessionGraph.parentOf(graph, "u1"))
    assert.isNull(SessionGraph.parentOf(graph, "x9"))
    assert.isNull(SessionGraph.parentOf(written("x9-u1"), "u1"))
  })

  it("lists the messages on which nothing hangs, in log order", () => {
    assert.strictEqual(Notation.show(SessionGraph.leaves(graph)), "u2-u3")
    const changed = SessionGraph.without(graph, indices(graph, "u2", "u3"))
    assert.strictEqual(Notation.show(SessionGraph.leaves(changed)), "a1")
  })

  it("walks from the root to a leaf", () => {
    assert.deepStrictEqual(SessionGraph.pathTo(graph, 3), [0, 1, 3])
    assert.deepStrictEqual(SessionGraph.pathTo(graph, -1), [])
  })

  it("ends the walk at the first node that it meets twice, and at what is no node", () => {
    assert.deepStrictEqual(SessionGraph.pathTo(written("u1^a1-a1-u2"), 2), [0, 1, 2])
    assert.deepStrictEqual(SessionGraph.pathTo(written("u1-a1^a1"), 1), [1])
    const linked = written("u1-p1-a1")
    assert.deepStrictEqual(SessionGraph.pathTo(linked, 1), [1])
    assert.deepStrictEqual(SessionGraph.pathTo(Progress.reduce(linked), 1), [0, 1])
  })
})
