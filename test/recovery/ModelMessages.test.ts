import { assert, describe, it } from "@effect/vitest"
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import * as Message from "@reprise/domain/Message"
import * as Snapshot from "@reprise/domain/Snapshot"
import { type Bodies, model, omitted, type Options, recovers, tell, view } from "./picture.ts"

const close = { unresolved: "close" } as const
/** A part of reply m with these blocks. */
const reply = (...content: ReadonlyArray<Content.Block>) => Message.assistant({ id: "m", model: "model", content })
const thinking = Content.thinking("hm", "sig")
const redacted = { type: "redacted_thinking", data: "x" }
const use = (id: string) => Content.toolUse({ id, name: "Tool", input: {} })
const result = (id: string) => Content.toolResult({ tool_use_id: id, content: `result ${id}` })
const noted = (picture: string, options: Options = {}) => tell(model(picture, options).findings)

describe("The model view", () => {
  it("is the conversation as messages of two roles", () => {
    assert.strictEqual(view("u1-a1-u2-a2"), "u[u1] a[a1] u[u2] a[a2]")
    assert.strictEqual(view(""), "")
  })

  it("names the entries that each message was made from", () => {
    const { messages } = model("u1-a1@m(A)-rA-t1-u2")
    assert.deepStrictEqual(
      messages.map(({ uuids }) => uuids.join()),
      ["u1", "a1", "rA,t1,u2"]
    )
  })

  it("merges neighbours of one role", () => {
    assert.strictEqual(view("u1-u2-a1-a2-u3"), "u[u1 u2] a[a1 a2] u[u3]")
  })

  it("begins with a user: what an assistant says before is left out", () => {
    assert.strictEqual(view("a1-u1-a2"), "u[u1] a[a2]")
    assert.strictEqual(omitted("a1-u1-a2"), "a1:leading-assistant")
    assert.strictEqual(view("a1"), "")
    assert.strictEqual(view("a1(A)-rA-u1"), "u[u1]")
    assert.strictEqual(omitted("a1(A)-rA-u1"), "a1:leading-assistant rA:leading-assistant")
  })

  it("begins with a user: what is left out for that is listed once, and what is sent is not", () => {
    assert.strictEqual(view("a1(A)-r9(A,B)-u1-a2(B)"), "u[u1] a[use:B] u[res:B]")
    assert.strictEqual(omitted("a1(A)-r9(A,B)-u1-a2(B)"), "a1:leading-assistant")
    assert.sameMembers(omitted("a1@k(A)-a2@m(B)-r9(A,B)-u1").split(" "), [
      "a1:leading-assistant",
      "a2:leading-assistant",
      "r9:leading-assistant"
    ])
  })

  it("starts at the last boundary on the chain", () => {
    assert.strictEqual(view("u1-a1 B1-S1-u2-a2"), "u[S1 u2] a[a2]")
    assert.strictEqual(view("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3"), "u[S1 u2] a[a2] u[u3]")
    const nested = "u1 B1-S1-u2-a2 B2{B1,S1,u2,a2>S2}-S2-u3"
    assert.strictEqual(view(nested), "u[S1 u2] a[a2] u[u3]")
    assert.strictEqual(omitted(nested), "B2:before-boundary S2:before-boundary B1:system")
  })

  it("says nothing of the log's damage and nothing twice", () => {
    assert.strictEqual(view("u1-a1-u2 ? x9-a2 u2-a1"), "u[u1] a[a1] u[u2] a[a2]")
  })

  it("has each entry of the conversation in a message or in the list of what is left out, with the reason", () => {
    for (const [picture, bodies] of [
      ["u1-a1-s1-t1-u2", {}],
      ["u1-a1@m(A)-a2@m(B)-rB-r9(B)-r8(Z)-a3-w1-l1-m1", {}],
      ["u1-a1-a2-a3-u2", { a1: reply(thinking), a2: reply(Content.text(" ")), a3: { isApiErrorMessage: true } }],
      ["u1-a1-u2", { u2: { message: { content: [] } }, a1: { message: null } }]
    ] as ReadonlyArray<readonly [string, Bodies]>) {
      for (const unresolved of ["drop", "close"] as const) {
        const { messages, omitted } = model(picture, { bodies, unresolved })
        const told = [...messages.flatMap(({ uuids }) => uuids), ...omitted.map(({ uuid }) => uuid)]
        assert.strictEqual(told.toSorted().join(), recovers(picture, { bodies }).split("-").toSorted().join(), picture)
      }
    }
  })
})

