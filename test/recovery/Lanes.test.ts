import { assert, describe, it } from "@effect/vitest"
import * as Projection from "@reprise/domain/Projection"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Lanes from "@reprise/recovery/Lanes"
import * as Recovery from "@reprise/recovery/Recovery"
import { findings, lines, located, log, type Options, places, recover, recovers, rest, tell, view } from "./picture.ts"

const lanes = (picture: string, options: Options = {}): Lanes.Lanes =>
  Projection.fold(Lanes.projection(options.lane ?? "main", "last-prompt"), log(picture, options))

describe("The main lane", () => {
  it("is every message that does not say `isSidechain: true`", () => {
    for (const isSidechain of [false, null, undefined]) {
      assert.strictEqual(recovers("u1-a1-u2", { bodies: { a1: { isSidechain } } }), "u1-a1-u2")
    }
    assert.strictEqual(Notation.show(lanes("u1-a1-u2~abc-a2~abc a1-u3").written.nodes), "u1-a1-u3")
  })

  it("never holds a sidechain entry", () => {
    assert.strictEqual(recovers("u1-a1-u2~abc-a2~abc"), "u1-a1")
    assert.strictEqual(recovers("u1-a1 u2~abc-a2~abc a1-u3"), "u1-a1-u3")
    assert.strictEqual(view("u1-a1-u2~abc-a2~abc"), "u[u1] a[a1]")
    assert.strictEqual(recovers("u1~abc-a1~abc"), "")
  })

  it("bridges a message that hangs on a sidechain entry as if its parent were missing", () => {
    const picture = "u1-a1-u2~abc-a2~abc-u3-a3"
    assert.strictEqual(recovers(picture), "u1-a1-u3-a3")
    assert.strictEqual(findings(picture), "sidechain-parent u3>a1")
    assert.strictEqual(places(recover(picture).findings, log(picture)), "sidechain-parent@u3")
  })

  it("is not left for a sidechain entry that hangs on it", () => {
    assert.strictEqual(recovers("u1-a1(A)-u2~abc-a2~abc a1-rA-a3 a2-a9~abc"), "u1-a1-rA-a3")
  })

  it("is told from others by agent and id, whatever stands in those", () => {
    const side = (agentId: string | undefined, uuid: string) => ({ isSidechain: true, agentId, uuid, parentUuid: null })
    const bodies = { u1: side("a", "b/c"), u2: side("a/b", "c"), u3: side(undefined, "/c"), u4: side(undefined, "c") }
    const entries = lanes("u1 u2 u3 u4", { bodies }).sidechains.map(({ entries }) => entries)
    assert.deepStrictEqual(entries, [1, 1, 1, 1])
  })

  it("takes no `last-prompt` leaf from a sidechain", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-u3~abc !u3"), "u1-a1-u2-a2")
    assert.strictEqual(findings("u1-a1-u2-a2 a1-u3~abc !u3"), "last-prompt-unknown u3")
  })
})

