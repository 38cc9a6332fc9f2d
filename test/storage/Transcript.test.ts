import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Lane from "@reprise/domain/Lane"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as Temporary from "./temporary.ts"

const sessionId = "00000000-0000-4000-8000-000000000001"
const options: Transcript.Options = {
  sessionId,
  cwd: "/w/project",
  version: "2.1.0",
  gitBranch: "main",
  entrypoint: "sdk-ts"
}
const log = EntryLog.session("-w-project", sessionId)
const faulty = FaultyEntryLog.layer.pipe(Layer.provide(EntryLog.layerMemory))
const memory = SessionWriter.layer.pipe(Layer.provideMerge(faulty))

const prompt = Message.user("hello")
const reply = (id: string, text = "hi") =>
  Message.assistant({ id, model: "m", content: [{ type: "text", text }], stop_reason: "end_turn" })
const call = (id: string, toolUseId: string) =>
  Message.assistant({ id, model: "m", content: [{ type: "tool_use", id: toolUseId, name: "Bash", input: {} }] })
const result = (toolUseId: string) =>
  Message.toolResults([{ type: "tool_result", tool_use_id: toolUseId, content: "done" }])

type Json = { readonly [key: string]: any }

const linesOf = (id: EntryLog.LogId) =>
  Effect.scoped(
    Effect.gen(function* () {
      const port = yield* EntryLog.EntryLog
      const reader = yield* port.reader(id)
      const into = new Uint8Array(reader.size)
      yield* reader.read(0, into)
      const lines = new TextDecoder().decode(into).split("\n")
      assert.strictEqual(lines.pop(), "")
      return lines.map((line): Json => JSON.parse(line))
    })
  )

/** Opens, uses and closes a session. */
const session = <A, E, R>(
  use: (transcript: Transcript.Transcript) => Effect.Effect<A, E, R>,
  more: Partial<Transcript.Options> = {}
) => Effect.scoped(Effect.flatMap(Transcript.open({ ...options, ...more }), use))

