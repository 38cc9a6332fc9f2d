import { assert, describe, it } from "@effect/vitest"
import * as Content from "@reprise/domain/Content"
import * as Message from "@reprise/domain/Message"
import * as Schema from "effect/Schema"

const isUser = Schema.is(Message.User)
const isAssistant = Schema.is(Message.Assistant)
const isAttachment = Schema.is(Message.AttachmentEntry)
const isSystem = Schema.is(Message.System)

const user = (more: object) => ({ type: "user", uuid: "u1", parentUuid: null, message: { content: "a" }, ...more })
const assistant = (message: unknown) => ({ type: "assistant", uuid: "a1", parentUuid: "u1", message })

describe("Message schemas", () => {
  it("ask for no more than the client needs to resume (FORMAT §8)", () => {
    assert.isTrue(isUser({ type: "user", uuid: "u1", message: { content: "a" } }))
    assert.isTrue(isAssistant({ type: "assistant", uuid: "a1", message: { content: [] } }))
    assert.isTrue(isAttachment({ type: "attachment", uuid: "t1" }))
    assert.isTrue(isSystem({ type: "system", uuid: "s1" }))
  })

  it("refuse an entry without id, and one of another type", () => {
    assert.isFalse(isUser({ type: "user", message: { content: "a" } }))
    assert.isFalse(isUser({ ...user({}), type: "User" }))
    assert.isFalse(isSystem({ type: "attachment", uuid: "t1" }))
  })

  it("take null for an absent parent and lane", () => {
    assert.isTrue(isUser(user({ parentUuid: null, isSidechain: null })))
    assert.isTrue(isUser(user({ parentUuid: "" })))
    assert.isFalse(isUser(user({ isSidechain: "false" })))
  })

  it("are open to keys and values that they do not know", () => {
    assert.isTrue(isUser(user({ permissionMode: "someday", sandboxed: { deep: [1] }, futureKey: null })))
    assert.isTrue(isSystem({ type: "system", uuid: "s1", subtype: "someday", level: "loud" }))
  })

  it.prop("take any value under a key that nobody reads", { value: Schema.Json }, ({ value }) => {
    for (const key of ["toolUseResult", "todos", "origin", "teamName"]) assert.isTrue(isUser(user({ [key]: value })))
    assert.isTrue(isSystem({ type: "system", uuid: "s1", subtype: "api_error", error: value, hookInfos: value }))
  })

  it.prop("are total", { value: Schema.Json }, ({ value }) => {
    for (const schema of Object.values(Message.schemas)) {
      const is = Schema.is(schema as Schema.Schema<unknown>)
      assert.isBoolean(is(value))
      assert.isBoolean(is({ type: "user", uuid: "u1", message: value }))
    }
  })
})

describe("odd forms (FORMAT §3.3)", () => {
  it("the content of an assistant may be a string", () => {
    assert.isTrue(isAssistant(assistant({ content: "text" })))
  })

  it("the content may be an empty list", () => {
    assert.isTrue(isAssistant(assistant({ content: [] })))
  })

  it("a message whose content is null or absent, and no message at all, do not fit", () => {
    for (const message of [{ content: null }, {}, null, "text", undefined, []]) {
      assert.isFalse(isAssistant(assistant(message)))
      assert.isFalse(isUser({ ...user({}), message }))
    }
  })

  it("a raw stream spread over numeric keys has no blocks", () => {
    const message = { "0": "e", "1": "v", content: [] }
    assert.isTrue(isAssistant(assistant(message)))
    assert.deepStrictEqual(Content.blocks(message.content), [])
  })

  it("an assistant may lack id, model, usage, stop reason, type and role", () => {
    assert.isTrue(isAssistant(assistant({ content: [{ type: "text", text: "a" }] })))
  })

  it("a stop reason and counts may be null", () => {
    const usage = { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: null, iterations: null, someday: {} }
    assert.isTrue(isAssistant(assistant({ content: [], stop_reason: null, stop_sequence: null, usage })))
  })

  it("blocks are not looked at: null, unknown and ill-formed ones fit", () => {
    assert.isTrue(isAssistant(assistant({ content: [null, { type: "someday" }, { type: "tool_use" }, 7] })))
  })

  it("an attachment may be null; its body needs a type and no more", () => {
    for (const attachment of [null, { type: "file" }, { type: "someday", x: 1 }]) {
      assert.isTrue(isAttachment({ type: "attachment", uuid: "t1", attachment }))
    }
    assert.isFalse(isAttachment({ type: "attachment", uuid: "t1", attachment: {} }))
  })

  it("the metadata of a compact boundary may be null or absent", () => {
    for (const more of [{ compactMetadata: null }, {}]) {
      assert.isTrue(isSystem({ type: "system", subtype: "compact_boundary", uuid: "s1", parentUuid: null, ...more }))
    }
  })

  it("the error of an api_error may be empty", () => {
    assert.isTrue(isSystem({ type: "system", subtype: "api_error", uuid: "s1", error: {}, retryInMs: 512.5 }))
  })
})

