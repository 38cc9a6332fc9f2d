import { assert, describe, it } from "@effect/vitest"
import * as Message from "@reprise/domain/Message"
import * as Conversation from "@reprise/recovery/Conversation"
import { findings, lines, names, type Options, omitted, pathTo, recovers, rest, view, written } from "./picture.ts"

const leaf = (picture: string, options: Options = {}): string | undefined => {
  const graph = written(picture, options)
  return graph.nodes.get(Conversation.leafOf(graph).node)?.uuid
}

describe("The leaf, by default", () => {
  it("is the last line of the file", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-u3-a3"), "u1-a1-u3-a3")
    assert.strictEqual(leaf("u1-a1-u2-a2 a1-u3-a3"), "a3")
  })

  it("goes by place in the file and not by time", () => {
    assert.strictEqual(recovers("u1-a1-u2:8-a2:9 a1-u3:3-a3:4"), "u1-a1-u3-a3")
  })

  it("may be of any of the four types", () => {
    for (const last of ["u2", "a2", "t2", "s2", "m2", "l2"]) assert.strictEqual(leaf(`u1-a1-${last}`), last)
  })

  it("keeps trailing system and attachment lines", () => {
    assert.strictEqual(recovers("u1-a1-s1-t1"), "u1-a1-s1-t1")
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-s1-t1"), "u1-a1-s1-t1")
  })

  it("is no line that has nothing said on it or above it", () => {
    assert.strictEqual(recovers("u1-a1 s1-t1"), "u1-a1")
    assert.strictEqual(recovers("u1-a1 t1"), "u1-a1")
    assert.strictEqual(recovers("s1-t1"), "")
    assert.strictEqual(rest("u1-a1 s1-t1"), "t1<root ×2")
  })

  it("may hang on a boundary that was taken out, below what was said before that", () => {
    assert.strictEqual(recovers("u1-a1-B2-t3-N4{B2}-u5 t3-w6"), "u1-a1-t3-w6")
  })

  it("may hang on a boundary that is kept: that one cuts nothing off", () => {
    assert.strictEqual(recovers("u1-u2-B3{B4>u5}-B4 B3-u5 B4-w6:9"), "B3-u5-B4-w6")
    assert.strictEqual(recovers("u1-u2-B3-B4 B3-u5 B4-w6:9"), "B3-u5")
  })

  it("may be a local command, or hang on one", () => {
    assert.strictEqual(recovers("u1-a1 l1"), "l1")
    assert.strictEqual(recovers("u1-a1 l1-s1"), "l1-s1")
  })

  it("is no link, no metadata and no sidechain entry", () => {
    assert.strictEqual(recovers("u1-a1-p1 !a1 u2~abc q1 ?"), "u1-a1")
  })

  it("is nothing in an empty log", () => {
    assert.strictEqual(Conversation.leafOf(written("")).node, -1)
    assert.strictEqual(recovers(""), "")
  })

  it("is the newest of several roots", () => {
    assert.strictEqual(recovers("u1-a1 u2-a2"), "u2-a2")
    assert.strictEqual(rest("u1-a1 u2-a2"), "a1<root ×2")
  })

  it("goes on down to its newest child where a child was written earlier than its parent, though said later", () => {
    assert.strictEqual(recovers("a1^u1:5 u1:4"), "u1-a1")
    assert.strictEqual(recovers("a1^u1:4 u1:4"), "u1-a1")
    assert.strictEqual(recovers("a1^u1:5 u2^a1:6 u1:4"), "u1-a1-u2")
    assert.strictEqual(recovers("u1 a2^u2:5 a3^u2:6 u1-u2:4"), "u1-u2-a3")
  })

  it("does not go down to a child that is older than its parent, or is only bridged to it", () => {
    assert.strictEqual(recovers("u1:1 a1^u2:2 u1-u2:9"), "u1-u2")
    assert.strictEqual(recovers("u1:1 a1^x1:9 u1-u2:9"), "u1-u2")
  })

  it("goes on down to the result of its call where that stands earlier in the file", () => {
    assert.strictEqual(recovers("u1 rA^a1 u1-a1(A)"), "u1-a1-rA")
  })

  it("is not moved by a result that was written late and turns that followed its reply", () => {
    const picture = "u1-a1@m(A)-a2@m(B)-rB-a3-u2-a4 a1-rA"
    assert.strictEqual(leaf(picture), "a4")
    assert.strictEqual(recovers(picture), "u1-a1-a2-rA-rB-a3-u2-a4")
    assert.strictEqual(findings(picture), "late-result rA; parallel-recovered m rA")
  })

  it("is not moved by an attachment that hangs on such a late result", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B)-rB-a3-u2-a4 a1-rA-t1"), "u1-a1-a2-rA-t1-rB-a3-u2-a4")
  })

  it("is such a result where its reply did not go on", () => {
    assert.notInclude(findings("u1-a1@m(A)-a2@m(B)-rB a1-rA"), "late-result")
  })
})