describe("what a writer must emit (FORMAT §8)", () => {
  const envelope = ["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch"]

  it.effect("keys, their order and their values", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 2, 3, 4, 5, 6))
      yield* session((transcript) =>
        Effect.gen(function* () {
          yield* transcript.append(Message.user("hello", { permissionMode: "default" }))
          yield* transcript.append(call("msg_1", "toolu_1"))
          yield* transcript.append(result("toolu_1"))
          yield* transcript.append(Message.attachment({ type: "date", date: "2026-01-02" }))
          yield* transcript.append(Message.localCommand("<command-name>/x</command-name>"))
        })
      )
      const lines = yield* linesOf(log)
      const head = ["parentUuid", "isSidechain", "type"]
      assert.deepStrictEqual(
        lines.map((line) => Object.keys(line)),
        [
          [...head, "message", "uuid", "timestamp", "permissionMode", ...envelope],
          [...head, "message", "uuid", "timestamp", ...envelope],
          [...head, "message", "uuid", "timestamp", "sourceToolAssistantUUID", ...envelope],
          [...head, "attachment", "uuid", "timestamp", ...envelope],
          [...head, "subtype", "content", "uuid", "timestamp", "level", "isMeta", ...envelope]
        ]
      )
      for (const [i, line] of lines.entries()) {
        assert.match(line["uuid"], /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        assert.strictEqual(line["parentUuid"], lines[i - 1]?.["uuid"] ?? null)
        assert.strictEqual(line["isSidechain"], false)
        assert.strictEqual(line["timestamp"], "2026-01-02T03:04:05.006Z")
        assert.deepStrictEqual(
          envelope.map((key) => line[key]),
          ["external", "sdk-ts", "/w/project", sessionId, "2.1.0", "main"]
        )
      }
      assert.strictEqual(new Set(lines.map((line) => line["uuid"])).size, lines.length)
      assert.deepStrictEqual(Object.keys(lines[1]!["message"]), [
        "id",
        "type",
        "role",
        "model",
        "content",
        "stop_reason",
        "stop_sequence",
        "usage"
      ])
      assert.strictEqual(lines[2]!["sourceToolAssistantUUID"], lines[1]!["uuid"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("keys that are not known are left out", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.flatMap(Transcript.open({ sessionId, cwd: "/w/project", version: "2.1.0" }), (t) => t.append(prompt))
      )
      const [line] = yield* linesOf(log)
      assert.notInclude(Object.keys(line!), "gitBranch")
      assert.notInclude(Object.keys(line!), "entrypoint")
    }).pipe(Effect.provide(memory))
  )

  it.effect("a whole entry that is given as a body gets an envelope of its own", () =>
    Effect.gen(function* () {
      const copy = { ...prompt, uuid: "other", parentUuid: "other", sessionId: "other", timestamp: "other" }
      yield* session((transcript) => transcript.append(copy))
      const [line] = yield* linesOf(log)
      assert.deepStrictEqual([line!["parentUuid"], line!["sessionId"]], [null, sessionId])
      assert.notInclude(JSON.stringify(line), "other")
    }).pipe(Effect.provide(memory))
  )

  it.effect("metadata: type, value, session id", () =>
    Effect.gen(function* () {
      yield* session((transcript) =>
        Effect.gen(function* () {
          yield* transcript.append(prompt)
          yield* transcript.title("T")
          yield* transcript.tag("x")
          yield* transcript.mode("normal")
          yield* transcript.lastPrompt("hello")
          assert.strictEqual(yield* transcript.record(Metadata.agentName("ada")), "Accepted")
        })
      )
      const [first, ...metadata] = yield* linesOf(log)
      assert.deepStrictEqual(
        metadata.map((line) => JSON.stringify(line)),
        [
          { type: "custom-title", customTitle: "T", sessionId },
          { type: "tag", tag: "x", sessionId },
          { type: "mode", mode: "normal", sessionId },
          { type: "last-prompt", lastPrompt: "hello", leafUuid: first!["uuid"], sessionId },
          { type: "agent-name", agentName: "ada", sessionId }
        ].map((line) => JSON.stringify(line))
      )
    }).pipe(Effect.provide(memory))
  )

  it.effect("the id of a new session is a fresh UUID", () =>
    Effect.gen(function* () {
      const { sessionId: _, ...fresh } = options
      const [first, second] = yield* Effect.all([Transcript.open(fresh), Transcript.open(fresh)]).pipe(Effect.scoped)
      assert.notStrictEqual(first.sessionId, second.sessionId)
    }).pipe(Effect.provide(memory))
  )
})

describe("where a session lies", () => {
  it.effect("a session may lie anywhere, its sidechains beside it", () =>
    Effect.gen(function* () {
      const elsewhere = EntryLog.at("/elsewhere/notes.jsonl")
      yield* session(
        (transcript) => Effect.andThen(transcript.append(prompt), transcript.append(prompt, { agentId: "a1" })),
        { log: elsewhere }
      )
      assert.strictEqual((yield* linesOf(elsewhere))[0]!["sessionId"], sessionId)
      assert.strictEqual((yield* linesOf(EntryLog.at("/elsewhere/notes/subagents/agent-a1.jsonl"))).length, 1)
    }).pipe(Effect.provide(memory))
  )

  it.effect("ids come from the SecureRandom that the program provides", () =>
    Effect.gen(function* () {
      let drawn = 0
      const random = SecureRandom.make((size) => new Uint8Array(size).fill(++drawn))
      const first = yield* session((transcript) => transcript.append(prompt)).pipe(
        Effect.provideService(SecureRandom.SecureRandom, random)
      )
      assert.strictEqual(first.uuid, "01010101-0101-4101-8101-010101010101")
    }).pipe(Effect.provide(memory))
  )
})

