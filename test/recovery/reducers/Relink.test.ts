import { assert, describe, it } from "@effect/vitest"
import * as Boundary from "@reprise/domain/Boundary"
import * as Progress from "@reprise/recovery/reducers/Progress"
import * as Relink from "@reprise/recovery/reducers/Relink"
import * as Reparent from "@reprise/recovery/reducers/Reparent"
import type { SessionGraph } from "@reprise/recovery/SessionGraph"
import {
  findings,
  inTime,
  links,
  log,
  names,
  type Options,
  places,
  recover,
  recovers,
  rest,
  written
} from "../picture.ts"

const before = (picture: string, options: Options = {}): SessionGraph =>
  Reparent.reduce(Progress.reduce(written(picture, options)))

const reduced = (picture: string, options: Options = {}): SessionGraph => {
  const graph = Relink.reduce(before(picture, options))
  assert.isTrue(Relink.isReduced(graph), "is reduced after")
  const twice = Relink.reduce(graph)
  assert.strictEqual(links(twice), links(graph), "twice is once")
  assert.deepStrictEqual(twice.compaction, graph.compaction, "twice keeps the same")
  assert.deepStrictEqual(twice.findings, graph.findings, "twice reports once")
  return graph
}
const reduces = (picture: string, options: Options = {}): string => links(reduced(picture, options))

/** `B1: u2-a2`, the boundary that counts and what it keeps. */
const compaction = (picture: string): string => {
  const graph = reduced(picture)
  if (graph.compaction === undefined) return "none"
  return `${graph.nodes.get(graph.compaction.boundary)!.uuid}: ${names(graph, graph.compaction.kept)}`
}

const kept = "u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3"

