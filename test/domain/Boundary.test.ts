import { assert, describe, it } from "@effect/vitest"
import * as Boundary from "@reprise/domain/Boundary"
import * as Message from "@reprise/domain/Message"
import * as Schema from "effect/Schema"

const isSystem = Schema.is(Message.System)
const isUser = Schema.is(Message.User)
const stamp = <B>(body: B) => ({ uuid: "s1", parentUuid: null, ...body })

const boundary = (compactMetadata: unknown) => ({
  type: "system",
  subtype: "compact_boundary",
  uuid: "s1",
  parentUuid: null,
  compactMetadata
})
const segment = { headUuid: "u1", anchorUuid: "u9", tailUuid: "a1" }
const messages = { anchorUuid: "u9", uuids: ["u2", "a2"], allUuids: ["u2", "a2", "x"] }

describe("Boundary.preserved", () => {
  it("reads the list of ids", () => {
    assert.deepStrictEqual(Boundary.preserved(boundary({ preservedMessages: messages })), {
      kind: "messages",
      anchor: "u9",
      uuids: ["u2", "a2"]
    })
  })

  it("reads the segment", () => {
    assert.deepStrictEqual(Boundary.preserved(boundary({ preservedSegment: segment })), {
      kind: "segment",
      head: "u1",
      anchor: "u9",
      tail: "a1"
    })
  })

  it("the list wins over the segment", () => {
    const both = boundary({ preservedSegment: segment, preservedMessages: messages })
    assert.strictEqual(Boundary.preserved(both)?.kind, "messages")
  })

  it("a list that does not fit leaves the segment", () => {
    for (const odd of [null, {}, { anchorUuid: "u9" }, { anchorUuid: "u9", uuids: [7] }, "u9"]) {
      const both = boundary({ preservedSegment: segment, preservedMessages: odd })
      assert.strictEqual(Boundary.preserved(both)?.kind, "segment")
    }
  })

  it("nothing is preserved without a record that fits", () => {
    for (const odd of [undefined, null, {}, [], "x", { preservedSegment: { headUuid: "u1" } }]) {
      assert.isUndefined(Boundary.preserved(boundary(odd)))
    }
    assert.isUndefined(Boundary.preserved({ ...boundary({ preservedMessages: messages }), subtype: "other" }))
  })

  it("an empty list is a list", () => {
    assert.deepStrictEqual(Boundary.preserved(boundary({ preservedMessages: { anchorUuid: "u9", uuids: [] } })), {
      kind: "messages",
      anchor: "u9",
      uuids: []
    })
  })
})

describe("Boundary.removed", () => {
  const snip = (snipMetadata: unknown) => ({ type: "system", subtype: "snip_boundary", uuid: "s1", snipMetadata })

  it("reads the ids", () => {
    assert.deepStrictEqual(Boundary.removed(snip({ removedUuids: ["u1", "a1"] })), ["u1", "a1"])
  })

  it("a snip that names nothing removes nothing", () => {
    for (const odd of [undefined, null, {}, { removedUuids: null }, { removedUuids: [7, null] }]) {
      assert.deepStrictEqual(Boundary.removed(snip(odd)), [])
    }
  })

  it("only a snip boundary removes", () => {
    assert.isUndefined(Boundary.removed({ type: "user", uuid: "u1", snipMetadata: { removedUuids: ["a1"] } }))
    assert.isUndefined(Boundary.removed({ type: "system", subtype: "compact_boundary" }))
  })
})

describe("Boundary readers", () => {
  it.prop("are total", { value: Schema.Json, metadata: Schema.Json }, ({ metadata, value }) => {
    for (const entry of [
      value,
      boundary(metadata),
      { type: "system", subtype: "snip_boundary", snipMetadata: value }
    ]) {
      Boundary.preserved(entry)
      Boundary.removed(entry)
      Boundary.isCompact(entry)
      Boundary.isSnip(entry)
      Boundary.isCompactSummary(entry)
    }
  })

  it("know their entries", () => {
    assert.isTrue(Boundary.isCompact({ type: "system", subtype: "compact_boundary" }))
    assert.isFalse(Boundary.isCompact({ type: "system", subtype: "microcompact_boundary" }))
    assert.isTrue(Boundary.isSnip({ type: "system", subtype: "snip_boundary" }))
    assert.isTrue(Boundary.isCompactSummary({ type: "user", isCompactSummary: true }))
    assert.isFalse(Boundary.isCompactSummary({ type: "user", isCompactSummary: "true" }))
    assert.isFalse(Boundary.isCompactSummary(null))
  })
})

describe("Boundary constructors", () => {
  const Ids = Schema.Array(Schema.String)

  it.prop("compact writes both forms, and they say the same", { anchor: Schema.String, uuids: Ids }, (sample) => {
    const body: Message.MessageBody = Boundary.compact({
      trigger: "auto",
      preTokens: 1000,
      logicalParentUuid: "a9",
      preserved: sample
    })
    const entry = stamp(body)
    assert.isTrue(isSystem(entry))
    assert.isTrue(Boundary.isCompact(entry))
    if (sample.uuids.length === 0) return assert.isUndefined(Boundary.preserved(entry))
    assert.deepStrictEqual(Boundary.preserved(entry), { kind: "messages", ...sample })
    const { preservedMessages: _, ...rest } = (entry as Message.System).compactMetadata ?? {}
    assert.deepStrictEqual<unknown>(Boundary.preserved({ ...entry, compactMetadata: rest }), {
      kind: "segment",
      head: sample.uuids[0],
      anchor: sample.anchor,
      tail: sample.uuids.at(-1)
    })
  })

  it("compact writes its keys in the client's order", () => {
    assert.deepStrictEqual(
      Object.keys(Boundary.compact({ trigger: "manual", preTokens: 10, logicalParentUuid: null })),
      ["logicalParentUuid", "type", "subtype", "content", "isMeta", "level", "compactMetadata"]
    )
  })

  it("compactSummary makes a user entry that is known as a summary", () => {
    const body: Message.MessageBody = Boundary.compactSummary("what went before")
    assert.isTrue(isUser(stamp(body)))
    assert.isTrue(Boundary.isCompactSummary(body))
    assert.deepStrictEqual(Object.keys(body), ["type", "message", "isVisibleInTranscriptOnly", "isCompactSummary"])
  })

  it("snip names what it removes", () => {
    const body: Message.MessageBody = Boundary.snip(["u1", "a1"])
    assert.isTrue(isSystem(stamp(body)))
    assert.deepStrictEqual(Boundary.removed(body), ["u1", "a1"])
  })

  it("a micro-compact boundary fits", () => {
    const microcompactMetadata = {
      trigger: "auto",
      preTokens: 9,
      tokensSaved: 4,
      compactedToolIds: ["T1"],
      clearedAttachmentUUIDs: []
    }
    assert.isTrue(isSystem(stamp({ type: "system", subtype: "microcompact_boundary", microcompactMetadata })))
  })
})
