/** The contract of `reprise resume --json`, field by field. */
import * as Resume from "@reprise/cli/Resume"
import * as ResumeJson from "@reprise/cli/ResumeJson"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { fixture, logs, write } from "./running.ts"

const answer = (file: string) =>
  Effect.map(Resume.resume(file), (resumed): any => JSON.parse(ResumeJson.encode(resumed)))

/** The answer for the log of a picture. */
const of = (picture: string) =>
  Effect.flatMap(Temporary.directory, (directory) => answer(write(directory, "log", picture)))

describe("resume --json", () => {
  it.effect("has these fields, in this order", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(Object.keys(yield* of("u1-a1")), [
        "file",
        "ok",
        "sessionId",
        "conversation",
        "messages",
        "omitted",
        "interruption",
        "metadata",
        "removed",
        "archived",
        "branches",
        "sidechains",
        "findings",
        "drift"
      ])
    }).pipe(Effect.provide(logs))
  )

  it.effect("sessionId: the name of the file if it is a UUID, else the first in the log, else null", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const uuid = "1c9a5b7e-40d3-4f86-8e2b-95d7a6c3f014"
      assert.strictEqual((yield* answer(write(directory, uuid, "u1"))).sessionId, uuid)
      assert.strictEqual(
        (yield* answer(write(directory, "log", "u1"))).sessionId,
        "11111111-1111-4111-8111-111111111111"
      )
      assert.strictEqual((yield* answer(fixture("empty"))).sessionId, null)
    }).pipe(Effect.provide(logs))
  )

  it.effect("conversation: ids from root to leaf, of all four types, nothing synthetic", () =>
    Effect.gen(function* () {
      const { conversation } = yield* of("u1-a1-t1-s1-u2-a2(A)-rA")
      assert.deepStrictEqual(conversation, ["u1", "a1", "t1", "s1", "u2", "a2", "rA"])
    }).pipe(Effect.provide(logs))
  )

  it.effect("messages: role, blocks with the ids of calls and results, and the entries that they come from", () =>
    Effect.gen(function* () {
      const { conversation, messages } = yield* of("u1-a1@m(A)-a2@m(B)-rB a1-l1-rA-t1")
      assert.deepStrictEqual(messages, [
        { role: "user", blocks: [{ type: "text" }], uuids: ["u1"] },
        {
          role: "assistant",
          blocks: [
            { type: "tool_use", id: "A" },
            { type: "tool_use", id: "B" }
          ],
          uuids: ["a1", "a2"]
        },
        {
          role: "user",
          blocks: [
            { type: "tool_result", id: "B" },
            { type: "tool_result", id: "A" },
            { type: "text" },
            { type: "text" },
            { type: "text", synthetic: true }
          ],
          uuids: ["rB", "rA", "l1", "t1"]
        }
      ])
      for (const { uuids } of messages) for (const uuid of uuids) assert.include(conversation, uuid)
    }).pipe(Effect.provide(logs))
  )

  it.effect("omitted: what is on the conversation and not sent, with the reason", () =>
    Effect.gen(function* () {
      const { omitted } = yield* of("u1-s1-a1(A)")
      assert.deepStrictEqual(omitted, [
        { uuid: "s1", why: "system" },
        { uuid: "a1", why: "unresolved-call" }
      ])
    }).pipe(Effect.provide(logs))
  )

  it.effect("interruption: how the last turn ended", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* of("u1-a1")).interruption, { kind: "none" })
      assert.deepStrictEqual((yield* of("u1-a1-u2")).interruption, { kind: "interrupted-prompt", uuid: "u2" })
      assert.deepStrictEqual((yield* of("u1-a1(A)-rA")).interruption, { kind: "interrupted-turn", uuid: "rA" })
    }).pipe(Effect.provide(logs))
  )

  it.effect("metadata: flat, the last pull request, worktree and cost by their own names", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "log", "u1-a1")
      const pr = { prNumber: 7, prUrl: "https://host/pr/7", prRepository: "shop", timestamp: "2026-01-01T00:00:00Z" }
      const lines = [
        { type: "custom-title", customTitle: "Mine" },
        { type: "ai-title", aiTitle: "Theirs" },
        { type: "tag", tag: "t" },
        { type: "last-prompt", lastPrompt: "last" },
        { type: "mode", mode: "normal" },
        { type: "agent-name", agentName: "n" },
        { type: "agent-setting", agentSetting: "s" },
        { type: "pr-link", ...pr, prNumber: 6 },
        { type: "pr-link", ...pr },
        { type: "worktree-state", worktreeSession: null },
        { type: "cost-state", totalCostUSD: 1.5 },
        { type: "summary", summary: "sum", leafUuid: "a1" }
      ]
      fs.appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
      const { metadata } = yield* answer(file)
      assert.deepInclude(metadata, {
        title: "Mine",
        customTitle: "Mine",
        aiTitle: "Theirs",
        tag: "t",
        lastPrompt: "last",
        firstPrompt: "[u1]",
        mode: "normal",
        agentName: "n",
        agentSetting: "s",
        prNumber: 7,
        prUrl: "https://host/pr/7",
        prRepository: "shop",
        worktreeSession: null,
        totalCostUSD: 1.5,
        summary: "sum"
      })
      for (const key of ["pullRequests", "summaries", "worktree", "bridge", "cost"]) assert.notProperty(metadata, key)
    }).pipe(Effect.provide(logs))
  )

  it.effect("removed, archived, branches: each message of the main lane is counted once", () =>
    Effect.gen(function* () {
      const snipped = yield* of("u1-a1-u2-a2-N1{u2,a2,x9}-u3-a3 a1-u4")
      assert.deepStrictEqual(snipped.removed, ["u2", "a2"])
      const kept = yield* of("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3 u1-u4")
      assert.strictEqual(kept.archived, 2)
      const branched = yield* of("u1-a1-u2-a2 a1-u3-a3 x1-u9 a1-u4-a4")
      assert.deepStrictEqual(
        branched.branches.map(({ leaf }: { leaf: string }) => leaf),
        branched.branches.map(({ leaf }: { leaf: string }) => leaf).toSorted((a: string, b: string) => (a < b ? 1 : -1))
      )
      for (const [log, messages] of [
        [snipped, 8],
        [kept, 9],
        [branched, 9]
      ] as const) {
        const onBranches = log.branches.reduce((sum: number, { entries }: { entries: number }) => sum + entries, 0)
        assert.strictEqual(log.conversation.length + log.removed.length + log.archived + onBranches, messages)
      }
    }).pipe(Effect.provide(logs))
  )

  it.effect("branches: leaf, where it left, and its own entries; a root of its own has no fork point", () =>
    Effect.gen(function* () {
      const { branches } = yield* of("u1-a1-u2-a2 a1-u3-a3-u4-a4")
      assert.deepStrictEqual(branches, [{ leaf: "a2", forkPoint: "a1", entries: 2 }])
      const { branches: roots } = yield* of("u1-a1 u2-a2")
      assert.deepStrictEqual(roots, [{ leaf: "a1", forkPoint: null, entries: 2 }])
    }).pipe(Effect.provide(logs))
  )

  it.effect("sidechains: agent, root and length; a log of nothing else has an empty conversation", () =>
    Effect.gen(function* () {
      const log = yield* of("u1~ab-a1~ab u2~cd")
      assert.deepStrictEqual(log.conversation, [])
      assert.deepStrictEqual(log.messages, [])
      assert.deepStrictEqual(log.sidechains, [
        { agentId: "ab", root: "u1", entries: 2 },
        { agentId: "cd", root: "u2", entries: 1 }
      ])
    }).pipe(Effect.provide(logs))
  )

  it.effect("findings: kind, severity and place; lines count from 1 and every LF counts", () =>
    Effect.gen(function* () {
      const { findings } = yield* answer(fixture("damaged"))
      for (const finding of findings)
        assert.containsAllKeys(finding, ["kind", "severity", "line", "byteStart", "byteEnd"])
      const bytes = fs.readFileSync(fixture("damaged"))
      const torn = findings.find(({ kind }: { kind: string }) => kind === "torn-line")
      const before = bytes.subarray(0, torn.byteStart)
      assert.strictEqual(torn.line, 1 + before.filter((byte) => byte === 0x0a).length)
      assert.strictEqual(torn.byteEnd - torn.byteStart, torn.bytes)
    }).pipe(Effect.provide(logs))
  )

  it.effect("drift: checkpoints that counted other than what is there", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "log", "u1-a1")
      const checkpoint = { type: "system", subtype: "turn_duration", messageCount: 5, uuid: "d1", parentUuid: "a1" }
      fs.appendFileSync(file, `${JSON.stringify(checkpoint)}\n`)
      assert.deepStrictEqual((yield* answer(file)).drift, [{ uuid: "d1", expected: 5, found: 2 }])
    }).pipe(Effect.provide(logs))
  )

  it.effect("is a function of the bytes alone", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      for (const name of ["damaged", "interrupted", "sidechain"]) {
        const copy = path.join(directory, `${name}.jsonl`)
        fs.copyFileSync(fixture(name), copy)
        const [one, other] = [yield* Resume.resume(fixture(name)), yield* Resume.resume(copy)]
        assert.strictEqual(ResumeJson.encode({ ...other, file: one.file }), ResumeJson.encode(one))
      }
    }).pipe(Effect.provide(logs))
  )
})
