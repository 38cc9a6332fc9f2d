/** The contract of `reprise explain --json`, record by record. */
import * as Explain from "@reprise/cli/Explain"
import * as ExplainJson from "@reprise/cli/ExplainJson"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { explain } from "./explaining.ts"
import { logs } from "./running.ts"

const of = (picture: string, id?: string) =>
  Effect.gen(function* () {
    const explanation = yield* explain(picture)
    const subject = id === undefined ? undefined : yield* Explain.find(explanation, id)
    return Array.from(ExplainJson.encode(explanation, subject), (line): any => JSON.parse(line))
  })

const everything = "u1-a1@m(A)-a2@m(B)-rB a1-rA x9-u2 B1{u2>S1}-S1-u3-N1{u3}-u4 u4-a4 u4-u5 u6~ab ?"

describe("explain --json", () => {
  it.effect("has these records, in this order, with these keys", () =>
    Effect.gen(function* () {
      const keys = new Map<string, ReadonlyArray<string>>()
      const shape = (record: any) => Object.keys(record)
      for (const record of yield* of(everything)) {
        if (!keys.has(record.record)) keys.set(record.record, shape(record))
      }
      assert.deepStrictEqual(
        [...keys],
        [
          ["file", ["record", "file", "sessionId", "messages", "links", "sidechains", "lines"]],
          ["finding", ["record", "step", "kind", "severity", "bytes", "line", "byteStart", "byteEnd", "explanation"]],
          ["step", ["record", "step", "changes", "findings"]],
          ["change", ["record", "step", "uuid", "line", "from", "to", "why"]],
          ["leaf", ["record", "uuid", "line", "why"]],
          ["walk", ["record", "messages"]],
          ["message", ["record", "uuid", "line", "type", "written", "hangs", "place", "model"]],
          ["branch", ["record", "leaf", "forkPoint", "entries"]],
          ["sidechain", ["record", "agentId", "root", "entries"]],
          ["sum", ["record", "messages", "conversation", "archived", "removed", "onBranches", "branches"]]
        ]
      )
    }).pipe(Effect.provide(logs))
  )

  it.effect("file: what was read", () =>
    Effect.gen(function* () {
      const [first] = yield* of("u1-a1-p1-u2 u5~ab")
      assert.deepInclude(first, { record: "file", messages: 3, links: 1, sidechains: 1, lines: 5 })
      assert.strictEqual(first.sessionId, "11111111-1111-4111-8111-111111111111")
    }).pipe(Effect.provide(logs))
  )

  it.effect("step: how much it did, and the boundary that counts", () =>
    Effect.gen(function* () {
      const steps = (yield* of("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3")).filter(({ record }) => record === "step")
      assert.deepStrictEqual(
        steps.map(({ changes, step }) => [step, changes]),
        [
          ["Progress", 0],
          ["Reparent", 0],
          ["Relink", 2],
          ["Snip", 0],
          ["Compact", 0],
          ["ToolResults", 0]
        ]
      )
      assert.deepInclude(steps[2], { boundary: "B1", kept: ["u2", "a2"] })
    }).pipe(Effect.provide(logs))
  )

  it.effect("change: before, after and why", () =>
    Effect.gen(function* () {
      const change = (yield* of("u1-a1 x9-u2")).find(({ record }) => record === "change")
      assert.deepStrictEqual(change, {
        record: "change",
        step: "Reparent",
        uuid: "u2",
        line: 3,
        from: { is: "missing", uuid: "x9" },
        to: { is: "message", uuid: "a1", line: 2 },
        why: ["The parent x9 of u2 is in no line; it hangs on a1."]
      })
    }).pipe(Effect.provide(logs))
  )

  it.effect("message: what it hangs on, its place, and what the model is sent of it", () =>
    Effect.gen(function* () {
      const messages = (yield* of("u1-a1 x9-u2-s1")).filter(({ record }) => record === "message")
      assert.deepStrictEqual(messages[2], {
        record: "message",
        uuid: "u2",
        line: 3,
        type: "user",
        written: { is: "missing", uuid: "x9" },
        hangs: { is: "message", uuid: "a1", line: 2 },
        place: { in: "conversation", index: 2 },
        model: { messages: [{ index: 2, role: "user" }] }
      })
      assert.deepInclude(messages[3], { model: { why: "system" } })
      const [, , branch] = (yield* of("u1-a1-u2 a1-u3")).filter(({ record }) => record === "message")
      assert.deepInclude(branch, { place: { in: "branch", leaf: "u2", forkPoint: "a1" }, model: null })
    }).pipe(Effect.provide(logs))
  )

  it.effect("leaf: none where nothing was said", () =>
    Effect.gen(function* () {
      const leaf = (yield* of("s1")).find(({ record }) => record === "leaf")
      assert.deepStrictEqual(leaf, {
        record: "leaf",
        uuid: null,
        line: null,
        why: ["Nothing was said, so there is no leaf."]
      })
    }).pipe(Effect.provide(logs))
  )

  it.effect("sum: adds up", () =>
    Effect.gen(function* () {
      const sum = (yield* of(everything)).at(-1)
      assert.strictEqual(sum.messages, sum.conversation + sum.archived + sum.removed + sum.onBranches)
    }).pipe(Effect.provide(logs))
  )

  it.effect("of one message: only the records that touch it", () =>
    Effect.gen(function* () {
      const records = yield* of("u1-a1 x9-u2-a2 x8-u3", "u2")
      assert.deepStrictEqual(
        records.map(({ record, uuid }) => [record, uuid]),
        [
          ["file", undefined],
          ["change", "u2"],
          ["finding", "u2"],
          ["message", "u2"]
        ]
      )
      const leaf = yield* of("u1-a1", "a1")
      assert.deepStrictEqual(
        leaf.map(({ record }) => record),
        ["file", "leaf", "message"]
      )
    }).pipe(Effect.provide(logs))
  )

  it.effect("of an id that is no message: the lines that it stands on", () =>
    Effect.gen(function* () {
      const records = yield* of("u1-a1-p1-u2", "p1")
      assert.deepStrictEqual(records[1], {
        record: "id",
        uuid: "p1",
        occurrences: [{ uuid: "p1", line: 3, type: "progress" }]
      })
      assert.strictEqual(records[2].record, "change")
    }).pipe(Effect.provide(logs))
  )
})
