/** What others read of ours (FORMAT §8), and what we make of theirs. */
import { assert, describe, it } from "@effect/vitest"
import * as Lane from "@reprise/domain/Lane"
import * as Message from "@reprise/domain/Message"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Layer } from "effect"

const sessionId = "00000000-0000-4000-8000-000000000001"
const log = EntryLog.session("-work", sessionId)
const options = { sessionId, cwd: "/work", version: "2.1.332", gitBranch: "main", entrypoint: "sdk-ts" }
const memory = SessionWriter.layer.pipe(Layer.provideMerge(EntryLog.layerMemory))

type Json = { readonly [key: string]: any }

const textOf = (id: EntryLog.LogId) =>
  Effect.scoped(
    Effect.gen(function* () {
      const reader = yield* (yield* EntryLog.EntryLog).reader(id)
      const into = new Uint8Array(reader.size)
      yield* reader.read(0, into)
      return new TextDecoder().decode(into)
    })
  )
const linesOf = (id: EntryLog.LogId) =>
  Effect.map(textOf(id), (text) =>
    text
      .trimEnd()
      .split("\n")
      .map((line): Json => JSON.parse(line))
  )

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const call = (id: string, toolUse: string) =>
  Message.assistant({ id, model: "m", content: [{ type: "tool_use", id: toolUse, name: "Bash", input: {} }] })
const result = (toolUse: string) =>
  Message.toolResults([{ type: "tool_result", tool_use_id: toolUse, content: "done" }])
const reply = (id: string) =>
  Message.assistant({ id, model: "m", content: [{ type: "text", text: "hi" }], stop_reason: "end_turn" })

/** A session with one entry of every kind that we write. */
const recorded = Effect.gen(function* () {
  const transcript = yield* Transcript.open(options)
  yield* transcript.append(Message.user("hello"))
  yield* transcript.append(call("msg_1", "toolu_1"))
  yield* transcript.append(result("toolu_1"))
  yield* transcript.append(Message.user("inside"), { agentId: "a1b2c3" })
  yield* transcript.append(reply("msg_2"))
  yield* transcript.append(Message.attachment({ type: "date", date: "2026-01-02" }))
  const kept = yield* transcript.append(Message.user("kept"))
  yield* transcript.compact("summary", [kept.uuid])
  yield* transcript.endTurn({ durationMs: 5 })
  yield* transcript.rewind(kept.uuid)
  yield* transcript.snip([kept.uuid])
}).pipe(Effect.scoped)