describe("Left out", () => {
  const says = (picture: string, bodies: Bodies): string =>
    `${view(picture, { bodies })} | ${omitted(picture, { bodies })}`

  it("are replies that only think", () => {
    assert.strictEqual(says("u1-a1-u2", { a1: reply(thinking) }), "u[u1 u2] | a1:thinking-only")
    assert.strictEqual(says("u1-a1-u2", { a1: reply(redacted) }), "u[u1 u2] | a1:thinking-only")
    assert.strictEqual(says("u1-a1-u2", { a1: reply(thinking, Content.text(" ")) }), "u[u1 u2] | a1:thinking-only")
  })

  it("is no thinking of a reply of which another part stays", () => {
    assert.strictEqual(view("u1-a1-a2@m-u2", { bodies: { a1: reply(thinking) } }), "u[u1] a[thinking a2] u[u2]")
    assert.strictEqual(
      view("u1-a1-a2@m(A)-rA", { bodies: { a1: reply(redacted) } }),
      "u[u1] a[redacted_thinking use:A] u[res:A]"
    )
  })

  it("is thinking of a turn, also where a later turn's reply has the same message id", () => {
    const a1 = { message: { id: "gw", content: [thinking] } }
    assert.strictEqual(says("u1-a1-u2-a2@gw", { a1 }), "u[u1 u2] a[a2] | a1:thinking-only")
  })

  it("is thinking of a reply whose other parts are left out, too", () => {
    assert.strictEqual(says("u1-a1-a2@m(A)", { a1: reply(thinking) }), "u[u1] | a1:thinking-only a2:unresolved-call")
  })

  it("is no thinking beside what is said in the same entry, with or without a message id", () => {
    for (const id of [{ id: "m" }, {}]) {
      const a1 = { message: { ...id, content: [thinking, Content.text("[a1]")] } }
      assert.strictEqual(says("u1-a1-u2", { a1 }), "u[u1] a[thinking a1] u[u2] | ")
    }
  })

  it("is thinking without a message id: an entry without one is a reply of its own", () => {
    const bodies = { a1: { message: { content: [thinking] } }, a2: { message: { content: "[a2]" } } }
    assert.strictEqual(says("u1-a1-a2", bodies), "u[u1] a[a2] | a1:thinking-only")
  })

  it("are replies that are empty or blank", () => {
    for (const content of [[], "", [Content.text(" \n")], null]) {
      assert.strictEqual(says("u1-a1-u2", { a1: { message: { id: "m", content } } }), "u[u1 u2] | a1:empty")
    }
    assert.strictEqual(says("u1-a1-u2", { a1: { message: null } }), "u[u1 u2] | a1:empty")
  })

  it("are prompts that are empty", () => {
    for (const content of [[], "", null]) {
      assert.strictEqual(says("u1-a1-u2", { u2: { message: { content } } }), "u[u1] a[a1] | u2:empty")
    }
  })

  it("are texts of API errors", () => {
    assert.strictEqual(says("u1-a1-u2", { a1: { isApiErrorMessage: true } }), "u[u1 u2] | a1:api-error")
  })

  it("are system lines, but for local commands, which are text of a user", () => {
    assert.strictEqual(says("u1-a1-s1-w1-N1{}-u2", {}), "u[u1] a[a1] u[u2] | s1:system w1:system N1:system")
    assert.strictEqual(says("u1-a1-l1-u2", {}), "u[u1] a[a1] u[l1 u2] | ")
    assert.strictEqual(says("u1-l1", { l1: { content: "" } }), "u[u1] | l1:system")
  })

  it("are attachments that say nothing to the model", () => {
    const body = { t1: Message.attachment({ type: "command_permissions", allowedTools: [] }) }
    assert.strictEqual(says("u1-t1-a1", body), "u[u1] a[a1] | t1:not-rendered")
    for (const attachment of [null, undefined, { type: "someday", content: "x" }, "x"]) {
      assert.strictEqual(says("u1-t1-a1", { t1: { attachment } }), "u[u1] a[a1] | t1:not-rendered")
    }
  })
})

describe("Attachments", () => {
  const said = (body: Parameters<typeof Message.attachment>[0], rendered?: string): string => {
    const { messages } = model("u1-t1", { bodies: { t1: Message.attachment(body, rendered) } })
    const block = messages[0]?.parts[1]?.block
    return Content.isText(block) ? block.text : "nothing"
  }

  it("are sent as they were rendered, whatever their body", () => {
    assert.strictEqual(said({ type: "someday" }, "shown"), "shown")
    assert.strictEqual(said({ type: "critical_system_reminder", content: "body" }, "shown"), "shown")
  })

  it("are sent as text of a user where their body is for the model", () => {
    assert.include(said({ type: "critical_system_reminder", content: "be brief" }), "be brief")
    assert.include(said({ type: "queued_command", prompt: "and then" }), "and then")
    assert.include(said({ type: "hook_additional_context", hookName: "h", content: ["noted"] }), "noted")
    const file = { filename: "a.md", content: { type: "text", file: { filePath: "a.md", content: "# A" } } }
    assert.include(said({ type: "file", ...file }), "# A")
    assert.include(said({ type: "edited_text_file", filename: "a.md", snippet: "1 changed" }), "1 changed")
  })

  it("hand a queued prompt on with its images", () => {
    const prompt = [Content.text("look"), Content.image("image/png", "AA==")]
    const bodies = { t1: Message.attachment({ type: "queued_command", prompt }) }
    assert.strictEqual(view("u1-a1-t1", { bodies }), 'u[u1] a[a1] u["look" image]')
  })

  it("stand behind the results that they hang on", () => {
    assert.strictEqual(view("u1-a1@m(A)-rA-t1-a2"), "u[u1] a[use:A] u[res:A t1] a[a2]")
  })
})

