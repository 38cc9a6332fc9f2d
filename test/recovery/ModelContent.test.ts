import { assert, describe, it } from "@effect/vitest"
import * as Content from "@reprise/domain/Content"
import type * as Entry from "@reprise/domain/Entry"
import * as Snapshot from "@reprise/domain/Snapshot"
import * as ModelContent from "@reprise/recovery/ModelContent"
import { recover } from "./picture.ts"

const high = String.fromCharCode(0xd83d)
const low = String.fromCharCode(0xdfaf)
const call = Content.toolUse({ id: "A", name: "Tool", input: { a: 1 } })

describe("ModelContent.ofAssistant", () => {
  const types = (content: unknown): string =>
    ModelContent.ofAssistant(content)
      .map(({ type }) => type)
      .join(" ")

  it("gives the blocks that can be sent as they were read", () => {
    const blocks = [Content.thinking("hm", "sig"), Content.text("yes"), call]
    const sent = ModelContent.ofAssistant(blocks)
    assert.deepStrictEqual(sent, blocks)
    sent.forEach((block, i) => assert.strictEqual(block, blocks[i]))
  })

  it("reads a string as one text", () => {
    assert.deepStrictEqual(ModelContent.ofAssistant("yes"), [Content.text("yes")])
  })

  it("sends no blank text", () => {
    for (const text of ["", " ", "\n\t "]) assert.strictEqual(types([Content.text(text)]), "")
    assert.strictEqual(types([Content.text(" "), call]), "tool_use")
  })

  it("sends no result of ours from inside a reply", () => {
    assert.strictEqual(types([Content.text("x"), Content.toolResult({ tool_use_id: "A", content: "r" })]), "text")
  })

  it("sends a call of a server tool with its result, and not without", () => {
    const server = { type: "server_tool_use", id: "S", name: "web_search", input: {} }
    const result = { type: "web_search_tool_result", tool_use_id: "S", content: [] }
    assert.strictEqual(types([server, result]), "server_tool_use web_search_tool_result")
    assert.strictEqual(types([Content.text("x"), server]), "text")
  })

  it("writes an object where the input of a call is none", () => {
    for (const input of [null, undefined, "{}", [1]]) {
      const [sent] = ModelContent.ofAssistant([{ type: "tool_use", id: "A", name: "Tool", input }])
      assert.deepStrictEqual(sent, { type: "tool_use", id: "A", name: "Tool", input: {} })
    }
  })

  it("gives nothing for what is no content", () => {
    for (const content of [null, undefined, 7, {}, [], [null, 7, {}]]) assert.strictEqual(types(content), "")
  })

  it("keeps a block of an unknown type whole", () => {
    assert.deepStrictEqual(ModelContent.ofAssistant([{ type: "someday", a: 1 }]), [{ type: "someday", a: 1 }])
  })
})

describe("ModelContent.ofUser", () => {
  it("drops an empty text and keeps the rest", () => {
    const image = Content.image("image/png", "AA==")
    assert.deepStrictEqual(ModelContent.ofUser([Content.text(""), Content.text("hi"), image]), [
      Content.text("hi"),
      image
    ])
    assert.deepStrictEqual(ModelContent.ofUser([]), [])
  })
})

describe("ModelContent.isThinking", () => {
  it("holds for thinking that can be read and for thinking that can't", () => {
    assert.isTrue(ModelContent.isThinking({ type: "thinking", thinking: "hm" }))
    assert.isTrue(ModelContent.isThinking({ type: "redacted_thinking", data: "x" }))
    assert.isFalse(ModelContent.isThinking(Content.text("hm")))
  })
})

