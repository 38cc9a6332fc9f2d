/** Calls and results in the model view, under both policies (RECOVERY §10). */
import { assert, describe, it } from "@effect/vitest"
import * as Content from "@reprise/domain/Content"
import * as Message from "@reprise/domain/Message"
import { model, omitted, type Options, tell, view } from "./picture.ts"

const close = { unresolved: "close" } as const
const use = (id: string) => Content.toolUse({ id, name: "Tool", input: {} })
const result = (id: string) => Content.toolResult({ tool_use_id: id, content: `result ${id}` })
const reply = (...content: ReadonlyArray<Content.Block>) => Message.assistant({ id: "m", model: "model", content })
const noted = (picture: string, options: Options = {}) => tell(model(picture, options).findings)

describe("Every call", () => {
  it("is followed by exactly one result, in the next user message", () => {
    assert.strictEqual(view("u1-a1(A)-rA-a2"), "u[u1] a[use:A] u[res:A] a[a2]")
    assert.strictEqual(view("u1-a1(A,B)-r1(A,B)-a2"), "u[u1] a[use:A use:B] u[res:A res:B] a[a2]")
  })

  it("is answered before the text of that message", () => {
    const bodies = { r1: Message.user([Content.text("[r1]"), result("A")]) }
    assert.strictEqual(view("u1-a1(A)-r1-u2", { bodies }), "u[u1] a[use:A] u[res:A r1 u2]")
    assert.strictEqual(view("u1-a1(A)-u2-rA-a2"), "u[u1] a[use:A] u[res:A u2] a[a2]")
    assert.strictEqual(view("u1-a1(A)-t1-m1-rA-a2"), "u[u1] a[use:A] u[res:A t1 m1] a[a2]")
  })

  it("is answered by a result that stands before it", () => {
    assert.strictEqual(view("u1-rA-a1(A)-a2"), "u[u1] a[use:A] u[res:A] a[a2]")
  })

  it("is answered from a later turn where its result came late", () => {
    assert.strictEqual(
      view("u1-a1@m(A)-a2@m(B)-rB-a3-u2-a4-rA"),
      "u[u1] a[use:A use:B] u[res:A res:B] a[a3] u[u2] a[a4]"
    )
  })

  it("is answered once: second copies of a result are left out", () => {
    assert.strictEqual(view("u1-a1(A)-rA-r9(A)-a2"), "u[u1] a[use:A] u[res:A] a[a2]")
    assert.strictEqual(omitted("u1-a1(A)-rA-r9(A)-a2"), "r9:duplicate-result")
    assert.strictEqual(noted("u1-a1(A)-rA-r9(A)-a2"), "duplicate-result r9/A")
    assert.strictEqual(view("u1-a1(A)-r1(A,A)-a2"), "u[u1] a[use:A] u[res:A] a[a2]")
  })

  it("is answered once also where its id is used again in a later turn", () => {
    const sent = view("u1-a1(A)-rA-a2-u2-a3(A)-u3")
    assert.strictEqual(sent, "u[u1] a[use:A] u[res:A] a[a2] u[u2 u3]")
    assert.strictEqual(omitted("u1-a1(A)-rA-a2-u2-a3(A)-u3"), "a3:unresolved-call")
  })
})

describe("Two calls with one id", () => {
  it("in one reply have one result, under both policies", () => {
    for (const unresolved of ["drop", "close"] as const) {
      const sent = view("u1-a1@m(A)-a2@m(A)-rA-a3", { unresolved })
      assert.strictEqual(sent.split("res:A").length - 1, 1, sent)
      assert.strictEqual(sent.split("use:A").length - 1, 1, sent)
    }
  })
})

describe("A result without its call", () => {
  it("is left out", () => {
    assert.strictEqual(view("u1-a1-rZ-a2"), "u[u1] a[a1 a2]")
    assert.strictEqual(omitted("u1-a1-rZ-a2"), "rZ:orphan-result")
    assert.strictEqual(noted("u1-a1-rZ-a2"), "orphan-result rZ/Z")
  })

  it("leaves the text beside it", () => {
    const bodies = { r1: Message.user([result("Z"), Content.text("[r1]")]) }
    assert.strictEqual(view("u1-a1-r1-a2", { bodies }), "u[u1] a[a1] u[r1] a[a2]")
    assert.strictEqual(omitted("u1-a1-r1-a2", { bodies }), "")
    assert.strictEqual(noted("u1-a1-r1-a2", { bodies }), "orphan-result r1/Z")
  })

  it("is one whose call stands before the boundary", () => {
    assert.strictEqual(view("u1-a1(A) B1-S1-rA-a2-u2"), "u[S1] a[a2] u[u2]")
    assert.strictEqual(omitted("u1-a1(A) B1-S1-rA-a2-u2"), "B1:system rA:orphan-result")
  })

  it("is one whose call is an API error's", () => {
    assert.strictEqual(view("u1-a1(A)-rA-u2", { bodies: { a1: { isApiErrorMessage: true } } }), "u[u1 u2]")
  })

  it("inside a reply is none of ours and is not sent", () => {
    assert.strictEqual(
      view("u1-a1-u2", { bodies: { a1: reply(Content.text("[a1]"), result("A")) } }),
      "u[u1] a[a1] u[u2]"
    )
  })
})

