import { assert, describe, it } from "@effect/vitest"
import * as Branches from "@reprise/recovery/Branches"
import * as Repair from "@reprise/recovery/Repair"
import { branch, recover, rest, written } from "./picture.ts"

const account = (picture: string): Branches.Account => Branches.account(Repair.repair(written(picture)))
const branches = (picture: string): string => account(picture).branches.map(branch).join("; ")

/** The sum of RECOVERY §9: what is counted, against what the log holds. */
const sum = (picture: string): readonly [number, number] => {
  const { archived, branches, conversation, messages, removed } = recover(picture)
  const onBranches = branches.reduce((total, { entries }) => total + entries, 0)
  return [conversation.length + removed.length + archived + onBranches, messages]
}

describe("Branches.account", () => {
  it("has nothing to tell of a log that is one conversation", () => {
    assert.deepStrictEqual(account("u1-a1-u2"), { removed: [], archived: 0, branches: [] })
    assert.deepStrictEqual(account(""), { removed: [], archived: 0, branches: [] })
  })

  it("lists each branch with its leaf, where it left the conversation, and its length", () => {
    assert.strictEqual(branches("u1-a1-u2-a2 a1-u3-a3"), "a2<a1 ×2")
  })

  it("lists a branch with a root of its own", () => {
    assert.strictEqual(branches("u1-a1 u2"), "a1<root ×2")
  })

  it("says null where a branch leaves nothing", () => {
    assert.deepStrictEqual(account("u1-a1 u2").branches, [{ leaf: "a1", forkPoint: null, entries: 2 }])
  })

  it("lists the newest leaf first", () => {
    assert.strictEqual(branches("u1-a1 u1-a2 u1-a3 u1-a4"), "a3<u1 ×1; a2<u1 ×1; a1<u1 ×1")
  })

  it("counts what two branches share once, with the newer one", () => {
    assert.strictEqual(branches("u1-a1-u2-a2 u2-a3 a1-u4"), "a3<a1 ×2; a2<u2 ×1")
  })

  it("counts a branch below the leaf of the conversation", () => {
    assert.strictEqual(rest("u1-a1-u2-a2", { leaf: { uuid: "a1" } }), "a2<a1 ×2")
  })

  it("counts removed messages as removed, wherever they stood", () => {
    assert.strictEqual(rest("u1-a1-u2-a2 a1-u3-N1{a2,u3}"), "removed a2,u3; u2<a1 ×1")
  })

  it("counts archived messages as archived, on whatever branch they stood", () => {
    const { archived, branches } = account("u1-a1-u2 a1-u3-a3 B1-S1-u4 S1-u5")
    assert.strictEqual(archived, 5)
    assert.strictEqual(branches.map(branch).join(), "u4<S1 ×1")
  })

  it("counts nothing as archived where the conversation passes no boundary", () => {
    assert.strictEqual(rest("u1-a1 B1-S1 a1-u2"), "S1<root ×2")
  })

  it("counts a snipped message from before the boundary as removed", () => {
    assert.strictEqual(rest("u1-a1-u2-a2-N1{u2} B1-S1-u3"), "removed u2; archived 4")
  })

  it("counts a removed boundary as removed, and what it cut off as a branch", () => {
    assert.strictEqual(rest("u1-a1 B1-S1-u2-N1{B1}"), "removed B1; a1<root ×2")
  })
})

describe("The sum", () => {
  it("of conversation, branches, archived and removed messages is the messages of the log", () => {
    for (const picture of [
      "",
      "s1",
      "p1-p2",
      "u1-a1-u2",
      "u1-a1-u2-a2 a1-u3-a3 u9",
      "u1-a1-u1-a1-u2",
      "u1-a1 x9-u2 u3^u3 u4^a4-a4",
      "u1-a1-u2~abc-a2~abc-u3",
      "u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3 a1-w1-u4",
      "u1-a1-u2-a2 B1{u2,x9,a2>x8}-S1-u3 B2 x7-u4",
      "u1-a1-u2-a2-N1{u2,a2}-u3-N2{x9,N1}",
      "u1-a1-u2 B1{u2>S1}-S1-N1{B1,u2}-u3",
      "u1-a1@m(A)-a2@m(B) a1-rA-t1 a2-rB-a3 a3-r9(A) rA-m1-u8",
      "B1{u1>B1}-S1-u1 u2-B2{S1>x1}-S2 S1-u3"
    ]) {
      const [counted, messages] = sum(picture)
      assert.strictEqual(counted, messages, picture)
    }
  })

  it("counts each id once, however often it stands in the log", () => {
    assert.deepStrictEqual(sum("u1-a1-u1-a1-u1"), [2, 2])
  })

  it("counts messages, and neither links nor metadata", () => {
    assert.deepStrictEqual(sum("u1-p1-q1-a1 !a1 ?"), [2, 2])
  })

  it("holds at every line of a log", () => {
    const words = "u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3 a1-w1-u4-a4-N1{a4} a3-w2-u5".split(" ")
    for (let n = 0; n <= words.length; n++) {
      const [counted, messages] = sum(words.slice(0, n).join(" "))
      assert.strictEqual(counted, messages)
    }
  })
})