describe("pending until materialised", () => {
  it.effect(
    "what comes before the first prompt waits, is passed over by flush, and is then written first, in order",
    () =>
      Effect.gen(function* () {
        const port = yield* EntryLog.EntryLog
        yield* session((transcript) =>
          Effect.gen(function* () {
            assert.strictEqual(yield* transcript.mode("normal"), "Pending")
            assert.strictEqual((yield* transcript.append(Message.localCommand("x")))._tag, "Pending")
            assert.strictEqual((yield* transcript.append(prompt, { agentId: "a1" }))._tag, "Pending")
            yield* transcript.flush
            assert.strictEqual((yield* Effect.flip(port.stat(log))).reason, "NotFound")
            assert.deepStrictEqual(yield* Stream.runCollect(transcript.entries), [])
            assert.isNull(yield* transcript.tail)
            assert.strictEqual((yield* transcript.append(prompt))._tag, "Accepted")
          })
        )
        const lines = yield* linesOf(log)
        assert.deepStrictEqual(
          lines.map((line) => line["type"]),
          ["mode", "system", "user"]
        )
        assert.strictEqual(lines[1]!["parentUuid"], null)
        assert.strictEqual(lines[2]!["parentUuid"], lines[1]!["uuid"])
        assert.strictEqual((yield* linesOf(EntryLog.withLane(log, Lane.sidechain("a1")))).length, 1)
      }).pipe(Effect.provide(memory))
  )

  it.effect("a session without a prompt leaves nothing", () =>
    Effect.gen(function* () {
      yield* session((transcript) => Effect.andThen(transcript.title("T"), transcript.endTurn()))
      assert.deepStrictEqual(yield* (yield* EntryLog.EntryLog).projects, [])
    }).pipe(Effect.provide(memory))
  )

  it.effect("in a log that exists, metadata needs no prompt", () =>
    Effect.gen(function* () {
      yield* session((transcript) => transcript.append(prompt))
      yield* session((transcript) => Effect.map(transcript.title("T"), (tag) => assert.strictEqual(tag, "Accepted")))
      assert.strictEqual((yield* linesOf(log))[1]!["customTitle"], "T")
    }).pipe(Effect.provide(memory))
  )
})

