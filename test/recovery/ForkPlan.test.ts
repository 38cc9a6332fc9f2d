/** What a fork copies, as pictures: the steps in their order, each with what it hangs on. */
import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as Snapshot from "@reprise/domain/Snapshot"
import * as Notation from "@reprise/domain/testing/Notation"
import * as ForkPlan from "@reprise/recovery/ForkPlan"
import { Result } from "effect"

const encoder = new TextEncoder()
const bytesOf = (picture: string, ...entries: ReadonlyArray<object>): Uint8Array => {
  const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")
  return new Uint8Array([...Notation.bytes(picture), ...encoder.encode(lines)])
}

const planOf = (bytes: Uint8Array, at?: string) =>
  Projection.fold(ForkPlan.projection(at === undefined ? {} : { at }), Line.decodeAll(bytes))

/** The steps: `a1<u1` for a message on its parent, the type of whatever stands beside them. */
const drawn = (bytes: Uint8Array, at?: string): string => {
  const plan = Result.getOrThrow(planOf(bytes, at))
  return plan.steps
    .map((step) => {
      if (step._tag === "Message") return step.parent === null ? step.uuid : `${step.uuid}<${step.parent}`
      const { type, uuid } = JSON.parse(new TextDecoder().decode(bytes.subarray(step.byteStart, step.byteEnd)))
      return uuid ?? type
    })
    .join(" ")
}
const forks = (picture: string, at?: string): string => drawn(bytesOf(picture), at)

const snapshot = (messageId: string, on = messageId) =>
  Snapshot.make("file-history-snapshot", {
    messageId,
    snapshot: { messageId: on, trackedFileBackups: {} },
    isSnapshotUpdate: on !== messageId
  })