describe("A late result", () => {
  it("that no call is known for is late by what it hangs on", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B)-rB-a3-u2 a1-r9(Z)").split("-").at(-1), "u2")
  })

  it("is none where the turns that followed were snipped", () => {
    assert.notInclude(findings("u1-a1@m(A)-a2@m(B)-rB-a3 N1{a3} a1-rA"), "late-result")
  })
})

describe("A `last-prompt`", () => {
  const twoBranches = "u1-a1-u2-a2 a1-u3-a3"

  it("chooses a branch", () => {
    assert.strictEqual(recovers(`${twoBranches} !a2`), "u1-a1-u2-a2")
    assert.strictEqual(rest(`${twoBranches} !a2`), "a3<a1 ×2")
  })

  it("counts as the last one that names a leaf", () => {
    assert.strictEqual(recovers(`${twoBranches} !a3 !a2`), "u1-a1-u2-a2")
    assert.strictEqual(recovers(`${twoBranches} !a2 !a3`), "u1-a1-u3-a3")
    const bodies = { q1: { type: "last-prompt", lastPrompt: "go on" } }
    assert.strictEqual(recovers(`${twoBranches} !a2 q1`, { bodies }), "u1-a1-u2-a2")
  })

  it("counts whichever session wrote it", () => {
    const bodies = { q1: { type: "last-prompt", leafUuid: "a2", sessionId: "another" } }
    assert.strictEqual(recovers(`${twoBranches} q1`, { bodies }), "u1-a1-u2-a2")
  })

  it("may name a message that is written after it", () => {
    assert.strictEqual(recovers("u1-a1-u3-a3 a1-u2 !a2 u2-a2"), "u1-a1-u2-a2")
  })

  it("yields to the default leaf where it lies on that one's chain", () => {
    assert.strictEqual(recovers("u1-a1 !a1 a1-u2-a2"), "u1-a1-u2-a2")
    assert.strictEqual(recovers("u1-a1 !a1 a1-u2-a2 a1-u3-a3"), "u1-a1-u3-a3")
    assert.strictEqual(findings("u1-a1 !a1 a1-u2-a2"), "")
  })

  it("is reset by a boundary that comes later", () => {
    assert.strictEqual(recovers(`${twoBranches} !a2 B1-S1-u4`), "B1-S1-u4")
    assert.strictEqual(findings(`${twoBranches} !a2 B1-S1-u4`), "")
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-u3-a3 B1-S1-u4 !a2"), "u1-a1-u2-a2")
  })

  it("is outranked by messages that were written after it on another branch", () => {
    assert.strictEqual(recovers(`${twoBranches} !a2 a3-u4`), "u1-a1-u3-a3-u4")
    assert.strictEqual(findings(`${twoBranches} !a2 a3-u4`), "last-prompt-outranked a2")
    assert.strictEqual(recovers(`u1-a1-u2-a2 !a2 a1-u3-a3`), "u1-a1-u3-a3")
  })

  it("is not outranked by messages that were written after it on its own branch", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-u3-a3 a2-t1 !a3 a3-u4"), "u1-a1-u3-a3-u4")
  })

  it("is not outranked by metadata, links, sidechains or damage after it", () => {
    assert.strictEqual(recovers(`${twoBranches} !a2 a3-p1 u9~abc ?`), "u1-a1-u2-a2")
  })

  it("is not outranked by a late result in a round of its own branch", () => {
    assert.strictEqual(recovers("u1-a1@m(A)-a2@m(B)-rB-a3 u1-u9 !a3 a1-rA"), "u1-a1-a2-rA-rB-a3")
  })

  it("that names a message in no line leaves the default, and is reported", () => {
    assert.strictEqual(recovers(`${twoBranches} !x9`), "u1-a1-u3-a3")
    assert.strictEqual(findings(`${twoBranches} !x9`), "last-prompt-unknown x9")
  })

  it("with an empty leaf says nothing", () => {
    const bodies = { q1: { type: "last-prompt", leafUuid: "" } }
    assert.strictEqual(recovers(`${twoBranches} !a2 q1`, { bodies }), "u1-a1-u2-a2")
  })

  it("ends a diverged hydrate: it names the local leaf, and the remote's lines are a branch", () => {
    // Local u1-a1-u2-a2; the remote's u3-a3 was appended, then the local leaf restated.
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-u3-a3 !a2"), "u1-a1-u2-a2")
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-u3-a3 !a2 a2-u4-a4"), "u1-a1-u2-a2-u4-a4")
  })
})