describe("the chain", () => {
  it.effect("goes on over closing and opening", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 3; round++) {
        yield* session((transcript) =>
          Effect.gen(function* () {
            yield* transcript.append(prompt)
            yield* transcript.append(reply(`msg_${round}`))
            yield* transcript.endTurn({ durationMs: 5 })
          })
        )
      }
      const lines = yield* linesOf(log)
      assert.strictEqual(lines.length, 9)
      for (const [i, line] of lines.entries()) {
        assert.strictEqual(line["parentUuid"], lines[i - 1]?.["uuid"] ?? null)
        if (i % 3 === 2)
          assert.deepStrictEqual([line["subtype"], line["messageCount"], line["durationMs"]], ["turn_duration", i, 5])
      }
    }).pipe(Effect.provide(memory))
  )

  it.effect("the parent that the caller names wins over the last message of the log", () =>
    Effect.gen(function* () {
      const first = yield* session((transcript) =>
        Effect.gen(function* () {
          const { uuid } = yield* transcript.append(prompt)
          yield* transcript.append(reply("msg_1"))
          return uuid
        })
      )
      yield* session((transcript) => Effect.andThen(transcript.append(prompt), transcript.endTurn()), { parent: first })
      const lines = yield* linesOf(log)
      assert.strictEqual(lines[2]!["parentUuid"], first)
      assert.strictEqual(lines[3]!["messageCount"], 2)
      const refused = yield* Effect.flip(session(() => Effect.void, { parent: "nobody" }))
      assert.deepStrictEqual([refused._tag, refused.message.includes('"nobody"')], ["AppendError", true])
    }).pipe(Effect.provide(memory))
  )

  it.effect("a version that no reader can compare is refused before anything is made", () =>
    Effect.gen(function* () {
      for (const version of ["", "banana", "2.1", "v2.1.0", "2.1.0\n"]) {
        const refused = yield* Effect.flip(session(() => Effect.void, { version }))
        assert(refused._tag === "AppendError")
        assert.deepStrictEqual([refused.reason, refused.what], ["version", version])
      }
      yield* session((transcript) => transcript.append(prompt), { version: "2.1.0-beta.3" })
      assert.strictEqual((yield* linesOf(log)).length, 1)
    }).pipe(Effect.provide(memory))
  )

  it.effect("only accepted entries are parents: a failed append leaves the tail where it was", () =>
    session((transcript) =>
      Effect.gen(function* () {
        const { uuid } = yield* transcript.append(prompt)
        const cyclic: { [key: string]: unknown } = {}
        cyclic["self"] = cyclic
        const notJson = yield* Effect.flip(transcript.append(Message.user("x", { toolUseResult: cyclic })))
        assert(notJson._tag === "AppendError")
        assert.strictEqual(notJson.reason, "not-json")
        const unknown = yield* Effect.flip(transcript.append(prompt, { parent: "nobody" }))
        assert(unknown._tag === "AppendError")
        assert.strictEqual(unknown.reason, "unknown-entry")
        assert.strictEqual(yield* transcript.tail, uuid)
        yield* transcript.append(reply("msg_1"))
        yield* transcript.flush
        assert.deepStrictEqual(
          (yield* linesOf(log)).map((line) => line["parentUuid"]),
          [null, uuid]
        )
      })
    ).pipe(Effect.provide(memory))
  )

  it.effect("what is no body and no entry is neither stamped nor written, whatever the compiler was told", () =>
    session((transcript) =>
      Effect.gen(function* () {
        const { uuid } = yield* transcript.append(prompt)
        const found: { readonly [found: string]: unknown } = {
          null: null,
          "a string": "x",
          "an array": [prompt],
          "an object without one": { content: "x" }
        }
        for (const [what, value] of Object.entries(found)) {
          const doors = [
            transcript.append(value as Message.MessageBody),
            transcript.appendDurable(value as Message.MessageBody),
            transcript.appendEntry(value as Entry.Unknown),
            transcript.record(value as Metadata.Body)
          ]
          for (const door of doors) {
            const error = yield* Effect.flip(door as Effect.Effect<unknown, Transcript.Failure>)
            assert(error._tag === "AppendError")
            assert.deepStrictEqual([error.reason, error.what], ["not-entry", what])
            assert.include(error.message, "an object with a string `type`")
          }
        }
        assert.strictEqual(yield* transcript.tail, uuid)
        yield* transcript.flush
        assert.strictEqual((yield* linesOf(log)).length, 1)
      })
    ).pipe(Effect.provide(memory))
  )

  it.effect("parallel calls: results may hang on their calls, and the checkpoint counts the whole round", () =>
    session((transcript) =>
      Effect.gen(function* () {
        yield* transcript.append(prompt)
        const one = yield* transcript.append(call("msg_1", "toolu_1"))
        const two = yield* transcript.append(call("msg_1", "toolu_2"))
        yield* transcript.append(result("toolu_1"), { parent: one.uuid })
        yield* transcript.append(result("toolu_2"), { parent: two.uuid })
        yield* transcript.endTurn()
        yield* transcript.flush
        const lines = yield* linesOf(log)
        assert.deepStrictEqual(lines.map((line) => line["sourceToolAssistantUUID"]).slice(3, 5), [one.uuid, two.uuid])
        assert.strictEqual(lines[5]!["messageCount"], 5)
      })
    ).pipe(Effect.provide(memory))
  )

  it.effect("rewind: an informational meta entry hangs on the target, and the next message on it", () =>
    session((transcript) =>
      Effect.gen(function* () {
        const { uuid } = yield* transcript.append(prompt)
        yield* transcript.append(reply("msg_1"))
        const marker = yield* transcript.rewind(uuid)
        yield* transcript.append(prompt)
        yield* transcript.endTurn()
        yield* transcript.flush
        const lines = yield* linesOf(log)
        const { isMeta, parentUuid, subtype, type } = lines[2]!
        assert.deepStrictEqual([type, subtype, isMeta, parentUuid], ["system", "informational", true, uuid])
        assert.strictEqual(lines[3]!["parentUuid"], marker.uuid)
        assert.strictEqual(lines[4]!["messageCount"], 3)
        assert.strictEqual((yield* Effect.flip(transcript.rewind("nobody")))._tag, "AppendError")
      })
    ).pipe(Effect.provide(memory))
  )

  it.effect("compact: boundary and summary, both forms of the kept messages, the count begins anew", () =>
    session((transcript) =>
      Effect.gen(function* () {
        yield* transcript.append(prompt)
        const kept = [(yield* transcript.append(prompt)).uuid, (yield* transcript.append(reply("msg_1"))).uuid]
        const made = yield* transcript.compact("summary", kept, { trigger: "auto", preTokens: 9 })
        yield* transcript.append(prompt)
        yield* transcript.endTurn()
        yield* transcript.flush
        const [boundary, summary, next, turn] = (yield* linesOf(log)).slice(3)
        assert.deepStrictEqual(Object.keys(boundary!).slice(0, 6), [
          "parentUuid",
          "logicalParentUuid",
          "isSidechain",
          "type",
          "subtype",
          "content"
        ])
        assert.deepStrictEqual(
          [boundary!["parentUuid"], boundary!["logicalParentUuid"], boundary!["uuid"]],
          [null, kept[1], made.boundary]
        )
        assert.deepStrictEqual(boundary!["compactMetadata"], {
          trigger: "auto",
          preTokens: 9,
          preservedSegment: { headUuid: kept[0], anchorUuid: made.summary, tailUuid: kept[1] },
          preservedMessages: { anchorUuid: made.summary, uuids: kept, allUuids: kept }
        })
        assert.deepStrictEqual(
          [summary!["uuid"], summary!["parentUuid"], summary!["isCompactSummary"]],
          [made.summary, made.boundary, true]
        )
        assert.strictEqual(next!["parentUuid"], made.summary)
        assert.strictEqual(turn!["messageCount"], 5)
      })
    ).pipe(Effect.provide(memory))
  )

  it.effect("a boundary that was cut off from its summary cuts nothing", () =>
    Effect.gen(function* () {
      const tail = yield* session((transcript) =>
        Effect.gen(function* () {
          const { uuid } = yield* transcript.append(prompt)
          yield* transcript.appendEntry({
            ...Message.system("compact_boundary", { logicalParentUuid: uuid, compactMetadata: { trigger: "auto" } }),
            uuid: "b",
            parentUuid: null
          } as Entry.Message)
          return uuid
        })
      )
      yield* session((transcript) => transcript.append(prompt))
      assert.strictEqual((yield* linesOf(log))[2]!["parentUuid"], tail)
    }).pipe(Effect.provide(memory))
  )

  it.effect("snip names accepted entries only", () =>
    session((transcript) =>
      Effect.gen(function* () {
        const { uuid } = yield* transcript.append(prompt)
        const last = yield* transcript.append(reply("msg_1"))
        yield* transcript.snip([uuid])
        assert.strictEqual((yield* Effect.flip(transcript.snip([uuid, "nobody"])))._tag, "AppendError")
        yield* transcript.flush
        const [, , snip] = yield* linesOf(log)
        assert.deepStrictEqual(
          [snip!["subtype"], snip!["parentUuid"], snip!["snipMetadata"]],
          ["snip_boundary", last.uuid, { removedUuids: [uuid] }]
        )
      })
    ).pipe(Effect.provide(memory))
  )
})

