import * as Bodies from "@reprise/cli/Bodies"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const read = (...lines: ReadonlyArray<unknown>) =>
  Bodies.read(
    new TextEncoder().encode(lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"))
  )
const refused = (...lines: ReadonlyArray<unknown>) => Effect.map(Effect.flip(read(...lines)), ({ message }) => message)

describe("bodies", () => {
  it.effect("are messages with what readers need, their own id and their agent", () =>
    Effect.gen(function* () {
      const content = [{ type: "text", text: "done" }]
      const given = yield* read(
        { type: "user", message: { content: "go" }, isMeta: true },
        "",
        { type: "assistant", uuid: "a1", message: { id: "msg_1", model: "m", content, stop_reason: "end_turn" } },
        { type: "system", subtype: "informational", content: "x", agentId: "a1b2c3" },
        { type: "attachment", attachment: { type: "date", date: "2026-01-02" } }
      )
      assert.deepStrictEqual(
        given.map(({ options }) => options),
        [{}, { uuid: "a1" }, { agentId: "a1b2c3" }, {}]
      )
      assert.deepStrictEqual(given[0]!.body, {
        type: "user",
        message: { role: "user", content: "go" },
        isMeta: true
      })
      assert.deepStrictEqual((given[1]!.body as { readonly message: unknown }).message, {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content,
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 0, output_tokens: 0 }
      })
    })
  )

  it.effect("that do not fit are named by their line, with what was expected and found", () =>
    Effect.gen(function* () {
      const good = { type: "user", message: { content: "go" } }
      assert.strictEqual(
        yield* refused(good, "", { type: "user", message: {} }),
        "line 3: expected message.content to fit, found message.content absent; nothing was written"
      )
      assert.strictEqual(
        yield* refused({ type: "assistant", message: { content: "x" } }),
        "line 1: expected message.id and message.model to fit, found message.id absent; nothing was written"
      )
      assert.match(yield* refused({ type: "user", message: { content: 5 } }), /found message\.content 5;/)
      assert.match(yield* refused({ type: "attachment" }), /expected attachment\.type to fit/)
      assert.match(yield* refused({ type: "system" }), /expected subtype to fit/)
      assert.match(yield* refused({ type: "progress" }), /found type "progress"/)
      assert.match(
        yield* refused({ type: "tag", tag: "x" }),
        /expected a user, assistant, attachment or system message/
      )
      assert.match(yield* refused(good, "{"), /^line 2: expected one JSON object with a type, found what is torn/)
      assert.match(yield* refused("[1]"), /found what is not-object/)
      assert.match(yield* refused("{}"), /found what is no-type/)
      assert.match(yield* refused(`${JSON.stringify(good)}${JSON.stringify(good)}`), /found several/)
    })
  )

  it("a prompt is a user message", () => {
    assert.deepStrictEqual(Bodies.prompt("go"), {
      body: { type: "user", message: { role: "user", content: "go" } },
      options: {}
    })
  })
})