describe("A call without a result", () => {
  it("is dropped with its entry", () => {
    assert.strictEqual(view("u1-a1(A)-u2"), "u[u1 u2]")
    assert.strictEqual(omitted("u1-a1(A)-u2"), "a1:unresolved-call")
    assert.strictEqual(noted("u1-a1(A)-u2"), "unresolved-call a1/A")
  })

  it("leaves the text of the same reply in other entries, and takes that of its own along", () => {
    assert.strictEqual(view("u1-a1@m-a2@m(A)-u2"), "u[u1] a[a1] u[u2]")
    const bodies = { a1: reply(Content.text("[a1]"), use("A")) }
    assert.strictEqual(view("u1-a1-u2", { bodies }), "u[u1 u2]")
    assert.strictEqual(omitted("u1-a1-u2", { bodies }), "a1:unresolved-call")
  })

  it("leaves the other calls of its entry and of its reply their results", () => {
    assert.strictEqual(view("u1-a1(A,B)-rA-a2"), "u[u1] a[use:A] u[res:A] a[a2]")
    assert.strictEqual(view("u1-a1@m(A)-a2@m(B)-rA-a3"), "u[u1] a[use:A] u[res:A] a[a3]")
    assert.strictEqual(view("u1-a1@m(A)-a2@m(B)-rB-a3"), "u[u1] a[use:B] u[res:B] a[a3]")
  })

  it("is closed by an error result instead, where that is asked for", () => {
    assert.strictEqual(view("u1-a1(A)-u2", close), "u[u1] a[use:A] u[res:A:error u2]")
    assert.strictEqual(omitted("u1-a1(A)-u2", close), "")
    assert.strictEqual(view("u1-a1(A)", close), "u[u1] a[use:A] u[res:A:error]")
  })

  it("is closed beside the other calls' own results", () => {
    assert.strictEqual(view("u1-a1(A,B)-rA-a2", close).replace(/u\[res.*?\]/, "…"), "u[u1] a[use:A use:B] … a[a2]")
    const { messages } = model("u1-a1@m(A)-a2@m(B)-rB-a3", close)
    const results = messages[2]!.parts.map(({ block, synthetic }) => [
      Content.isToolResult(block) ? block.tool_use_id : block.type,
      synthetic === true
    ])
    assert.sameDeepMembers(results, [
      ["A", true],
      ["B", false]
    ])
  })

  it("is noted under both policies", () => {
    assert.strictEqual(noted("u1-a1@m(A)-a2@m(B)-rB", close), "unresolved-call a1/A")
    assert.deepStrictEqual(model("u1-a1@m(A)").open, [{ uuid: "a1", toolUseId: "A", reply: "m" }])
  })

  it("of an API error is not closed", () => {
    assert.strictEqual(view("u1-a1(A)-u2", { bodies: { a1: { isApiErrorMessage: true } }, ...close }), "u[u1 u2]")
  })
})