describe("every field that a reader needs (FORMAT §8)", () => {
  it.effect("on all entries of the chain", () =>
    Effect.gen(function* () {
      yield* recorded
      const lines = yield* linesOf(log)
      const seen = new Set<unknown>([null])
      for (const line of lines) {
        assert.isTrue(Object.hasOwn(line, "parentUuid"))
        assert.isTrue(seen.has(line["parentUuid"]), "the parent was written before")
        assert.strictEqual(line["isSidechain"], false)
        assert.isFalse(Object.hasOwn(line, "agentId"))
        assert.match(line["uuid"], uuid)
        assert.isFalse(seen.has(line["uuid"]))
        assert.match(line["timestamp"], time)
        const { cwd, entrypoint, gitBranch, userType, version } = line
        assert.deepStrictEqual(
          { cwd, entrypoint, gitBranch, userType, version, sessionId: line["sessionId"] },
          { ...options, userType: "external" }
        )
        assert.notStrictEqual(line["type"], "progress")
        seen.add(line["uuid"])
      }
    }).pipe(Effect.provide(memory))
  )

  it.effect("of each kind", () =>
    Effect.gen(function* () {
      yield* recorded
      const [user, called, answered, replied, attached, kept, boundary, summary, turn, rewound, snip] = (yield* linesOf(
        log
      )) as ReadonlyArray<Json> as Array<Json>
      assert.deepStrictEqual([user!["type"], user!["message"]], ["user", { role: "user", content: "hello" }])
      for (const assistant of [called!, replied!]) {
        const { content, id, model, role, stop_reason, stop_sequence, type, usage } = assistant["message"]
        assert.deepStrictEqual([assistant["type"], type, role, model], ["assistant", "message", "assistant", "m"])
        assert.match(id, /^msg_/)
        assert.isArray(content)
        assert.isTrue(stop_reason === null || stop_reason === "end_turn")
        assert.isNull(stop_sequence)
        assert.isObject(usage)
      }
      assert.deepStrictEqual(answered!["sourceToolAssistantUUID"], called!["uuid"])
      assert.strictEqual(answered!["message"].content[0].tool_use_id, "toolu_1")
      assert.deepStrictEqual([attached!["type"], attached!["attachment"].type], ["attachment", "date"])
      assert.deepStrictEqual(
        [boundary!["type"], boundary!["subtype"], boundary!["parentUuid"], boundary!["logicalParentUuid"]],
        ["system", "compact_boundary", null, kept!["uuid"]]
      )
      assert.isString(boundary!["content"])
      assert.deepStrictEqual(boundary!["compactMetadata"].preservedMessages.uuids, [kept!["uuid"]])
      assert.strictEqual(boundary!["compactMetadata"].preservedMessages.anchorUuid, summary!["uuid"])
      assert.deepStrictEqual(boundary!["compactMetadata"].preservedSegment, {
        headUuid: kept!["uuid"],
        anchorUuid: summary!["uuid"],
        tailUuid: kept!["uuid"]
      })
      assert.deepStrictEqual(
        [summary!["type"], summary!["parentUuid"], summary!["isCompactSummary"], summary!["isVisibleInTranscriptOnly"]],
        ["user", boundary!["uuid"], true, true]
      )
      assert.deepStrictEqual(
        [turn!["type"], turn!["subtype"], turn!["messageCount"], turn!["durationMs"]],
        ["system", "turn_duration", 3, 5]
      )
      assert.deepStrictEqual(
        [rewound!["subtype"], rewound!["isMeta"], rewound!["parentUuid"]],
        ["informational", true, kept!["uuid"]]
      )
      assert.deepStrictEqual(snip!["snipMetadata"].removedUuids, [kept!["uuid"]])
      const [inside] = yield* linesOf(EntryLog.withLane(log, Lane.sidechain("a1b2c3")))
      assert.deepStrictEqual(
        [inside!["isSidechain"], inside!["agentId"], inside!["sessionId"], inside!["parentUuid"]],
        [true, "a1b2c3", sessionId, null]
      )
    }).pipe(Effect.provide(memory))
  )
})