describe("Relink", () => {
  it("links the first kept message to the anchor and each next one to the one before, and moves the anchor's other children to the last", () => {
    assert.strictEqual(links(before(kept)), "u1 u1-a1 a1-u2 u2-a2 B1 B1-S1 S1-u3 u3-a3")
    assert.strictEqual(reduces(kept), "u1 u1-a1 S1-u2 u2-a2 B1 B1-S1 a2-u3 u3-a3")
    assert.strictEqual(compaction(kept), "B1: u2-a2")
  })

  it("is not reduced before, and is afterwards", () => {
    assert.isFalse(Relink.isReduced(before(kept)))
    for (const picture of ["", "u1", "u1-a1", "u1-a1 B1"]) {
      assert.isTrue(Relink.isReduced(before(picture)), picture)
      reduces(picture)
    }
  })

  it("is not reduced where the boundary that counts is not found yet, or another one is", () => {
    assert.isFalse(Relink.isReduced(before("u1-a1 B1-S1-u2")))
    const graph = reduced(kept)
    assert.isFalse(Relink.isReduced({ ...graph, compaction: undefined }))
    assert.isFalse(Relink.isReduced({ ...graph, compaction: { ...graph.compaction!, kept: [] } }))
    assert.isFalse(Relink.isReduced({ ...graph, compaction: { ...graph.compaction!, boundary: 0 } }))
    assert.isFalse(Relink.isReduced({ ...before("u1-a1"), compaction: graph.compaction }))
  })

  it("keeps a segment, walked from its tail to its head, as it keeps a list", () => {
    assert.strictEqual(reduces("u1-a1-u2-a2 B1{u2..a2>S1}-S1-u3-a3"), reduces(kept))
  })

  it("keeps a segment of one message", () => {
    assert.strictEqual(recovers("u1-a1 B1{a1..a1>S1}-S1-u2"), "B1-S1-a1-u2")
  })

  it("goes by the list where list and segment disagree", () => {
    const bodies = {
      B1: {
        ...Boundary.compact({ trigger: "auto", preTokens: 1, logicalParentUuid: "a2" }),
        compactMetadata: {
          preservedSegment: { headUuid: "u1", anchorUuid: "S1", tailUuid: "a2" },
          preservedMessages: { anchorUuid: "S1", uuids: ["a2"] }
        }
      }
    }
    assert.strictEqual(recovers("u1-a1-u2-a2 B1-S1-u3", { bodies }), "B1-S1-a2-u3")
  })

  it("ignores `allUuids`", () => {
    const preservedMessages = { anchorUuid: "S1", uuids: ["u2", "a2"], allUuids: ["x1", "u2", "x2", "a2"] }
    const bodies = { B1: { compactMetadata: { preservedMessages } } }
    assert.strictEqual(recovers(kept, { bodies }), "B1-S1-u2-a2-u3-a3")
    assert.strictEqual(findings(kept, { bodies }), "")
  })

  it("keeps them in listed order", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{a2,u1>S1}-S1-u3"), "B1-S1-a2-u1-u3")
  })

  it("keeps a message once that is listed twice", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2,u2>S1}-S1-u3"), "B1-S1-u2-a2-u3")
  })

  it("hangs later children of pruned messages on the last kept one", () => {
    assert.strictEqual(reduces("u1-a1-u2-a2 B1{u2,a2>S1}-S1 a1-u3"), "u1 u1-a1 S1-u2 u2-a2 B1 B1-S1 a2-u3")
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2>S1}-S1 u1-t1-u3"), "B1-S1-u2-a2-t1-u3")
  })

  it("goes on at the last kept message when nothing was said since", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2>S1}-S1"), "B1-S1-u2-a2")
  })

  // OPEN: gives "B1-S1-u1-a1-u2-a2": from a kept message it goes on down to what hung on it before the boundary.
  it("goes on at the last kept message, and not at what hung on it and was not kept", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u1,a1>S1}-S1"), "B1-S1-u1-a1")
    assert.strictEqual(rest("u1-a1-u2-a2 B1{u1,a1>S1}-S1"), "archived 2")
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u1..a1>S1}-S1"), "B1-S1-u1-a1")
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u1,a1>S1}-S1-u3"), "B1-S1-u1-a1-u3")
  })

  it("leaves a message where it is that already hangs on the last kept one", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2>S1}-S1 a2-u3"), "B1-S1-u2-a2-u3")
  })

  it("gives the same when the kept lines were written again after the boundary, linked or not", () => {
    const linked = "u1-a1-u2-a2 B1{u2,a2>S1}-S1-u2-a2-u3-a3"
    assert.strictEqual(recovers(linked), "B1-S1-u2-a2-u3-a3")
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2>S1}-S1 a1-u2-a2-u3-a3"), "B1-S1-u2-a2-u3-a3")
    assert.strictEqual(rest(linked), rest(kept))
  })

  it("gives the same when the kept lines stand only after the boundary", () => {
    assert.strictEqual(recovers("B1{a2,u2>S1}-S1-u2-a2 S1-u3"), "B1-S1-a2-u2-u3")
    assert.strictEqual(recovers("u1-a1 B1{u2,a2>S1}-S1-u2-a2-u3"), "B1-S1-u2-a2-u3")
    assert.strictEqual(reduces("B1{u2,a2>S1}-S1-u2-a2-u3"), "B1 B1-S1 S1-u2 u2-a2 a2-u3")
  })

  it("with the boundary as anchor puts the kept messages between boundary and summary", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2>B1}-S1-u3"), "B1-u2-a2-S1-u3")
  })

  it("keeps attachments between boundary and summary in front of the summary", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2,a2>S1}-t1-S1-t2-u3"), "B1-t1-S1-u2-a2-t2-u3")
  })

  it("does nothing for an empty list", () => {
    assert.strictEqual(recovers("u1-a1 B1{>S1}-S1-u2"), "B1-S1-u2")
  })

  it("does nothing for a microcompact boundary: it changes no link", () => {
    const bodies = {
      B1: { type: "system", subtype: "microcompact_boundary", microcompactMetadata: { trigger: "auto" } }
    }
    assert.strictEqual(recovers("u1-a1-B1-u2", { bodies }), "u1-a1-B1-u2")
    assert.strictEqual(links(Relink.reduce(before("u1-a1-B1-u2", { bodies }))), "u1 u1-a1 a1-B1 B1-u2")
  })

  it("keeps half of a call pair as it is listed", () => {
    assert.strictEqual(recovers("u1-a1(A)-rA-a2 B1{rA,a2>S1}-S1-u3"), "B1-S1-rA-a2-u3")
  })

  it("keeps an earlier boundary and its summary where they are listed", () => {
    assert.strictEqual(recovers("u1-a1 B1-S1-u2-a2 B2{B1,S1,u2,a2>S2}-S2-u3"), "B2-S2-B1-S1-u2-a2-u3")
  })

  it("never keeps the boundary itself", () => {
    assert.strictEqual(recovers("u1-a1 B1{B1,a1>S1}-S1-u2"), "B1-S1-a1-u2")
  })

  it("ends, whatever a record names, with each message once and none lost", () => {
    for (const picture of [
      "B1{u2>u2}-S1-u2",
      "B1{u2>u3}-S1-u2-u3",
      "B1{S1,u2>u3}-S1-u2-u3",
      "u1-a1 B1{S1,a1>S1}-S1-u2",
      "u1-a1 B1{u1,a1>u1}-S1-u2",
      "u1-a1-u2-a2 B1{a1..a2>u2}-S1-u3",
      "B1{B1..B1>S1}-S1-u1",
      "u1 B1^u1{u2,u1>x9} B1-u2",
      "u1-a1 B1{a1>S1}-S1^a1-u2",
      "u1-a1 B1{S2>S1}-S1-u2 B2{S1>S2}-S2-u3",
      "u1-a1-B1{a1>B2}-S1-u2-B2{u2,B1>B1}-S2"
    ]) {
      const { archived, branches, conversation, messages } = inTime(() => recover(picture))
      assert.strictEqual(new Set(conversation).size, conversation.length, picture)
      const onBranches = branches.reduce((sum, { entries }) => sum + entries, 0)
      assert.strictEqual(conversation.length + archived + onBranches, messages, picture)
      reduced(picture)
    }
  })

  it("keeps the parent of a boundary that has one", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2-B1{a2>S1}-S1-u3"), "B1-S1-a2-u3")
    assert.strictEqual(recovers("u1-a1-B1{u1,a1>B1}-S1-u2"), "B1-u1-a1-S1-u2")
  })
})