describe("Sidechains", () => {
  it("are lanes of their own, by agent", () => {
    assert.deepStrictEqual(lanes("u1 u2~abc-a2~abc u3~def x9-a3~abc").sidechains, [
      { agentId: "abc", root: "u2", entries: 3 },
      { agentId: "def", root: "u3", entries: 1 }
    ])
  })

  it("are lanes by their root where no agent is named", () => {
    const bodies = Object.fromEntries(["u2", "a2", "u3"].map((name) => [name, { isSidechain: true }]))
    assert.deepStrictEqual(lanes("u1-a1 u2-a2 u3", { bodies }).sidechains, [
      { agentId: null, root: "u2", entries: 2 },
      { agentId: null, root: "u3", entries: 1 }
    ])
  })

  it("are rooted where they hang on the main lane", () => {
    const bodies = { u2: { isSidechain: true }, a2: { isSidechain: true } }
    assert.deepStrictEqual(lanes("u1-a1-u2-a2", { bodies }).sidechains, [{ agentId: null, root: "u2", entries: 2 }])
  })

  it("end, whatever their links say", () => {
    assert.deepStrictEqual(lanes("u1^a1~abc-a1~abc u2^u2~abc").sidechains, [{ agentId: "abc", root: "u1", entries: 3 }])
    const bodies = { u1: { isSidechain: true }, a1: { isSidechain: true } }
    const [lane, ...others] = lanes("u1^a1-a1", { bodies }).sidechains
    assert.strictEqual(lane?.entries, 2)
    assert.deepStrictEqual(others, [])
  })

  it("are counted beside the conversation", () => {
    assert.strictEqual(rest("u1-a1 u2~abc-a2~abc u3~def"), "side abc ×2; side def ×1")
    assert.strictEqual(recover("u1-a1 u2~abc-a2~abc u3~def").messages, 2)
  })

  it("hold each of their ids once", () => {
    assert.strictEqual(rest("u1 u2~abc-a2~abc-u2~abc"), "side abc ×2")
  })

  it("are recovered by the same rules as a log of their own", () => {
    assert.strictEqual(recovers("u1~abc-a1~abc-u2~abc", { lane: "sidechain" }), "u1-a1-u2")
    assert.strictEqual(recovers("u1~abc-a1~abc x9-u2~abc u2-a2~abc", { lane: "sidechain" }), "u1-a1-u2-a2")
    assert.strictEqual(recovers("u1~abc-a1~abc B1~abc-S1~abc", { lane: "sidechain" }), "B1-S1")
    assert.strictEqual(rest("u1~abc-a1~abc", { lane: "sidechain" }), "")
  })

  it("may hold ids of the main lane: ids are a namespace per lane", () => {
    const picture = "u1-a1-u2 x1-u1~abc-a1~abc"
    assert.strictEqual(recovers(picture), "u1-a1-u2")
    assert.strictEqual(findings(picture), "")
    assert.strictEqual(rest(picture), "side abc ×2")
  })

  it("may hold an id before the main lane does, and never answer for it", () => {
    assert.strictEqual(recovers("u1~abc-a1~abc x1-u1-a1-u2"), "u1-a1-u2")
  })

  it("may hold the same id for several agents", () => {
    assert.strictEqual(rest("u1 u2~abc u1-u2~def"), "side abc ×1; side def ×1")
  })
})