describe("ForkPlan", () => {
  it("copies the conversation up to the leaf, or up to a message of any branch", () => {
    const rewound = "u1-u2-u3-u4-u5 u3-w4-u6-u7"
    assert.strictEqual(forks(rewound), "u1 u2<u1 u3<u2 w4<u3 u6<w4 u7<u6")
    assert.strictEqual(forks(rewound, "u5"), "u1 u2<u1 u3<u2 u4<u3 u5<u4")
    assert.strictEqual(forks(rewound, "u2"), "u1 u2<u1")
  })

  it("keeps rounds whole, each result on its own call", () => {
    assert.strictEqual(
      forks("u1-a1@m-a2@m(A)-a3@m(B)-a4@m(C) a3-rB a2-rA a4-rC-a5"),
      "u1 a1<u1 a2<a1 a3<a2 a4<a3 rB<a3 rA<a2 rC<a4 a5<rC"
    )
  })

  it("takes entries of unknown types along the path, and no progress", () => {
    assert.strictEqual(forks("u1-a1-q1-p1-q2-u2-a2 u1-q3-u3", "a2"), "u1 a1<u1 q1<a1 q2<q1 u2<q2 a2<u2")
    assert.strictEqual(forks("u1-q1-u2 q1-u3-a3"), "u1 q1<u1 u3<q1 a3<u3")
  })

  it("says what a message hangs on after repair", () => {
    assert.strictEqual(forks("u1-a1 x9-u2-a2"), "u1 a1<u1 u2<a1 a2<u2")
  })

  it("starts at the last boundary, with what it keeps behind the summary", () => {
    assert.strictEqual(forks("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3"), "B1 S1<B1 u2<S1 a2<u2 u3<a2 a3<u3")
    assert.strictEqual(forks("u1-a1-u2-a2 B1{u2..a2>S1}-S1-u3-a3"), "B1 S1<B1 u2<S1 a2<u2 u3<a2 a3<u3")
  })

  it("keeps a boundary that another one keeps before it", () => {
    assert.strictEqual(forks("u1 B1-S1-u2 B2{B1,S1,u2>S2}-S2-u3"), "B1<S2 S1<B1 u2<S1 B2 S2<B2 u3<u2")
  })

  it("takes along what a snip of the conversation took out, and leaves out what another branch's did", () => {
    assert.strictEqual(forks("u1-a1-u2-a2-u3-N1{u2,a2}-a3"), "u1 a1<u1 u2<a1 a2<u2 u3<a2 N1<u3 a3<N1")
    assert.strictEqual(forks("u1-a1-u2-a2-u3-N1{u2,a2}-a3", "u3"), "u1 a1<u1 u3<a1")
  })

  it("takes snapshots that speak of copied messages, with those that they build on", () => {
    const history = [snapshot("u1"), snapshot("u3"), snapshot("u2"), snapshot("a2", "u2"), snapshot("u2", "u3")]
    const bytes = bytesOf("u1-a1-u3-a3 a1-u2-a2", ...history)
    const beside = "file-history-snapshot"
    assert.strictEqual(drawn(bytes), `u1 a1<u1 u2<a1 ${beside} ${beside} ${beside} a2<u2`)
    assert.strictEqual(drawn(bytes, "u1"), `${beside} u1`)
    const archived = bytesOf("u1-a1 B1-S1-u2", snapshot("u1"), snapshot("u2", "u1"))
    assert.strictEqual(drawn(archived), `B1 S1<B1 ${beside} ${beside} u2<S1`)
  })

  it("takes replacements and collapses, and leaves queues, costs, requests and unknown lines without an id", () => {
    const bytes = bytesOf(
      "u1-a1-u2-a2",
      Snapshot.make("content-replacement", { replacements: [] }),
      Snapshot.make("marble-origami-commit", { firstArchivedUuid: "u1", lastArchivedUuid: "a1" }),
      Snapshot.make("marble-origami-commit", { firstArchivedUuid: "u1", lastArchivedUuid: "u2" }),
      Snapshot.make("queue-operation", { operation: "enqueue", content: "later" }),
      { type: "cost-state", totalCostUSD: 1 },
      Snapshot.make("api-request", {}),
      { type: "future-note" }
    )
    assert.strictEqual(drawn(bytes, "a1"), "u1 content-replacement marble-origami-commit a1<u1")
  })

  it("takes inline sidechains along, but not those of agents that only other branches speak of", () => {
    assert.strictEqual(forks("u1-s1~abc-s2~abc u1-a1 s2-s3~abc u1-u2"), "u1 s1 s2 s3 u2<u1")
    const bytes = bytesOf("u1-a1-rA u1-u2 x1-s1~abc x1-s2~def")
    const result = { agentId: "abc" }
    const lines = new TextDecoder()
      .decode(bytes)
      .replace('"uuid":"rA"', `"toolUseResult":${JSON.stringify(result)},"uuid":"rA"`)
    const spoken = encoder.encode(lines)
    assert.strictEqual(drawn(spoken), "u1 s2 u2<u1")
    assert.deepStrictEqual([...Result.getOrThrow(planOf(spoken)).leftOut], ["abc"])
    assert.deepStrictEqual([...Result.getOrThrow(planOf(spoken, "rA")).leftOut], [])
  })

  it("says metadata again, with a title, and prompts of the fork alone", () => {
    const named = [
      Metadata.tag("t"),
      Metadata.mode("plan"),
      Metadata.lastPrompt({ lastPrompt: "[u3]", leafUuid: "u3" })
    ]
    const bytes = bytesOf("u1-a1-u3 u1-u2", ...named)
    const { metadata, title } = Result.getOrThrow(planOf(bytes, "u2"))
    assert.strictEqual(title, "[u2] (fork)")
    assert.deepStrictEqual(metadata, [
      Metadata.lastPrompt({ lastPrompt: "[u2]", leafUuid: "u2" }),
      Metadata.customTitle("[u2] (fork)"),
      Metadata.tag("t"),
      Metadata.mode("plan")
    ])
    const titled = bytesOf("u1-a1", Metadata.customTitle("Mine"), Metadata.aiTitle("Its"))
    assert.strictEqual(Result.getOrThrow(planOf(titled)).title, "Mine (fork)")
    assert.strictEqual(Result.getOrThrow(planOf(bytesOf("a1"))).title, "Session (fork)")
  })

  it("refuses what is no message of the main lane, what was snipped, and an empty session", () => {
    const refused = (picture: string, at?: string) => {
      const plan = planOf(bytesOf(picture), at)
      return Result.isFailure(plan) ? plan.failure.found : "forked"
    }
    assert.strictEqual(refused("u1-a1", "x"), "Nothing")
    assert.strictEqual(refused("u1-q1-a1", "q1"), "Nothing")
    assert.strictEqual(refused("u1-a1 x1-s1~abc", "s1"), "Nothing")
    assert.strictEqual(refused("u1-a1-u2-N1{a1}", "a1"), "Removed")
    assert.strictEqual(refused("! ?"), "Empty")
    assert.strictEqual(refused("u1-a1", "a1"), "forked")
  })
})