describe("A rewind", () => {
  it("is one system line whose parent is the target: the conversation goes on from there", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-w1"), "u1-a1-w1")
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-w1-u3-a3"), "u1-a1-w1-u3-a3")
    assert.strictEqual(rest("u1-a1-u2-a2 a1-w1"), "a2<a1 ×2")
  })

  it("is never sent to the model", () => {
    assert.strictEqual(view("u1-a1-u2-a2 a1-w1-u3"), "u[u1] a[a1] u[u3]")
    assert.strictEqual(omitted("u1-a1-u2-a2 a1-w1-u3"), "w1:system")
  })

  it("holds against a `last-prompt` from before it, also when the process was killed right then", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 !a2 a1-w1"), "u1-a1-w1")
    assert.strictEqual(recovers("u1-a1-u2-a2 !a2 a1-w1-u3"), "u1-a1-w1-u3")
  })

  it("is undone by another one to the abandoned branch's leaf", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-w1 a2-w2"), "u1-a1-u2-a2-w2")
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-w1-u3-a3 a2-w2-u4"), "u1-a1-u2-a2-w2-u4")
    assert.strictEqual(rest("u1-a1-u2-a2 a1-w1-u3-a3 a2-w2-u4"), "a3<a1 ×3")
  })

  it("agrees with a `last-prompt` that is restated on the new chain", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 !a2 a1-w1 !w1"), "u1-a1-w1")
  })

  it("across a boundary goes back to the conversation before it", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1-S1-u3-a3 a1-w1-u4"), "u1-a1-w1-u4")
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{a2>S1}-S1-u3-a3 a1-w1-u4"), "u1-a1-w1-u4")
  })
})

describe("The caller", () => {
  const picture = "u1-a1-u2-a2 a1-u3-a3 !a2"

  it("may ask for the newest leaf, whatever a `last-prompt` says", () => {
    assert.strictEqual(recovers(picture, { leaf: "newest" }), "u1-a1-u3-a3")
    assert.strictEqual(findings(picture, { leaf: "newest" }), "")
  })

  it("may ask for the log's own choice", () => {
    assert.strictEqual(recovers(picture, { leaf: "last-prompt" }), "u1-a1-u2-a2")
  })

  it("may name any message as the leaf", () => {
    assert.strictEqual(recovers(picture, { leaf: { uuid: "a3" } }), "u1-a1-u3-a3")
    assert.strictEqual(recovers(picture, { leaf: { uuid: "u2" } }), "u1-a1-u2")
    assert.strictEqual(rest(picture, { leaf: { uuid: "u2" } }), "a3<a1 ×2; a2<u2 ×1")
  })

  it("sees all other branches, with leaf, fork point and length: nothing hides", () => {
    assert.strictEqual(rest("u1-a1-u2-a2 a1-u3 u9 a2-u4-a4 a3^u3"), "a4<a1 ×4; u9<root ×1")
  })
})

describe("Conversation.chain", () => {
  it("is the way from the root to the leaf", () => {
    const graph = written("u1-a1-u2 a1-u3")
    assert.strictEqual(names(graph, Conversation.chain(graph, graph.byId.get("u3")!)), "u1-a1-u3")
    assert.deepStrictEqual(Conversation.chain(graph, -1), [])
  })

  it("ends on a graph that was not repaired", () => {
    const graph = written("u1^a1-a1-u2")
    assert.strictEqual(names(graph, pathTo(graph, "u2")), "u1-a1-u2")
  })
})

describe("Conversation.descendsFrom", () => {
  it("holds for a node, and for what hangs below it", () => {
    const graph = written("u1-a1-u2 a1-u3 u4^u4")
    const is = (node: string, ancestor: string) =>
      Conversation.descendsFrom(graph, graph.byId.get(node)!, graph.byId.get(ancestor)!)
    assert.isTrue(is("u3", "u1"))
    assert.isTrue(is("u3", "u3"))
    assert.isFalse(is("u3", "u2"))
    assert.isFalse(is("u1", "u3"))
    assert.isFalse(is("u4", "u1"))
    assert.isFalse(Conversation.descendsFrom(graph, -1, 0))
  })
})

describe("A line for people", () => {
  it("with the subtype of a rewind is none when it is not meta", () => {
    const bodies = { s1: Message.informational("limit", { isMeta: false }) }
    assert.strictEqual(recovers("u1-a1-u2-a2-s1", { bodies }), "u1-a1-u2-a2-s1")
    assert.lengthOf(lines("s1", bodies), 1)
  })
})
