import { assert, describe, it } from "@effect/vitest"
import * as SessionState from "@reprise/recovery/SessionState"
import { recover, tell } from "./picture.ts"

const leaf = (picture: string): string | undefined => SessionState.leafOf(recover(picture))?.uuid

describe("SessionState.leafOf", () => {
  it("is the last message of the conversation: the parent of whatever is said next", () => {
    assert.strictEqual(leaf("u1-a1"), "a1")
    assert.strictEqual(leaf("u1-a1-u2-a2 a1-w1"), "w1")
    assert.strictEqual(leaf("u1-a1 B1-S1"), "S1")
    assert.strictEqual(leaf("u1-a1-u2-N1{N1,u2}"), "a1")
  })

  // OPEN: gives r2, which is shown last but hangs on u1, so that what is said next below it parts from a1.
  it("leads what is said next to all of the conversation, also where a result hangs beside its call", () => {
    for (const picture of ["u1-r2(A) u1-a1(A)", "u1-a1@m(A)-a2@m(B) a2-rB a1-rA", "u1-a1@m(A)-a2@m(B) a1-rA a2-rB"]) {
      const { conversation } = recover(picture)
      const next = recover(`${picture} ${leaf(picture)}-u9`).conversation
      assert.strictEqual(next.at(-1)?.uuid, "u9", picture)
      assert.sameMembers(
        next.map(({ uuid }) => uuid),
        [...conversation.map(({ uuid }) => uuid), "u9"],
        picture
      )
    }
  })

  it("is nothing where nothing was said", () => {
    assert.isUndefined(leaf(""))
    assert.isUndefined(leaf("p1"))
    assert.isUndefined(leaf("!a1 ?"))
  })
})

describe("SessionState", () => {
  it("of the empty log is empty", () => {
    const state = recover("")
    assert.isUndefined(state.sessionId)
    assert.deepStrictEqual(state.conversation, [])
    assert.deepStrictEqual(state.branches, [])
    assert.deepStrictEqual(state.sidechains, [])
    assert.deepStrictEqual(state.removed, [])
    assert.deepStrictEqual(state.findings, [])
    assert.deepStrictEqual(state.snapshots.pending, [])
    assert.deepStrictEqual(state.consistency, { checked: 0, unchecked: 0, drift: [] })
    assert.deepStrictEqual(state.extent, { byteStart: 0, byteEnd: 0, lines: 0 })
    assert.strictEqual(state.archived, 0)
    assert.strictEqual(state.messages, 0)
  })

  it("holds each message as the entry that was read", () => {
    const [first] = recover("u1-a1", { bodies: { u1: { someday: { kept: true } } } }).conversation
    assert.deepInclude<object>(first!.entry, { someday: { kept: true } })
    assert.strictEqual(first?.at.line, 1)
  })

  it("is equal for equal logs", () => {
    const picture = "u1-p1-a1 x9-u2 B1{u2>S1}-S1-a2@m(A)-a3@m(B) a2-rA a3-rB-a4-N1{x8} !x7 ?"
    assert.deepStrictEqual(recover(picture), recover(picture))
  })
})

describe("SessionState.diff", () => {
  const diff = (before: string, after: string): SessionState.Difference =>
    SessionState.diff(recover(before), recover(after))

  it("of equal states is empty", () => {
    assert.deepStrictEqual(diff("u1-a1 x9-u2", "u1-a1 x9-u2"), {
      gained: [],
      lost: [],
      leaf: undefined,
      archived: 0,
      removed: [],
      metadata: [],
      findings: []
    })
  })

  it("says what the conversation gained, and where it ends now", () => {
    const { gained, leaf, lost, metadata } = diff("u1-a1", "u1-a1-u2-a2")
    assert.deepStrictEqual([gained, lost, leaf], [["u2", "a2"], [], { from: "a1", to: "a2" }])
    assert.include(metadata, "updatedAt")
    assert.notInclude(metadata, "createdAt")
  })

  it("says what it lost: by a rewind, a boundary, a snip", () => {
    assert.deepStrictEqual(diff("u1-a1-u2-a2", "u1-a1-u2-a2 a1-w1").lost, ["u2", "a2"])
    assert.strictEqual(diff("u1-a1", "u1-a1 B1-S1").archived, 2)
    assert.deepStrictEqual(diff("u1-a1-u2", "u1-a1-u2-N1{a1}").removed, ["a1"])
    assert.deepStrictEqual(diff("", "u1").leaf, { from: undefined, to: "u1" })
  })

  it("says which findings are new", () => {
    const { findings } = diff("u1 x9-u2", "u1 x9-u2 x8-u3")
    assert.strictEqual(tell(findings), "missing-parent u3>u2")
  })
})