describe("A broken record", () => {
  it("of which some listed messages are missing keeps those that exist, in order", () => {
    const picture = "u1-a1-u2-a2 B1{u2,x9,a2>S1}-S1-u3"
    assert.strictEqual(recovers(picture), "B1-S1-u2-a2-u3")
    assert.strictEqual(findings(picture), "preserved-missing B1 x9")
    assert.strictEqual(places(reduced(picture).findings, log(picture)), "preserved-missing@B1")
  })

  it("of which all are missing keeps none and still starts at the boundary", () => {
    assert.strictEqual(recovers("u1-a1 B1{x8,x9>S1}-S1-u2"), "B1-S1-u2")
    assert.strictEqual(findings("u1-a1 B1{x8,x9>S1}-S1-u2"), "preserved-missing B1 x8,x9")
  })

  it("with a segment whose head is not reachable from its tail keeps none and still starts at the boundary", () => {
    const picture = "u1-a1-u2-a2 B1{a2..u2>S1}-S1-u3"
    assert.strictEqual(recovers(picture), "B1-S1-u3")
    assert.strictEqual(findings(picture), "preserved-broken B1")
    assert.strictEqual(rest(picture), "archived 4")
    assert.strictEqual(places(reduced(picture).findings, log(picture)), "preserved-broken@B1")
  })

  it("with a segment whose head or tail is in no line likewise", () => {
    for (const segment of ["u2..x9", "x9..a2", "x8..x9"]) {
      assert.strictEqual(recovers(`u1-a1-u2-a2 B1{${segment}>S1}-S1-u3`), "B1-S1-u3", segment)
      assert.strictEqual(findings(`u1-a1-u2-a2 B1{${segment}>S1}-S1-u3`), "preserved-broken B1", segment)
    }
  })

  it("that keeps none starts at the boundary also where the next message hangs before it", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 B1{u2..x9>S1}-S1 a2-u3-a3"), "B1-S1-u3-a3")
  })

  it("whose anchor is missing hangs the first kept message on the summary", () => {
    const picture = "u1-a1-u2-a2 B1{u2,a2>x9}-S1-u3"
    assert.strictEqual(recovers(picture), "B1-S1-u2-a2-u3")
    assert.strictEqual(findings(picture), "anchor-missing B1>S1")
    assert.strictEqual(places(reduced(picture).findings, log(picture)), "anchor-missing@B1")
  })

  it("whose anchor is missing finds the summary behind attachments", () => {
    assert.strictEqual(recovers("u1-a1 B1{a1>x9}-t1-S1-u2"), "B1-t1-S1-a1-u2")
  })
})