describe("A repeated id", () => {
  it("leaves the first occurrence its place, its link and its content", () => {
    const bodies = { u2: { type: "user", message: { role: "user", content: "[u2]" } } }
    const picture = "u1-a1-u2-a2 u1-u2-a9"
    assert.strictEqual(recovers(picture, { bodies }), "u1-a1-u2-a9")
    const [u1, a1, copy] = lines("u1-a1-u1") as [string, string, string]
    const { conversation } = Recovery.fold(located([u1, a1, copy.replace("[u1]", "[changed]")].join("\n")))
    assert.strictEqual(Notation.show(conversation), "u1-a1")
    assert.include(JSON.stringify(conversation[0]!.entry), "[u1]")
  })

  it("changes neither the order nor the leaf", () => {
    for (const picture of ["u1-a1-u2-a2-u1", "u1-a1-u2-a2 a1-a2", "u1-a1-u2-a2 x9-a1", "u1-a1-u2-a2 u1-u2 a2-a1"]) {
      assert.strictEqual(recovers(picture), "u1-a1-u2-a2", picture)
      assert.strictEqual(rest(picture), "", picture)
    }
  })

  it("does not outrank a `last-prompt`", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2 a1-u3-a3 !a2 u1-u3"), "u1-a1-u2-a2")
  })

  it("changes nothing of what is known about the session", () => {
    const bodies = { u1: { cwd: "/old", gitBranch: "old", version: "1" }, a2: { gitBranch: "new", version: "2" } }
    const { messages, metadata, skills, usage } = recover("u1-a1-u2-a2", { bodies })
    const again = recover("u1-a1-u2-a2 a2-u1:1", { bodies })
    assert.deepStrictEqual(again.metadata, metadata)
    assert.deepStrictEqual([again.skills, again.usage, again.messages], [skills, usage, messages])
  })

  it("makes no cycle: the first link stands", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2-u1-a1"), "u1-a1-u2-a2")
    assert.strictEqual(tell(recover("u1-a1-u2-a2-u1-a1").findings).includes("cycle"), false)
  })

  it("is reported with both lines where the copy differs", () => {
    const picture = "u1-a1-u2 u1-a1^u2"
    assert.strictEqual(findings("u1-a1-u2-a1"), "repeated-id a1 2,4")
    assert.strictEqual(places(lanes(picture).written.findings, log(picture)), "repeated-id@a1")
  })

  it("is not reported where the copy is equal but for the order of its keys", () => {
    assert.strictEqual(findings("u1-a1:2-u2 u1-a1:2"), "")
    const [u1, a1] = lines("u1-a1") as [string, string]
    const turned = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(a1) as object).toReversed()))
    assert.notStrictEqual(turned, a1)
    assert.deepStrictEqual(Recovery.fold(located([u1, a1, turned].join("\n"))).findings, [])
  })

  it("is reported where a list stands for an object", () => {
    const [u1] = lines("u1", { u1: { someday: [] } }) as [string]
    const other = u1.replace('"someday":[]', '"someday":{}')
    assert.strictEqual(tell(Recovery.fold(located([u1, other].join("\n"))).findings), "repeated-id u1 1,2")
  })

  it("is reported for each copy that differs", () => {
    assert.strictEqual(findings("u1-a1-a1-a1"), "repeated-id a1 2,3; repeated-id a1 2,4")
  })

  it("stands in the conversation at most once", () => {
    assert.strictEqual(recovers("u1-a1-u1-a1-u2-a1-u1-u3"), "u1-u3")
  })
})

describe("Ids of what is no message", () => {
  it("never shadow a message", () => {
    const snapshot = { type: "file-history-snapshot", messageId: "a1", snapshot: { messageId: "a1" } }
    const title = { type: "custom-title", customTitle: "T", uuid: "a1", parentUuid: "u1" }
    const queued = { type: "queue-operation", operation: "enqueue", commandUuid: "a1", uuid: "a1", parentUuid: null }
    const link = { type: "progress", uuid: "a1", parentUuid: null }
    for (const q1 of [snapshot, title, queued, link]) {
      assert.strictEqual(recovers("u1-a1 q1 a1-u2", { bodies: { q1 } }), "u1-a1-u2", q1.type)
      assert.strictEqual(recovers("q1 u1-a1-u2", { bodies: { q1 } }), "u1-a1-u2", q1.type)
    }
  })

  it("are no message's parent either: what hangs on one is bridged", () => {
    const q1 = { type: "custom-title", customTitle: "T", uuid: "q1", parentUuid: "u1" }
    assert.strictEqual(recovers("u1-a1-q1-u2", { bodies: { q1 } }), "u1-a1-u2")
    assert.strictEqual(findings("u1-a1-q1-u2", { bodies: { q1 } }), "missing-parent u2>a1")
  })
})

describe("A message without an id", () => {
  it("is no node, and is listed in the findings", () => {
    for (const uuid of [undefined, null, 7]) {
      const { conversation, findings, messages } = recover("u1-a1-u2", { bodies: { a1: { uuid } } })
      assert.strictEqual(Notation.show(conversation), "u1-u2")
      assert.strictEqual(messages, 2)
      assert.isTrue(findings.some(({ kind, line }) => kind === "ill-formed" && line === 2))
    }
  })

  it("is listed in the findings also where its id is empty", () => {
    const { conversation, findings } = recover("u1-a1-u2", { bodies: { a1: { uuid: "" } } })
    assert.strictEqual(Notation.show(conversation), "u1-u2")
    assert.isTrue(findings.some(({ line }) => line === 2))
  })
})