describe("routing", () => {
  it.effect("the main lane has each id once, also after opening again", () =>
    Effect.gen(function* () {
      const copy = { type: "user", uuid: "u1", parentUuid: null, message: { content: "x" } } as Entry.Message
      yield* session((transcript) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* transcript.appendEntry(copy), "Accepted")
          assert.strictEqual(yield* transcript.appendEntry(copy), "AlreadyThere")
          assert.strictEqual((yield* transcript.append(prompt, { uuid: "u2" }))._tag, "Accepted")
          assert.strictEqual((yield* transcript.append(prompt, { uuid: "u2" }))._tag, "AlreadyThere")
        })
      )
      yield* session((transcript) =>
        Effect.map(transcript.appendEntry(copy), (tag) => assert.strictEqual(tag, "AlreadyThere"))
      )
      const lines = yield* linesOf(log)
      assert.deepStrictEqual(
        lines.map((line) => [line["uuid"], line["parentUuid"]]),
        [
          ["u1", null],
          ["u2", "u1"]
        ]
      )
      assert.strictEqual(JSON.stringify(lines[0]), Line.encode(copy))
    }).pipe(Effect.provide(memory))
  )

  it.effect("each agent has a lane of its own, in its folder, and its own chain over opening again", () =>
    Effect.gen(function* () {
      const sidechain = EntryLog.withLane(log, Lane.sidechain("a1", ["workflows", "wf_1"]))
      yield* session((transcript) =>
        Effect.gen(function* () {
          yield* transcript.append(prompt)
          yield* transcript.append(prompt, { agentId: "a1", subPath: ["workflows", "wf_1"] })
          yield* transcript.append(reply("msg_1"))
          yield* transcript.append(reply("msg_a"), { agentId: "a1" })
        })
      )
      yield* session((transcript) =>
        Effect.gen(function* () {
          yield* transcript.append(prompt, { agentId: "a1" })
          const types = Projection.entries(
            Projection.match((): ReadonlyArray<string> => [], {
              user: (seen, { type }) => [...seen, type],
              assistant: (seen, { type }) => [...seen, type]
            })
          )
          assert.deepStrictEqual(yield* transcript.project(types), ["user", "assistant"])
          assert.deepStrictEqual(yield* transcript.project(types, { agentId: "a1" }), ["user", "assistant", "user"])
          assert.deepStrictEqual(yield* transcript.project(types, { agentId: "a2" }), [])
        })
      )
      const lines = yield* linesOf(sidechain)
      assert.deepStrictEqual(
        lines.map((line) => line["parentUuid"]),
        [null, lines[0]!["uuid"], lines[1]!["uuid"]]
      )
      for (const line of lines) {
        assert.deepStrictEqual([line["isSidechain"], line["agentId"], line["sessionId"]], [true, "a1", sessionId])
        assert.deepStrictEqual(Object.keys(line).slice(0, 4), ["parentUuid", "isSidechain", "agentId", "type"])
      }
      const main = yield* linesOf(log)
      assert.deepStrictEqual(
        main.map((line) => line["parentUuid"]),
        [null, main[0]!["uuid"]]
      )
    }).pipe(Effect.provide(memory))
  )

  it.effect("what must not be written is refused: progress, a sidechain without agent, names with separators", () =>
    session((transcript) =>
      Effect.gen(function* () {
        const tagOf = (effect: Effect.Effect<unknown, Transcript.Failure>) =>
          Effect.map(Effect.flip(effect), (error) => ("reason" in error ? `${error._tag} ${error.reason}` : error._tag))
        yield* transcript.append(prompt)
        const entry = (more: object) => ({ uuid: "u", parentUuid: null, ...more }) as unknown as Entry.Known
        // @ts-expect-error: progress is no body
        const progress: Message.MessageBody = { type: "progress" }
        assert.strictEqual(yield* tagOf(transcript.append(progress)), "Refused progress")
        assert.strictEqual(yield* tagOf(transcript.appendEntry(entry({ type: "progress" }))), "Refused progress")
        assert.strictEqual(
          yield* tagOf(transcript.appendEntry(entry({ type: "system", isSidechain: true }))),
          "Refused without-agent"
        )
        for (const agentId of ["../../x", "", "..", "a/b"]) {
          assert.strictEqual(yield* tagOf(transcript.append(prompt, { agentId })), "AppendError agent-id")
        }
        assert.strictEqual(
          yield* tagOf(transcript.append(prompt, { agentId: "a1", subPath: [".."] })),
          "AppendError agent-id"
        )
        assert.strictEqual((yield* Effect.flip(session(() => Effect.void, { sessionId: "../x" })))._tag, "AppendError")
      })
    ).pipe(Effect.provide(memory))
  )
})