describe("ModelContent.replace", () => {
  const result = Content.toolResult({ tool_use_id: "A", content: "long", is_error: true })

  it("puts a text or blocks in place of a result's content, and keeps its other keys", () => {
    assert.deepStrictEqual(ModelContent.replace(result, new Map([["A", "short"]])), { ...result, content: "short" })
    const blocks = [Content.text("short")]
    assert.deepStrictEqual(ModelContent.replace(result, new Map([["A", blocks]])), { ...result, content: blocks })
  })

  it("leaves a result as it is that has no replacement, or none that is content", () => {
    assert.strictEqual(ModelContent.replace(result, undefined), result)
    assert.strictEqual(ModelContent.replace(result, new Map([["B", "short"]])), result)
    assert.strictEqual(ModelContent.replace(result, new Map<string, unknown>([["A", 7]])), result)
  })
})

describe("ModelContent.interrupted", () => {
  it("is an error result that says that the call was interrupted", () => {
    const { content, is_error, tool_use_id } = ModelContent.interrupted("A")
    assert.strictEqual(tool_use_id, "A")
    assert.isTrue(is_error)
    assert.match(String(content), /interrupted/)
  })
})

describe("ModelContent.collapse", () => {
  const nodes = recover("u1-a1-u2-a2-u3-a3").conversation
  const commit = (first: string, last: string, summaryContent: string) =>
    Snapshot.make("marble-origami-commit", { firstArchivedUuid: first, lastArchivedUuid: last, summaryContent })
  /** `u1 (s) a2`: names, and summaries in brackets where a span was hidden. */
  const collapse = (...commits: ReadonlyArray<Entry.OfKind<"marble-origami-commit">>): string => {
    const { hidden, summaries } = ModelContent.collapse(nodes, commits)
    return nodes
      .flatMap(({ index, uuid }) => [
        ...(summaries.has(index) ? [`(${summaries.get(index)})`] : []),
        ...(hidden.has(index) ? [] : [uuid])
      ])
      .join(" ")
  }

  it("hides a span behind its summary", () => {
    assert.strictEqual(collapse(commit("a1", "a2", "s")), "u1 (s) u3 a3")
    assert.strictEqual(collapse(commit("u2", "u2", "s")), "u1 a1 (s) a2 u3 a3")
  })

  it("hides several spans, in the order of the commits", () => {
    assert.strictEqual(collapse(commit("a1", "u2", "s"), commit("u3", "u3", "t")), "u1 (s) a2 (t) a3")
  })

  it("lets a later span hide an earlier one", () => {
    assert.strictEqual(collapse(commit("a1", "u2", "s"), commit("u1", "a2", "t")), "(t) u3 a3")
  })

  it("hides nothing where an end is not on the conversation, or the ends are turned", () => {
    const whole = "u1 a1 u2 a2 u3 a3"
    assert.strictEqual(collapse(), whole)
    assert.strictEqual(collapse(commit("x1", "a2", "s")), whole)
    assert.strictEqual(collapse(commit("a1", "x2", "s")), whole)
    assert.strictEqual(collapse(commit("a2", "a1", "s")), whole)
    assert.strictEqual(collapse(Snapshot.make("marble-origami-commit", {})), whole)
  })

  it("takes the summary where there is no content of one", () => {
    const bare = Snapshot.make("marble-origami-commit", {
      firstArchivedUuid: "u2",
      lastArchivedUuid: "a2",
      summary: "s"
    })
    assert.strictEqual(collapse(bare), "u1 a1 (s) u3 a3")
  })
})

describe("ModelContent.wellFormed", () => {
  it("turns each lone half of a pair into U+FFFD and keeps whole pairs", () => {
    assert.strictEqual(ModelContent.wellFormed(`a${high}b${low}c${high}${low}`), `a\ufffdb\ufffdc${high}${low}`)
  })

  it("reaches every text and every key", () => {
    assert.deepStrictEqual(ModelContent.wellFormed({ a: [{ b: high }], [low]: 1 }), {
      a: [{ b: "\ufffd" }],
      "\ufffd": 1
    })
  })

  it("gives a value that needs no change as it is", () => {
    const value = { a: ["text", 1, null, true, { b: `${high}${low}` }] }
    assert.strictEqual(ModelContent.wellFormed(value), value)
    for (const plain of ["x", 7, null, undefined, true]) assert.strictEqual(ModelContent.wellFormed(plain), plain)
  })
})
