import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as Redactor from "@reprise/storage/Redactor"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Layer, Stream } from "effect"

const sessionId = "00000000-0000-4000-8000-000000000001"
const options = { sessionId, cwd: "/w/secret", version: "2.1.0", gitBranch: "secret" }
const memory = SessionWriter.layer.pipe(Layer.provideMerge(EntryLog.layerMemory))
const hide: Redactor.Redact = (text) => text.replaceAll("secret", "[hidden]")

/** What a program writes with the redactor. */
const recorded = <E, R>(use: (transcript: Transcript.Transcript) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const transcript = yield* Transcript.open(options)
    yield* use(transcript)
    return (yield* Stream.runCollect(transcript.entries)).map(({ entry }) => JSON.stringify(entry))
  }).pipe(Effect.scoped, Effect.provideService(Redactor.Redactor, hide), Effect.provide(memory))

describe("the redactor", () => {
  it.effect(
    "sees every string before it is written: texts, inputs, results, paths as keys, metadata, restated too",
    () =>
      Effect.gen(function* () {
        const lines = yield* recorded((transcript) =>
          Effect.gen(function* () {
            const input = { command: "echo secret", "/secret/key": [{ deep: ["a secret"] }] }
            const content = [{ type: "tool_use" as const, id: "toolu_1", name: "Bash", input }]
            const result = [{ type: "text", text: "a secret" }]
            yield* transcript.append(Message.user("my secret"))
            yield* transcript.append(Message.assistant({ id: "msg_1", model: "m", content }))
            yield* transcript.append(
              Message.toolResults([{ type: "tool_result", tool_use_id: "toolu_1", content: result } as never], {
                toolUseResult: { stdout: "secret" }
              })
            )
            yield* transcript.title("the secret")
            yield* transcript.append(Message.user("x".repeat(90_000)))
            yield* transcript.appendEntry({ type: "own", sessionId, note: { secret: "a secret" } } as Entry.Unknown)
          })
        )
        assert.strictEqual(lines.filter((line) => line.includes("custom-title")).length, 2)
        for (const line of lines) assert.notMatch(line.replaceAll('"secret":', ""), /secret/)
        assert.match(lines[1]!, /"\/\[hidden\]\/key":\[\{"deep":\["a \[hidden\]"\]\}\]/)
      })
  )

  it("does not see what holds the log together, and gives the entry itself where nothing changes", () => {
    const seen: Array<string> = []
    const entry = {
      type: "assistant",
      uuid: "u",
      parentUuid: "p",
      sessionId,
      timestamp: "t",
      message: {
        id: "msg",
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu", name: "Bash", input: { type: "x" } }]
      },
      compactMetadata: { trigger: "auto", preservedMessages: { anchorUuid: "a", uuids: ["b"] } }
    } as unknown as Entry.Known
    const same = Redactor.redact(entry, (text) => {
      seen.push(text)
      return text
    })
    assert.strictEqual(same, entry)
    assert.deepStrictEqual(seen, ["Bash", "x", "auto"])
  })

  it.effect("a repeated entry is compared as it would be written", () =>
    recorded((transcript) =>
      Effect.gen(function* () {
        yield* transcript.append(Message.user("a secret"), { uuid: "u" })
        assert.strictEqual((yield* transcript.append(Message.user("a secret"), { uuid: "u" }))._tag, "AlreadyThere")
        assert.strictEqual(
          (yield* Effect.flip(transcript.append(Message.user("b"), { uuid: "u" })))._tag,
          "AppendError"
        )
      })
    )
  )
})
