/** What a fork copies, as pictures: the steps in their order, each with what it hangs on. */
import { assert, describe, it } from "@effect/vitest"
import type * as Fork from "@reprise/domain/Fork"
import * as Line from "@reprise/domain/Line"
import * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as Snapshot from "@reprise/domain/Snapshot"
import * as Notation from "@reprise/domain/testing/Notation"
import * as ForkPlan from "@reprise/recovery/ForkPlan"
import { Result } from "effect"
import * as v8 from "node:v8"
import * as vm from "node:vm"

const encoder = new TextEncoder()
const bytesOf = (picture: string, ...entries: ReadonlyArray<object>): Uint8Array => {
  const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("")
  return new Uint8Array([...Notation.bytes(picture), ...encoder.encode(lines)])
}

const planOf = (bytes: Uint8Array, at?: string) =>
  Projection.fold(ForkPlan.projection(at === undefined ? {} : { at }), Line.decodeAll(bytes))

const nameAt = (bytes: Uint8Array, { byteEnd, byteStart }: Fork.Place): string => {
  const { type, uuid } = JSON.parse(new TextDecoder().decode(bytes.subarray(byteStart, byteEnd)))
  return uuid ?? type
}

/** The steps: `a1<u1` for a message on its parent, the type of whatever stands beside them. */
const drawn = (bytes: Uint8Array, at?: string): string => {
  const plan = Result.getOrThrow(planOf(bytes, at))
  return [...plan.steps]
    .map((step) => {
      if (step._tag === "Message") return step.parent === null ? step.uuid : `${step.uuid}<${step.parent}`
      return nameAt(bytes, step)
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

  it("ends inside a round with the whole round, at a boundary, at a summary, at a snip", () => {
    const round = "u1-a1@m(A)-a2@m(B) a1-rA a2-rB-a3"
    for (const at of ["a1", "a2", "rB"]) assert.strictEqual(forks(round, at), "u1 a1<u1 a2<a1 rA<a1 rB<a2")
    assert.strictEqual(forks(round, "rA"), "u1 a1<u1 a2<a1 rB<a2 rA<a1")
    const compacted = "u1-a1 B1{u1,a1>S1}-S1-u2"
    assert.deepStrictEqual(
      ["B1", "S1", "a1"].map((at) => forks(compacted, at)),
      ["B1", "B1 S1<B1", "B1 S1<B1 u1<S1 a1<u1"]
    )
    assert.strictEqual(forks("u1-a1-u2-N1{a1}-a2", "N1"), "u1 a1<u1 u2<a1 N1<u2")
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

  it("judges a copy as a reader finds it, whose end is named", () => {
    // To a reader that goes by the last line the record of B4 does no harm; it is taken out for one that is told the end.
    const snipped = "u1:? u2^B4:? u1-u3:?-N6{u2,B4,u5}:30 u1-B4{N6>u5}:16 u1-u5:?"
    const boundary = [...Result.getOrThrow(planOf(bytesOf(snipped))).steps].find(
      (step) => step._tag === "Message" && step.uuid === "B4"
    )
    assert.deepInclude(boundary, { compactMetadata: { trigger: "manual", preTokens: 1000 } })
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

  it("tells what the source says of itself, and where the prompts of the fork stand", () => {
    const named = [
      Metadata.tag("t"),
      Metadata.mode("plan"),
      Metadata.lastPrompt({ lastPrompt: "[u3]", leafUuid: "u3" })
    ]
    const bytes = bytesOf("u1-a1-u3 u1-u2", ...named)
    const at = (place: Fork.Place | undefined) => place && nameAt(bytes, place)
    const plan = Result.getOrThrow(planOf(bytes, "u2"))
    assert.deepStrictEqual([at(plan.prompts?.first), at(plan.prompts?.last)], ["u1", "u2"])
    assert.deepInclude(plan.metadata, { lastPrompt: "[u3]", tag: "t", mode: "plan", title: "[u3]" })
    assert.isUndefined(Result.getOrThrow(planOf(bytesOf("a1"))).prompts)
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

  it("knows messages by ids of any kind, also by such as are made to collide", () => {
    const uuid = "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e15"
    const almost = [uuid, uuid.toUpperCase(), uuid.replaceAll("-", ""), `${uuid} `, ` ${uuid}`]
    const odd = ["a", "é", "\ud800", "\ud83d\ude00", "\u0000", "x".repeat(127), "x".repeat(128), "y".repeat(100_000)]
    const many = Array.from({ length: 5000 }, (_, i) => `${i.toString(16).padStart(8, "0")}${uuid.slice(8)}`)
    for (const ids of [[...almost, ...odd], colliding(500), many]) {
      const steps = [...Result.getOrThrow(planOf(chainOf(ids))).steps]
      assert.deepStrictEqual(
        steps.map((step) => step._tag === "Message" && [step.uuid, step.parent]),
        ids.map((id, i) => [id, ids[i - 1] ?? null])
      )
    }
  })

  it("holds of a message what its links weigh, whatever its text is", () => {
    const count = 20_000
    // What other tests of the worker let go or hold meanwhile is counted, too: the least of some tries is the plan's own.
    const tries = Array.from({ length: 3 }, () => held(count, "x".repeat(4000)) / count)
    assert.isBelow(Math.min(...tries), 200)
  })
})

/** A log of prompts, each on the one before. */
const chainOf = (ids: ReadonlyArray<string>): Uint8Array =>
  encoder.encode(ids.map((uuid, i) => `${prompt(uuid, ids[i - 1] ?? null, "said")}\n`).join(""))

const prompt = (uuid: string, parentUuid: string | null, content: string): string =>
  JSON.stringify({ type: "user", uuid, parentUuid, timestamp: "2026-01-01T00:00:00.000Z", message: { content } })

/** Ids that a table of a power of two, up to 2^10, has one place for. */
const colliding = (count: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (let n = 0; found.length < count; n++) {
    let hash = 0x811c9dc5
    for (const sign of `m${n}`) hash = Math.imul(hash ^ sign.charCodeAt(0), 0x01000193)
    if ((Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) & 1023) === 7) found.push(`m${n}`)
  }
  return found
}

/** The bytes that a plan for so many messages, calls and results among them, and all that was read for it hold. */
const held = (count: number, text: string): number => {
  const run = Projection.run(ForkPlan.projection())
  const before = inUse()
  let parent: string | null = null
  for (let i = 0; i < count; i++) {
    const uuid = `5b0d7f21-9c46-4e83-b1a2-${i.toString(16).padStart(12, "0")}`
    const message = [
      { role: "user", content: `${text}${i}` },
      { role: "assistant", id: `msg_${i}`, content: [{ type: "text", text }] },
      {
        role: "assistant",
        id: `msg_${i}`,
        content: [{ type: "tool_use", id: `toolu_${i}`, name: "Bash", input: { text } }]
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${i - 1}`, content: text }] }
    ][i % 4]!
    const timestamp = "2026-01-01T00:00:00.000Z"
    const line = encoder.encode(JSON.stringify({ type: message.role, uuid, parentUuid: parent, timestamp, message }))
    const at = { line: i, byteStart: i * 5000, byteEnd: i * 5000 + line.length }
    for (const located of Line.decode(line, at)) run.evolve(located)
    parent = uuid
  }
  const plan = Result.getOrThrow(run.extract())
  const bytes = inUse() - before
  assert.strictEqual(plan.messages, count)
  return bytes
}

const inUse = (): number => {
  for (let i = 0; i < 3; i++) collect()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

v8.setFlagsFromString("--expose-gc")
const collect = vm.runInNewContext("gc") as () => void