describe("A reply", () => {
  it("whose results arrived between its own entries is one message with all its blocks, then one with all results", () => {
    assert.strictEqual(view("u1-a1@m(A)-rA-a2@m(B)-rB-a3"), "u[u1] a[use:A use:B] u[res:A res:B] a[a3]")
    assert.strictEqual(
      view("u1-a1@m-a2@m(A)-rA-t1-a3@m(B)-a4@m(C)-rB-rC-a5"),
      "u[u1] a[a1 use:A use:B use:C] u[res:A res:B res:C t1] a[a5]"
    )
  })

  it("of several entries is one message with its blocks in order", () => {
    const bodies = { a1: reply(Content.thinking("hm", "sig")) }
    assert.strictEqual(
      view("u1-a1-a2@m-a3@m(A)-a4@m(B)-rA-rB-a5", { bodies }),
      "u[u1] a[thinking a2 use:A use:B] u[res:A res:B] a[a5]"
    )
  })

  it("ends where a prompt stands: the same message id behind it is another reply", () => {
    assert.strictEqual(view("u1-a1@gw-u2-a2@gw"), "u[u1] a[a1] u[u2] a[a2]")
    assert.strictEqual(view("u1-a1@gw(A)-rA-u2-a2@gw(B)-rB"), "u[u1] a[use:A] u[res:A u2] a[use:B] u[res:B]")
  })

  it("without a message id is one of its own", () => {
    const bare = (id: string) => ({ message: { content: [use(id)] }, requestId: "same" })
    const bodies = { a1: bare("A"), a2: bare("B") }
    assert.strictEqual(view("u1-a1-rA-a2-rB", { bodies }), "u[u1] a[use:A] u[res:A] a[use:B] u[res:B]")
  })

  it("keeps its order of blocks where its results are in another", () => {
    const sent = view("u1-a1@m(A)-a2@m(B)-a3@m(C) a2-rB a1-rA a3-rC-a4")
    assert.match(sent, /^u\[u1\] a\[use:A use:B use:C\] u\[.*\] a\[a4\]$/)
    for (const id of ["res:A", "res:B", "res:C"]) assert.strictEqual(sent.split(id).length, 2)
  })
})

describe("What lacks what its type asks for", () => {
  const odd = (...content: ReadonlyArray<unknown>) => ({ message: { role: "user", content } })

  it("is not sent, and what is no text says nothing in a result", () => {
    for (const content of [{ status: "done" }, 5, true, null]) {
      const bodies = { r1: odd({ type: "tool_result", tool_use_id: "A", content, is_error: "no" }) }
      const { messages } = model("u1-a1(A)-r1-a2", { bodies })
      assert.deepStrictEqual(
        messages[2]?.parts.map(({ block }) => block),
        [{ type: "tool_result", tool_use_id: "A" }]
      )
    }
    const inner = [null, { type: "text", text: 5 }, "said", { type: "image" }]
    const bodies = { r1: odd({ type: "tool_result", tool_use_id: "A", content: inner }) }
    const [sent] = model("u1-a1(A)-r1-a2", { bodies }).messages[2]!.parts
    assert.deepStrictEqual((sent!.block as Content.ToolResult).content, [{ type: "text", text: "said" }])
  })

  it("is not sent where it is a call without a name, a result without an id, or a call in a prompt", () => {
    const u2 = odd({ type: "tool_result", content: "x" }, { type: "text" }, use("B"), Content.text("[u2]"))
    const a1 = reply({ type: "tool_use", id: "A" }, { type: "text", text: 5 }, Content.text("[a1]"))
    assert.strictEqual(view("u1-a1-u2", { bodies: { a1, u2 } }), "u[u1] a[a1] u[u2]")
  })
})

describe("A collapsed span without a summary", () => {
  it("says nothing", () => {
    const s1 = { type: "marble-origami-commit", firstArchivedUuid: "u2", lastArchivedUuid: "a2", summary: "" }
    assert.strictEqual(view("u1-a1-u2-a2-s1", { bodies: { s1 } }), "u[u1] a[a1]")
  })
})

describe("Ids that are no Unicode", () => {
  it("pair as they are sent", () => {
    const bodies = { a1: reply(use("\ud800")), r1: Message.user([result("\ud801")]) }
    assert.strictEqual(view("u1-a1-r1-a2", { bodies }), "u[u1] a[use:\ufffd] u[res:\ufffd] a[a2]")
    assert.strictEqual(omitted("u1-a1-r1-a2", { bodies }), "")
  })
})

describe("Thinking", () => {
  const think = (id: string) => Message.assistant({ id, model: "model", content: [Content.thinking("…", "s")] })
  const say = (id: string, text: string) => Message.assistant({ id, model: "model", content: [Content.text(text)] })

  it("goes with what its reply says, unless another reply stands between", () => {
    const bodies = {
      a1: think("m"),
      a2: say("m", "[a2]"),
      a3: say("n", "[a3]"),
      t1: Message.user([Content.text("[t1]")])
    }
    assert.strictEqual(omitted("u1-a1-a2-a3", { bodies }), "")
    const apart = { a1: say("m", "[a1]"), a2: say("n", "[a2]"), a3: think("m") }
    assert.strictEqual(omitted("u1-a1-a2-t1-a3", { bodies: apart }), "a3:thinking-only")
  })

  it("of two replies without an id never goes together", () => {
    const bodies = { a1: say("undefined", "[a1]"), a2: { message: { content: [Content.thinking("…", "s")] } } }
    assert.strictEqual(omitted("u1-a1-a2", { bodies }), "a2:thinking-only")
  })
})