describe("a log in the shape of the reference client", () => {
  const envelope = {
    userType: "external",
    entrypoint: "cli",
    cwd: "/work",
    sessionId,
    version: "2.1.332",
    gitBranch: "HEAD"
  }
  let at = 0
  const timestamp = () => new Date(Date.UTC(2026, 0, 1) + 1000 * at++).toISOString()
  const attachment = (id: string, parentUuid: string | null, type: string) => ({
    parentUuid,
    isSidechain: false,
    attachment: { type },
    type: "attachment",
    uuid: id,
    timestamp: timestamp(),
    renderedRole: "system",
    ...envelope
  })
  const prompt = (id: string, parentUuid: string | null, content: unknown, more = {}) => ({
    parentUuid,
    isSidechain: false,
    promptId: "p1",
    type: "user",
    message: { role: "user", content },
    uuid: id,
    timestamp: timestamp(),
    rowSource: "local",
    turnPosition: { promptIndex: 0, turnIndex: 1 },
    ...more,
    ...envelope
  })
  const block = (id: string, parentUuid: string, message: string, content: unknown) => ({
    parentUuid,
    isSidechain: false,
    message: {
      id: message,
      type: "message",
      role: "assistant",
      model: "m",
      content: [content],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 }
    },
    apiBlockIndex: 0,
    requestId: "req_1",
    type: "assistant",
    uuid: id,
    timestamp: timestamp(),
    madeBy: "model",
    ...envelope
  })
  const toolResult = (id: string, parentUuid: string, toolUse: string) =>
    prompt(id, parentUuid, [{ type: "tool_result", tool_use_id: toolUse, content: "ok" }], {
      toolUseResult: { stdout: "ok" },
      sourceToolAssistantUUID: parentUuid
    })
  const tool = (id: string) => ({ type: "tool_use", id, name: "Bash", input: { command: "ls" } })
  const theirs = [
    { type: "custom-title", customTitle: "Named", sessionId },
    { type: "agent-name", agentName: "Named", sessionId },
    { type: "queue-operation", operation: "enqueue", timestamp: timestamp(), sessionId, content: "go" },
    { type: "queue-operation", operation: "dequeue", timestamp: timestamp(), sessionId },
    prompt("u1", null, "go", { permissionMode: "plan" }),
    attachment("at1", "u1", "environment"),
    { type: "atis-latch", atis: "", sessionId },
    { type: "api-request", sessionId, id: "r1", shapeHash: "h", params: {}, tail: [] },
    block("c1", "at1", "msg_1", tool("toolu_1")),
    block("c2", "c1", "msg_1", tool("toolu_2")),
    toolResult("r1", "c1", "toolu_1"),
    toolResult("r2", "c2", "toolu_2"),
    { type: "file-history-snapshot", messageId: "u1", snapshot: { messageId: "u1", trackedFileBackups: {} } },
    block("a1", "r2", "msg_2", { type: "text", text: "done" }),
    { type: "last-prompt", lastPrompt: "go", leafUuid: "a1", sessionId },
    { type: "mode", mode: "normal", sessionId },
    { type: "permission-mode", permissionMode: "plan", sessionId },
    { type: "cost-state", sessionId, totalCostUSD: 0.1, modelUsage: {} }
  ]
  const text = theirs.map((line) => `${JSON.stringify(line)}\n`).join("")
  const written = EntryLog.EntryLog.use((port) => port.append(log, new TextEncoder().encode(text)))

  it.effect("is continued where it ended, its lines unchanged, its ids known", () =>
    Effect.gen(function* () {
      yield* written
      yield* Effect.scoped(
        Effect.gen(function* () {
          const transcript = yield* Transcript.adopt(options)
          assert.strictEqual(yield* transcript.tail, "a1")
          const metadata = yield* transcript.metadata
          assert.deepStrictEqual(
            [metadata.customTitle, metadata.agentName, metadata.mode, metadata.permissionMode, metadata.lastPrompt],
            ["Named", "Named", "normal", "plan", "go"]
          )
          for (const { uuid } of theirs as ReadonlyArray<Json>) {
            if (uuid === undefined) continue
            const copy = theirs.find((line) => "uuid" in line && line.uuid === uuid)
            assert.strictEqual(yield* transcript.appendEntry(copy as never), "AlreadyThere")
          }
          yield* transcript.append(Message.user("more"))
          yield* transcript.append(reply("msg_3"))
          yield* transcript.endTurn({ durationMs: 1 })
        })
      )
      const all = yield* textOf(log)
      assert.isTrue(all.startsWith(text))
      const ours = all
        .slice(text.length)
        .trimEnd()
        .split("\n")
        .map((line): Json => JSON.parse(line))
      assert.deepStrictEqual(
        ours.map(({ parentUuid, type }) => [type, parentUuid]),
        [
          ["user", "a1"],
          ["assistant", ours[0]!["uuid"]],
          ["system", ours[1]!["uuid"]]
        ]
      )
      // Both calls and both results of the round count.
      assert.strictEqual(ours[2]!["messageCount"], 9)
    }).pipe(Effect.provide(memory))
  )

  it.effect("an open call is answered by its own entry", () =>
    Effect.gen(function* () {
      yield* written
      const open = [block("c3", "a1", "msg_3", tool("toolu_3"))].map((line) => `${JSON.stringify(line)}\n`).join("")
      yield* EntryLog.EntryLog.use((port) => port.append(log, new TextEncoder().encode(open)))
      yield* Effect.scoped(
        Effect.flatMap(Transcript.open(options), (transcript) => transcript.append(result("toolu_3")))
      )
      const last = (yield* linesOf(log)).at(-1)!
      assert.deepStrictEqual([last["parentUuid"], last["sourceToolAssistantUUID"]], ["c3", "c3"])
    }).pipe(Effect.provide(memory))
  )
})
