import * as Explanation from "@reprise/cli/Explanation"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { explain } from "./explaining.ts"
import { fixture, logs } from "./running.ts"

const everything = "u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3-N1{u3,a3}-u4-a4 u4-a5 u4-a6(A)-u7"

describe("a place", () => {
  it.effect("is that of each message: the counts of all places are those of the state", () =>
    Effect.gen(function* () {
      for (const log of [everything, "u1-a1 u2-a2", "s1-s2", "", "x9-u1-a1 a1-u2 !u1", fixture("damaged")]) {
        const { placeOf, resumed, trace } = yield* explain(log)
        const { archived, branches, conversation, removed } = resumed.state
        const counts = { conversation: 0, archived: 0, removed: 0, branch: 0 }
        for (const node of trace.repaired.graph.nodes) counts[placeOf(node).in]++
        assert.deepStrictEqual(counts, {
          conversation: conversation.length,
          archived,
          removed: removed.length,
          branch: branches.reduce((sum, { entries }) => sum + entries, 0)
        })
      }
    }).pipe(Effect.provide(logs))
  )

  it.effect("says by what, and where", () =>
    Effect.gen(function* () {
      const { placeOf, trace } = yield* explain(everything)
      const { byId, nodes } = trace.written
      const of = (uuid: string) => placeOf(nodes.get(byId.get(uuid)!)!)
      assert.deepStrictEqual(of("u1"), { in: "archived", by: "B1" })
      assert.deepStrictEqual(of("u3"), { in: "removed", by: "N1" })
      assert.deepStrictEqual(of("a5"), { in: "branch", leaf: "a5", forkPoint: "u4" })
      assert.deepStrictEqual(of("B1"), { in: "conversation", index: 0 })
      assert.deepStrictEqual(of("a2"), { in: "conversation", index: 3 })
    }).pipe(Effect.provide(logs))
  )
})

describe("what is sent", () => {
  it.effect("names the messages that a message stands in, or why it is left out", () =>
    Effect.gen(function* () {
      const { sentOf, trace } = yield* explain("u1-a1@m(A,B)-rA-rB-s1 u1-a2")
      const of = (uuid: string) => sentOf(trace.written.nodes.get(trace.written.byId.get(uuid)!)!)
      assert.deepStrictEqual(of("u1"), { messages: [{ index: 0, role: "user" }] })
      assert.isUndefined(of("s1"))
      const { sentOf: late, trace: other } = yield* explain("u1-s1-a1(A)-rA")
      assert.deepStrictEqual(late(other.written.nodes.get(1)!), { why: "system" })
      assert.deepStrictEqual(late(other.written.nodes.get(3)!), { messages: [{ index: 2, role: "user" }] })
    }).pipe(Effect.provide(logs))
  )
})

describe("why the leaf", () => {
  for (const [picture, leaf, ...why] of [
    ["u1-a1", "a1", "It is the last line on or above which something was said."],
    [
      "u1-a1-u2-a2 a1-u3 !a2",
      "a2",
      "The last prompt on line 6 names it, and no message was written elsewhere after that.",
      "Without it the leaf would be u3."
    ],
    [
      "u1-a1 !a1 a1-u2",
      "u2",
      "It is the last line on or above which something was said.",
      "The last prompt on line 3 names a1, which the conversation passes."
    ],
    [
      "u1-a1-u2 !u2 a1-u3",
      "u3",
      "It is the last line on or above which something was said.",
      "The last prompt names leaf u2, but newer messages stand on another branch."
    ],
    [
      "u1-a1 !x9",
      "a1",
      "It is the last line on or above which something was said.",
      "The last prompt names leaf x9, which is no message of this lane."
    ],
    [
      "u1-a1 s1-s2",
      "a1",
      "It is the last line on or above which something was said.",
      "Of 2 messages behind it none is a leaf: removed, nothing said, or a late result."
    ],
    [
      "u1-a1-u2-a2 B1{u2,a2>S1}-S1",
      "a2",
      "S1 on line 6 is the last line on or above which something was said; below it, this is the newest message, and stands earlier in the file."
    ],
    ["s1", undefined, "Nothing was said, so there is no leaf."]
  ] as const) {
    it.effect(`of ${picture}`, () =>
      Effect.gen(function* () {
        const explanation = yield* explain(picture)
        assert.strictEqual(explanation.resumed.state.conversation.at(-1)?.uuid, leaf)
        assert.deepStrictEqual(explanation.leaf, why)
      }).pipe(Effect.provide(logs))
    )
  }
})

describe("findings", () => {
  it.effect("are those of the resumed file, each once", () =>
    Effect.gen(function* () {
      for (const log of [fixture("damaged"), fixture("interrupted"), "u1-a1 u1-a1(A) ? x9-u2 !x8 q1 u2-rB"]) {
        const explanation = yield* explain(log)
        const all = Explanation.findings(explanation).flatMap(({ findings }) => findings)
        const key = (finding: object) => JSON.stringify(finding)
        assert.deepStrictEqual(all.map(key).toSorted(), explanation.resumed.findings.map(key).toSorted())
      }
    }).pipe(Effect.provide(logs))
  )
})

describe("touching", () => {
  it.effect("is to be moved, or to be what another moved away from or to", () =>
    Effect.gen(function* () {
      const explanation = yield* explain("u1-a1 x9-u2-N1{u2}-u3")
      const changes = Explanation.steps(explanation).flatMap((step) => step.changes)
      const touched = (uuid: string) =>
        changes.filter((change) => Explanation.touches(change, uuid)).map((change) => change.uuid)
      assert.deepStrictEqual(touched("u2"), ["u2", "u2", "N1"])
      assert.deepStrictEqual(touched("x9"), ["u2"])
      assert.deepStrictEqual(touched("a1"), ["u2", "u2", "N1"])
      assert.deepStrictEqual(touched("N1"), ["u2", "N1"])
      const [finding] = explanation.trace.graph[1]!.findings
      for (const uuid of ["u2", "x9", "a1"]) assert.isTrue(Explanation.names(finding!, uuid))
      assert.isFalse(Explanation.names(finding!, "u1"))
    }).pipe(Effect.provide(logs))
  )
})