describe("writing", () => {
  it.effect("what was appended is read back by the transcript itself", () =>
    session((transcript) =>
      Effect.gen(function* () {
        yield* transcript.append(prompt)
        yield* transcript.append(reply("msg_1"))
        const located = yield* Stream.runCollect(transcript.entries)
        assert.deepStrictEqual(
          located.map(({ at, entry }) => [entry.type, at.line]),
          [
            ["user", 1],
            ["assistant", 2]
          ]
        )
      })
    ).pipe(Effect.provide(memory))
  )

  it.effect("a flush that fails loses nothing: the chain on disk is whole when the log is mended", () =>
    Effect.gen(function* () {
      const faults = yield* FaultyEntryLog.Faults
      yield* session((transcript) =>
        Effect.gen(function* () {
          yield* transcript.append(prompt)
          yield* faults.plan({ after: 30 }, {})
          const error = yield* Effect.flip(transcript.flush)
          assert.strictEqual(error._tag, "FlushError")
          yield* transcript.append(reply("msg_1"))
          assert.strictEqual((yield* Effect.flip(transcript.flush))._tag, "FlushError")
          yield* transcript.append(prompt)
        })
      )
      const port = yield* EntryLog.EntryLog
      const located = yield* session((transcript) => Stream.runCollect(transcript.entries))
      assert.deepStrictEqual(
        located.map(({ entry }) => entry.type),
        [undefined, "user", "assistant", "user"]
      )
      assert.isAbove((yield* port.stat(log)).size, 0)
    }).pipe(Effect.provide(memory))
  )

  const Step = Schema.Struct({
    kind: Schema.Literals(["user", "assistant", "system", "title", "flush", "endTurn"]),
    yields: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
  })

  it.effect.prop(
    "wherever a session is interrupted, its log is one unbroken chain of what was accepted",
    [Schema.Array(Step), Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))],
    ([steps, stopAt]) =>
      Effect.gen(function* () {
        const accepted: Array<string> = []
        const run = session((transcript) =>
          Effect.gen(function* () {
            for (const { kind, yields } of steps) {
              if (kind === "title") yield* transcript.title("T")
              else if (kind === "flush") yield* transcript.flush
              else {
                const body = kind === "user" ? prompt : kind === "assistant" ? reply("m") : Message.localCommand("x")
                const { _tag, uuid } = yield* kind === "endTurn" ? transcript.endTurn() : transcript.append(body)
                if (_tag === "Accepted") accepted.push(uuid)
              }
              for (let i = 0; i < yields; i++) yield* Effect.yieldNow
            }
          })
        )
        const fiber = yield* Effect.forkChild(run)
        for (let i = 0; i < stopAt; i++) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        const lines = yield* Effect.orElseSucceed(linesOf(log), (): ReadonlyArray<Json> => [])
        const chain = lines.filter((line) => typeof line["uuid"] === "string")
        for (const [i, line] of chain.entries()) assert.strictEqual(line["parentUuid"], chain[i - 1]?.["uuid"] ?? null)
        const written = new Set(chain.map((line) => line["uuid"]))
        for (const uuid of accepted) assert.isTrue(written.has(uuid))
      }).pipe(Effect.provide(memory)),
    { arbitrary: { runs: 150 } }
  )

  it.effect("on files: closed and opened again, the session is whole", () =>
    Effect.gen(function* () {
      const first = yield* session((transcript) => transcript.append(prompt))
      const exit = yield* Effect.exit(session(() => Effect.interrupt))
      assert.isTrue(Exit.isFailure(exit))
      yield* session((transcript) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* transcript.tail, first.uuid)
          assert.strictEqual((yield* Stream.runCollect(transcript.entries)).length, 1)
        })
      )
    }).pipe(Effect.provide(SessionWriter.layerWith({ durability: "fsync" }).pipe(Layer.provideMerge(Temporary.layer))))
  )
})