describe("Text", () => {
  const high = String.fromCharCode(0xd83d)

  it("is well-formed Unicode, in prompts, replies, inputs and results", () => {
    const text = `half ${high}`
    const bodies = {
      u1: Message.user(text),
      a1: reply(Content.text(text), Content.toolUse({ id: "A", name: "Tool", input: { text } })),
      rA: Message.toolResults([Content.toolResult({ tool_use_id: "A", content: [Content.text(text)] })]),
      t1: Message.attachment({ type: "someday" }, text)
    }
    const { messages } = model("u1-a1-rA-t1", { bodies })
    const json = JSON.stringify(messages)
    assert.strictEqual(messages.length, 3)
    assert.strictEqual(json.match(/half \ufffd/g)?.length, 5)
    assert.notMatch(json, /\\ud83d/)
  })
})

describe("Content replacements and context collapse", () => {
  const replacement = (agentId?: string) =>
    Snapshot.make("content-replacement", {
      ...(agentId === undefined ? {} : { agentId }),
      replacements: [{ kind: "tool-result", toolUseId: "A", replacement: "short" }]
    })
  const texts = (picture: string, bodies: Bodies): string => JSON.stringify(model(picture, { bodies }).messages)

  it("shorten results in the view and change nothing on the chain", () => {
    const bodies = { q1: replacement() }
    assert.include(texts("u1-a1(A)-rA-a2 q1", bodies), '"content":"short"')
    assert.notInclude(texts("u1-a1(A)-rA-a2 q1", bodies), "result A")
    assert.strictEqual(recovers("u1-a1(A)-rA-a2 q1", { bodies }), "u1-a1-rA-a2")
  })

  it("of an agent are not those of the main lane", () => {
    assert.include(texts("u1-a1(A)-rA-a2 q1", { q1: replacement("abc") }), "result A")
  })

  it("hide collapsed spans behind their summary in the view, and change nothing on the chain", () => {
    const q1 = Snapshot.make("marble-origami-commit", {
      firstArchivedUuid: "a1",
      lastArchivedUuid: "rA",
      summaryContent: "[sum]"
    })
    const options = { bodies: { q1 } }
    assert.strictEqual(view("u1-a1(A)-rA-a2-u2 q1", options), "u[u1 sum] a[a2] u[u2]")
    assert.strictEqual(omitted("u1-a1(A)-rA-a2-u2 q1", options), "a1:collapsed rA:collapsed")
    assert.strictEqual(recovers("u1-a1(A)-rA-a2-u2 q1", options), "u1-a1-rA-a2-u2")
  })

  it("that hide half a call pair leave no other half", () => {
    const commit = (uuid: string) =>
      Snapshot.make("marble-origami-commit", {
        firstArchivedUuid: uuid,
        lastArchivedUuid: uuid,
        summaryContent: "[sum]"
      })
    const picture = "u1-a1(A)-rA-a2-u2 q1"
    assert.strictEqual(view(picture, { bodies: { q1: commit("rA") } }), "u[u1 sum] a[a2] u[u2]")
    assert.strictEqual(view(picture, { bodies: { q1: commit("a1") } }), "u[u1 sum] a[a2] u[u2]")
    assert.strictEqual(noted(picture, { bodies: { q1: commit("a1") } }), "orphan-result rA/A")
  })

  it("are applied to what a boundary keeps", () => {
    const bodies = {
      q1: replacement(),
      B1: Boundary.compact({ trigger: "auto", preTokens: 1, logicalParentUuid: null })
    }
    assert.include(texts("u1 q1 B1-S1-a1(A)-rA-a2", bodies), '"content":"short"')
  })
})

describe("A server's call", () => {
  const server = { type: "server_tool_use", id: "S", name: "web_search", input: {} }

  it("that was left open is not sent", () => {
    assert.strictEqual(view("u1-a1-u2", { bodies: { a1: reply(Content.text("[a1]"), server) } }), "u[u1] a[a1] u[u2]")
    assert.strictEqual(view("u1-a1-u2", { bodies: { a1: reply(server) } }), "u[u1 u2]")
    assert.strictEqual(omitted("u1-a1-u2", { bodies: { a1: reply(server) } }), "a1:unresolved-call")
    assert.strictEqual(view("u1-a1-u2", { bodies: { a1: reply(server) }, ...close }), "u[u1 u2]")
  })

  it("with its result stays, and beside it calls of ours are answered", () => {
    const a1 = reply(server, { type: "web_search_tool_result", tool_use_id: "S", content: [] }, use("A"))
    const bodies = { a1, rA: Message.toolResults([result("A")]) }
    assert.strictEqual(view("u1-a1-rA", { bodies }), "u[u1] a[server_tool_use web_search_tool_result use:A] u[res:A]")
  })
})
