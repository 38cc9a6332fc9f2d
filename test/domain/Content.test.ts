import { assert, describe, it } from "@effect/vitest"
import * as Content from "@reprise/domain/Content"
import * as Schema from "effect/Schema"

/** JSON that often looks like a block. */
const Member = Schema.Union([
  Schema.Json,
  Schema.Struct({
    type: Schema.Literals(["text", "thinking", "tool_use", "tool_result", "image", "__proto__", "constructor", "odd"]),
    text: Schema.optionalKey(Schema.Union([Schema.String, Schema.Null])),
    thinking: Schema.optionalKey(Schema.String),
    id: Schema.optionalKey(Schema.String),
    name: Schema.optionalKey(Schema.String),
    tool_use_id: Schema.optionalKey(Schema.String),
    content: Schema.optionalKey(Schema.Json),
    input: Schema.optionalKey(Schema.Json)
  })
])
const Value = Schema.Union([Member, Schema.Array(Member)])

const kinds = Object.keys(Content.schemas) as ReadonlyArray<Content.Kind>

describe("Content.blocks", () => {
  it("reads a string as one text block", () => {
    assert.deepStrictEqual(Content.blocks("hello"), [{ type: "text", text: "hello" }])
  })

  it("finds no blocks in null, in nothing and in what is no content", () => {
    for (const content of [null, undefined, 7, true, {}, { type: "text", text: "not a list" }]) {
      assert.deepStrictEqual(Content.blocks(content), [])
    }
  })

  it("drops null among blocks and keeps the rest as the objects they are", () => {
    const known = { type: "text", text: "a", cache_control: { type: "ephemeral" } }
    const unknown = { type: "web_search_tool_result", content: [] }
    const blocks = Content.blocks([null, known, unknown])
    assert.strictEqual(blocks.length, 2)
    assert.strictEqual<unknown>(blocks[0], known)
    assert.strictEqual<unknown>(blocks[1], unknown)
  })

  it("reads a string among blocks as text, and drops what has no type", () => {
    assert.deepStrictEqual(Content.blocks(["a", 1, [], {}, { type: 1 }]), [{ type: "text", text: "a" }])
  })

  it("keeps a block of a known type that does not fit as an unknown one", () => {
    const [block] = Content.blocks([{ type: "tool_use", name: "Bash" }])
    assert.isTrue(block !== undefined && Content.isUnknown(block))
    assert.isFalse(Content.isToolUse(block))
  })

  it.prop("is total, and gives only objects with a type", { value: Value }, ({ value }) => {
    for (const block of Content.blocks(value)) assert.isString(block.type)
  })

  it.prop("gives no object that was not there", { value: Schema.Array(Member) }, ({ value }) => {
    const there = new Set<unknown>(value)
    for (const block of Content.blocks(value)) {
      assert.isTrue(there.has(block) || (Content.isText(block) && there.has(block.text)))
    }
  })
})

describe("Content guards", () => {
  it.prop("agree with the schemas, for any value", { value: Value }, ({ value }) => {
    const named = {
      text: Content.isText,
      thinking: Content.isThinking,
      tool_use: Content.isToolUse,
      tool_result: Content.isToolResult
    }
    for (const kind of kinds) {
      const fits = Schema.is(Content.schemas[kind] as Schema.Schema<unknown>)(value)
      assert.strictEqual(Content.is(kind, value), fits)
      if (kind in named) assert.strictEqual(named[kind as keyof typeof named](value), fits)
    }
  })

  it.prop("a block is of one known type or unknown, never both", { value: Value }, ({ value }) => {
    for (const block of Content.blocks(value)) {
      assert.strictEqual(kinds.filter((kind) => Content.is(kind, block)).length, Content.isUnknown(block) ? 0 : 1)
    }
  })
})

describe("odd blocks (FORMAT §3.3)", () => {
  it("a call has an object, null, a string or nothing as input", () => {
    for (const input of [{ input: {} }, { input: null }, { input: "raw" }, {}]) {
      assert.isTrue(Content.isToolUse({ type: "tool_use", id: "T1", name: "Bash", ...input }))
    }
  })

  it("text and thinking may carry an input of null", () => {
    assert.isTrue(Content.isText({ type: "text", text: "a", input: null }))
    assert.isTrue(Content.isThinking({ type: "thinking", thinking: "a", input: null }))
  })

  it("thinking may lack its signature", () => {
    assert.isTrue(Content.isThinking({ type: "thinking", thinking: "" }))
  })

  it("a result has a string, blocks, null or nothing as content", () => {
    for (const content of [{ content: "" }, { content: [null] }, { content: null }, {}]) {
      assert.isTrue(Content.isToolResult({ type: "tool_result", tool_use_id: "T1", ...content }))
    }
  })

  it("a server's call and its result may stand in one assistant message", () => {
    const blocks = Content.blocks([
      { type: "server_tool_use", id: "S1", name: "web_search", input: "query" },
      { type: "tool_result", tool_use_id: "S1", content: [] }
    ])
    assert.isTrue(Content.is("server_tool_use", blocks[0]))
    assert.isFalse(Content.isToolUse(blocks[0]))
    assert.isTrue(Content.isToolResult(blocks[1]))
  })

  it("a tool reference stands inside a result", () => {
    const [inner] = Content.blocks([{ type: "tool_reference", tool_name: "Grep" }])
    assert.isTrue(Content.is("tool_reference", inner))
  })
})

describe("Content constructors", () => {
  it("make blocks that fit their schema", () => {
    assert.isTrue(Content.isText(Content.text("a")))
    assert.isTrue(Content.isThinking(Content.thinking("a", "sig")))
    assert.isTrue(Content.isToolUse(Content.toolUse({ id: "T1", name: "Bash", input: { command: "ls" } })))
    assert.isTrue(Content.isToolResult(Content.toolResult({ tool_use_id: "T1", content: "ok" })))
    assert.isTrue(Content.is("image", Content.image("image/png", "AAAA")))
    assert.isTrue(Content.is("document", Content.document("application/pdf", "AAAA", "Plan")))
    assert.deepStrictEqual(Content.document("application/pdf", "AAAA"), {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "AAAA" }
    })
  })

  it("textOf joins the text blocks and leaves the rest", () => {
    assert.strictEqual(Content.textOf("a"), "a")
    assert.strictEqual(Content.textOf([Content.text("a"), Content.thinking("b", ""), Content.text("c")]), "a\nc")
    assert.strictEqual(Content.textOf(null), "")
  })
})