describe("Message.isMessageType", () => {
  it("knows the four kinds of the chain", () => {
    for (const type of Object.keys(Message.schemas)) assert.isTrue(Message.isMessageType(type))
    for (const type of ["progress", "tag", "User", "", null, undefined]) assert.isFalse(Message.isMessageType(type))
  })
})

describe("Message.sent", () => {
  const body = { type: "critical_system_reminder", content: "Mind the gap." }

  it("rendered content is sent as it is, whatever the body", () => {
    assert.deepStrictEqual(Message.sent({ attachment: body, rendered: [{ content: "R" }] }), [Content.text("R")])
    const blocks = [Content.text("R"), Content.image("image/png", "AAAA")]
    assert.deepStrictEqual(Message.sent({ attachment: { type: "someday" }, rendered: [{ content: blocks }] }), blocks)
    assert.deepStrictEqual(Message.sent({ attachment: body, rendered: [] }), [])
  })

  it("without rendered content the body speaks for itself", () => {
    const [block] = Message.sent({ attachment: body })
    assert.include(Content.isText(block) ? block.text : "", "Mind the gap.")
    assert.deepStrictEqual(Message.sent({ attachment: null }), [])
    assert.deepStrictEqual(Message.sent({}), [])
  })

  it.prop("is total", { attachment: Schema.Json, rendered: Schema.Json }, (entry) => {
    for (const block of Message.sent(entry)) assert.isString(block.type)
  })
})

describe("Message constructors", () => {
  const stamp = (body: Message.MessageBody) => ({ parentUuid: null, isSidechain: false, ...body, uuid: "x1" })
  const reply = { id: "msg_1", model: "some-model", content: "Done." }

  const bodies: ReadonlyArray<Message.MessageBody> = [
    Message.user("Hello"),
    Message.user([Content.text("Look:"), Content.image("image/png", "AAAA")], { permissionMode: "plan" }),
    Message.toolResults([Content.toolResult({ tool_use_id: "T1", content: "ok" })], { sourceToolAssistantUUID: "a1" }),
    Message.assistant(reply),
    Message.attachment({ type: "date_change", newDate: "2026-10-02" }),
    Message.attachment({ type: "of-my-own", level: 3 }, "as sent"),
    Message.system("stop_hook_summary", { hookCount: 1 }),
    Message.localCommand("<local-command-stdout>ok</local-command-stdout>"),
    Message.turnDuration({ durationMs: 1200, messageCount: 4 }),
    Message.informational("Rewound")
  ]

  it("make bodies that fit once they are stamped, and carry no envelope", () => {
    for (const body of bodies) {
      const is = Schema.is(Message.schemas[body.type] as Schema.Schema<unknown>)
      assert.isTrue(is(stamp(body)), JSON.stringify(body))
      for (const key of Object.keys(Message.Envelope.fields)) if (key !== "type") assert.notProperty(body, key)
    }
  })

  it("write no key without a value", () => {
    for (const body of bodies) assert.deepStrictEqual(JSON.parse(JSON.stringify(body)), { ...body })
  })

  it("an assistant always has what readers need (FORMAT §8)", () => {
    const { message } = Message.assistant(reply)
    assert.strictEqual(Object.keys(message).join(), "id,type,role,model,content,stop_reason,stop_sequence,usage")
    assert.deepStrictEqual(message.content, [Content.text("Done.")])
    assert.isNull(message.stop_reason)
    assert.deepStrictEqual(message.usage, { input_tokens: 0, output_tokens: 0 })
  })

  it("take blocks and answers as another library types them, without an index signature", () => {
    interface Called {
      readonly type: "code_execution_tool_result"
      readonly content: { readonly stdout: string }
    }
    interface Answer {
      readonly id: string
      readonly model: string
      readonly role: "assistant"
      readonly content: Array<Called>
      readonly stop_reason: "end_turn" | null
      readonly usage: { readonly input_tokens: number; readonly service_tier: "standard" | null }
    }
    const content: Array<Called> = [{ type: "code_execution_tool_result", content: { stdout: "ok" } }]
    const usage = { input_tokens: 1, service_tier: null }
    const answer: Answer = { id: "msg_1", model: "m", role: "assistant", content, stop_reason: "end_turn", usage }
    const { message } = Message.assistant(answer)
    assert.deepStrictEqual([message.content, message.stop_reason, message.usage], [content, "end_turn", usage])
    assert.deepStrictEqual(Message.user(content).message.content, content)
  })

  it("an assistant keeps what it is given", () => {
    const usage = { input_tokens: 7, output_tokens: 9 }
    const body = Message.assistant({ ...reply, stop_reason: "end_turn", usage }, { requestId: "req_1" })
    assert.strictEqual(body.message.stop_reason, "end_turn")
    assert.strictEqual(body.message.usage, usage)
    assert.strictEqual(body.requestId, "req_1")
  })

  it("a rewind marker is a meta note", () => {
    assert.deepStrictEqual(Message.informational("Rewound"), {
      type: "system",
      subtype: "informational",
      content: "Rewound",
      isMeta: true,
      level: "info"
    })
    assert.strictEqual(Message.informational("Mind", { isMeta: false, level: "warning" }).level, "warning")
  })
})
