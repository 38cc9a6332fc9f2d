import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as Consistency from "@reprise/recovery/Consistency"
import { type Bodies, findings, log, places, recover, recovers } from "./picture.ts"

/** System lines that state how many entries stood before them. */
const counts = (stated: { readonly [name: string]: number }): Bodies =>
  Object.fromEntries(
    Object.entries(stated).map(([name, messageCount]) => [name, Message.turnDuration({ durationMs: 10, messageCount })])
  )
const check = (picture: string, stated: { readonly [name: string]: number }): Consistency.Consistency =>
  recover(picture, { bodies: counts(stated) }).consistency

const agrees = (checked: number, unchecked = 0) => ({ checked, unchecked, drift: [] })

describe("A checkpoint", () => {
  it("states the number of entries of the conversation before it, which is its index", () => {
    assert.deepStrictEqual(check("u1-a1-s1", { s1: 2 }), agrees(1))
    assert.deepStrictEqual(check("u1-a1-s1-u2-a2-s2", { s1: 2, s2: 5 }), agrees(2))
  })

  it("counts attachments and system lines", () => {
    assert.deepStrictEqual(check("u1-t1-m1-a1-s9-s1", { s1: 5 }), agrees(1))
  })

  it("counts what parallel calls put beside the chain: all parts, results and notes of the round", () => {
    assert.deepStrictEqual(check("u1-a1@m(A)-a2@m(B) a1-rA-t1 a2-rB-a3-s1", { s1: 7 }), agrees(1))
    assert.deepStrictEqual(check("u1-a1(A)-rA-m1 rA-a2-s1", { s1: 5 }), agrees(1))
  })

  it("counts from the last boundary, where there is one", () => {
    assert.deepStrictEqual(check("u1-a1-u2-a2 B1-S1-u3-a3-s1", { s1: 4 }), agrees(1))
    assert.deepStrictEqual(check("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3-s1", { s1: 6 }), agrees(1))
  })

  it("agrees from the whole log and from the log up to its line", () => {
    const picture = "u1-a1@m(A)-a2@m(B) a1-rA a2-rB-a3-s1"
    assert.deepStrictEqual(check(picture, { s1: 6 }), agrees(1))
    assert.deepStrictEqual(check(`${picture}-u2-a4-s2`, { s1: 6, s2: 9 }), agrees(2))
  })

  it("that is not on the conversation is unchecked", () => {
    assert.deepStrictEqual(check("u1-a1-s1 u1-a2", { s1: 7 }), agrees(0, 1))
    assert.deepStrictEqual(check("u1-a1-s1 B1-S1-a2-s2", { s1: 7, s2: 3 }), agrees(1, 1))
  })

  it("that a later compaction keeps counted another conversation, and is unchecked", () => {
    assert.deepStrictEqual(check("u1-a1-s1 B1{a1,s1>S1}-S1-a2-s2", { s1: 2, s2: 5 }), agrees(1, 1))
  })

  it("of a sidechain is not compared with the main lane", () => {
    assert.deepStrictEqual(check("u1-a1-s1~abc", { s1: 7 }), agrees(0))
  })

  it("is a turn's end that states a count, and nothing else", () => {
    const entry = (more: object) => ({ type: "system", uuid: "s1", ...more }) as Entry.Message
    assert.strictEqual(Consistency.countOf(entry({ subtype: "turn_duration", messageCount: 3 })), 3)
    assert.strictEqual(Consistency.countOf(entry({ subtype: "turn_duration", messageCount: 0 })), 0)
    assert.isUndefined(Consistency.countOf(entry({ subtype: "turn_duration" })))
    assert.isUndefined(Consistency.countOf(entry({ subtype: "turn_duration", messageCount: "3" })))
    assert.isUndefined(Consistency.countOf(entry({ subtype: "away_summary", messageCount: 3 })))
    assert.isUndefined(Consistency.countOf({ ...entry({}), type: "user", message: { content: "" } } as Entry.Message))
  })
})

describe("Drift", () => {
  it("names the checkpoint, what it expected and what was found", () => {
    assert.deepStrictEqual(check("u1-a1-s1", { s1: 5 }).drift, [{ uuid: "s1", expected: 5, found: 2 }])
  })

  it("is a finding and never an error: the conversation stands", () => {
    const bodies = counts({ s1: 5 })
    assert.strictEqual(recovers("u1-a1-s1-u2", { bodies }), "u1-a1-s1-u2")
    assert.strictEqual(findings("u1-a1-s1-u2", { bodies }), "drift s1 5≠2")
    assert.strictEqual(recover("u1-a1-s1", { bodies }).findings[0]?.severity, "note")
  })

  it("shows one result that is gone before the checkpoint as a difference of one", () => {
    assert.deepStrictEqual(check("u1-a1@m(A)-a2@m(B)-rB-a3-s1", { s1: 6 }).drift, [
      { uuid: "s1", expected: 6, found: 5 }
    ])
  })

  it("shows only at those checkpoints that differ", () => {
    assert.deepStrictEqual(check("u1-a1-s1-u2-a2-s2-u3-s3", { s1: 2, s2: 9, s3: 7 }), {
      checked: 3,
      unchecked: 0,
      drift: [{ uuid: "s2", expected: 9, found: 5 }]
    })
  })

  it("is reported at the line of the checkpoint", () => {
    const bodies = counts({ s1: 5 })
    assert.strictEqual(places(recover("u1-a1-s1", { bodies }).findings, log("u1-a1-s1", { bodies })), "drift@s1")
  })
})

describe("Consistency.check", () => {
  it("has nothing to check in a log without checkpoints", () => {
    assert.deepStrictEqual(Consistency.check([], []), agrees(0))
    assert.deepStrictEqual(check("u1-a1-s1", {}), agrees(0))
    assert.deepStrictEqual(Consistency.findings(agrees(3)), [])
  })
})
