import * as Checkup from "@reprise/cli/Checkup"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Notation from "@reprise/domain/testing/Notation"
import type * as Lanes from "@reprise/recovery/Lanes"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const check = (log: string | Uint8Array, lane: Lanes.Choice = "main"): Checkup.Checkup =>
  Projection.fold(Checkup.projection(lane), Line.decodeAll(typeof log === "string" ? Notation.bytes(log) : log))

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe("a checkup", () => {
  it("counts what became of every message", () => {
    const checkup = check("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3-N1{u3,a3}-u4-a4 u4-a5 u4-a6-u7 u8~ab-a8~ab")
    assert.deepStrictEqual(checkup.sum, {
      messages: 14,
      conversation: 8,
      archived: 2,
      removed: 2,
      onBranches: 2,
      branches: 2
    })
    assert.deepInclude(checkup, { written: 16, sidechains: 2, holds: true, isTranscript: true })
  })

  it("counts findings by kind, and those of the model view", () => {
    const { findings } = check("u1-a1 x9-u2 x8-u3-a3(A)")
    assert.deepStrictEqual(
      [...findings],
      [
        { kind: "missing-parent", severity: "repair", count: 2 },
        { kind: "unresolved-call", severity: "note", count: 1 }
      ]
    )
  })

  it("keeps a gap that is a loss apart from one that is a note", () => {
    const torn = bytes('{"type":"user","uuid":"x9","paren\n')
    const { findings } = check(
      Buffer.concat([Notation.bytes("u1-a1"), torn, Notation.bytes("x9-u2"), Notation.bytes("x8-u3")])
    )
    const gaps = findings.filter(({ kind }) => kind === "gap").map(({ severity }) => severity)
    assert.deepStrictEqual(gaps.toSorted(), ["loss", "note"])
  })

  it("counts loss", () => {
    assert.strictEqual(Checkup.lossOf(check("u1-a1 ? ? u1-u2")), 2)
    assert.strictEqual(Checkup.lossOf(check("u1-a1")), 0)
  })

  it("compares checkpoints", () => {
    const point = (uuid: string, messageCount: number, parentUuid: string) =>
      bytes(`${JSON.stringify({ type: "system", subtype: "turn_duration", messageCount, uuid, parentUuid })}\n`)
    const log = Buffer.concat([
      Notation.bytes("u1-a1"),
      point("d1", 2, "a1"),
      point("d2", 7, "d1"),
      point("d3", 1, "u1")
    ])
    assert.deepStrictEqual(check(log).drift, { checked: 1, unchecked: 2, mismatched: 0 })
    assert.deepStrictEqual(check(log.subarray(0, log.length - point("d3", 1, "u1").length)).drift, {
      checked: 2,
      unchecked: 0,
      mismatched: 1
    })
  })

  it("takes an agent's own log whole", () => {
    assert.deepInclude(check("u1~ab-a1~ab", "sidechain"), { written: 2, sidechains: 0, holds: true })
    assert.deepInclude(check("u1~ab-a1~ab"), { written: 2, sidechains: 2, holds: true })
  })

  it("tells a transcript from what is none", () => {
    assert.isTrue(check("").isTranscript)
    assert.isTrue(check(bytes('{"type":"custom-title","customTitle":"x"}\n')).isTranscript)
    assert.isFalse(check(bytes('{"type":"started","key":"v2:x"}\n{"display":"x"}\n[1]\n')).isTranscript)
  })
})

describe("the sum", () => {
  const words =
    "u1-a1 a1-u2-a2(A) a2-rA a1-u3 x9-u4 u5~ab-a5~ab u5-t1 B1{u2,a2>S1}-S1 S1-u6 N1{u3} u6-N1 u1-u1^x1 ? q1 q1-u7".split(
      " "
    )
  const order = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: words.length - 1 })))

  it.prop("holds for every log, its lines in whatever order", { order }, ({ order }) => {
    const log = Buffer.concat(order.map((word) => Notation.bytes(words[word]!)))
    return check(log).holds && check(log, "sidechain").holds
  })
})
