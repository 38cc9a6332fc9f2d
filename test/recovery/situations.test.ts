/** Situations that people reported, in small: what the log looked like, and what it must recover to. */
import { assert, describe, it } from "@effect/vitest"
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Recovery from "@reprise/recovery/Recovery"
import * as SessionState from "@reprise/recovery/SessionState"
import type { SessionState as State } from "@reprise/recovery/SessionState"
import {
  findings,
  lines,
  located,
  model,
  omitted,
  recover,
  recovers,
  rest,
  tell,
  view,
  type Bodies
} from "./picture.ts"

const read = (text: string): State => Recovery.fold(located(text))

describe("A parent was never written, and a snapshot carries the id of a message", () => {
  const bodies: Bodies = { q1: { type: "file-history-snapshot", messageId: "a2", snapshot: { messageId: "a2" } } }
  const picture = "u1-a1-u2-a2 q1 x9-u3-a3"

  it("the conversation is whole", () => assert.strictEqual(recovers(picture, { bodies }), "u1-a1-u2-a2-u3-a3"))

  it("the one missing parent is named, where it was missed, and what was taken instead", () => {
    const { findings } = recover(picture, { bodies })
    assert.strictEqual(tell(findings), "missing-parent u3>a2")
    assert.deepInclude(findings[0], { parent: "x9", line: 6 })
  })

  it("the snapshot is no message, and the message with its id still is the reply", () => {
    assert.strictEqual(view(picture, { bodies }), "u[u1] a[a1] u[u2] a[a2] u[u3] a[a3]")
  })

  it("recovering twice gives equal results", () => {
    assert.deepStrictEqual(recover(picture, { bodies }), recover(picture, { bodies }))
  })
})

describe("A system line was written before the progress that it hangs on", () => {
  const head = lines("u1-a1(A)-rA-a2")
  const [, , , , first, second, third] = lines("u1-a1(A)-rA-a2-p1-p2-s1")
  const tail = lines("s1-u2-a3").slice(1)
  const orders = [
    [third, second, first],
    [third, first, second],
    [second, third, first],
    [second, first, third],
    [first, third, second],
    [first, second, third]
  ]

  it("the conversation is the same in every order of the lines, and no parent is missing", () => {
    for (const order of orders) {
      const { conversation, findings } = read([...head, ...order, ...tail].join("\n"))
      assert.strictEqual(Notation.show(conversation), "u1-a1-rA-a2-s1-u2-a3")
      assert.deepStrictEqual(findings, [])
    }
  })
})

describe("A hook's context was written twice with one id and two parents", () => {
  const hooks = lines("u1-q9-a1-u2-q9-a2-u3-a3").map((line) => line.replace("future-thing", "saved_hook_context"))
  const text = hooks.join("\n")

  it("recovery ends, with all messages in order and each once", () => {
    assert.strictEqual(Notation.show(read(text).conversation), "u1-a1-u2-a2-u3-a3")
  })

  it("one repeated id is reported", () => {
    assert.strictEqual(read(text).findings.filter(({ kind }) => kind === "repeated-id").length, 1)
  })
})

describe("One reply with three calls, whose results came in another order and each hang on their own call", () => {
  const bodies: Bodies = {
    a1: Message.assistant({ id: "m", model: "model", content: [Content.thinking("hm", "sig")] })
  }
  const picture = "u1-a1-a2@m(A)-a3@m(B)-a4@m(C) a3-rB a2-rA a4-rC-a5"

  it("all nine entries are in the conversation, each once", () => {
    assert.strictEqual(recovers(picture, { bodies }).split("-").toSorted().join(" "), "a1 a2 a3 a4 a5 rA rB rC u1")
  })

  it("the model sees one reply with all blocks in order, and then every result", () => {
    const { messages } = model(picture, { bodies })
    assert.deepStrictEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "user", "assistant"]
    )
    assert.match(view(picture, { bodies }), /a\[thinking use:A use:B use:C\] u\[(res:. ?){3}\] a\[a5\]$/)
  })

  it("no result is made up", () => {
    const parts = model(picture, { bodies, unresolved: "close" }).messages.flatMap(({ parts }) => parts)
    assert.isTrue(parts.every(({ synthetic }) => synthetic === undefined))
  })
})

describe("The first line is a boundary whose logical parent was cleaned up with the old file", () => {
  const bodies = { B1: Boundary.compact({ trigger: "auto", preTokens: 1, logicalParentUuid: "x1" }) }
  const state = recover("B1-S1-u1-a1", { bodies })

  it("the log loads", () => assert.strictEqual(Notation.show(state.conversation), "B1-S1-u1-a1"))
  it("the logical parent is no missing parent", () => assert.notInclude(tell(state.findings), "missing-parent"))
  it("the next message hangs on the last one", () => assert.strictEqual(SessionState.leafOf(state)?.uuid, "a1"))
  it("the summary is no prompt and no title", () => {
    assert.strictEqual(state.metadata.firstPrompt, "[u1]")
    assert.strictEqual(state.metadata.title, "[u1]")
  })
})

describe("The boundary fell between a call and its result", () => {
  const picture = "u1-a1(A) B1-S1-rA-a2-u2-a3(C)-rC-a4"

  it("the conversation starts at the boundary", () => {
    assert.strictEqual(recovers(picture), "B1-S1-rA-a2-u2-a3-rC-a4")
  })

  it("the result is not sent, nothing empty stands in its place, and the other pair is whole", () => {
    assert.strictEqual(view(picture), "u[S1] a[a2] u[u2] a[use:C] u[res:C] a[a4]")
    assert.strictEqual(omitted(picture), "B1:system rA:orphan-result")
  })

  it("one orphan result is named, and the log still holds it", () => {
    assert.strictEqual(tell(model(picture).findings), "orphan-result rA/A")
    assert.strictEqual(rest(picture), "archived 2")
  })
})

describe("A process was killed while it wrote", () => {
  const [u1, a1, u2, a2] = lines("u1-a1-u2-a2") as [string, string, string, string]
  const stub = '{"type":"pr-link","prNumber":12,"prUrl":"https'

  it("and the next one wrote on the same line: the stub is reported with line and bytes, and sets nothing", () => {
    const { conversation, findings, metadata } = read(`${u1}\n${a1}\n${stub}${u2}\n${a2}\n`)
    assert.strictEqual(Notation.show(conversation), "u1-a1-u2-a2")
    const byteStart = new TextEncoder().encode(`${u1}\n${a1}\n`).length
    const found = findings.find(({ kind }) => kind === "torn-line")
    assert.deepInclude(found, { line: 3, byteStart, byteEnd: byteStart + stub.length })
    assert.deepStrictEqual(metadata.pullRequests, [])
  })

  it("between two whole entries: both are read, nothing is lost, one glue is reported", () => {
    const { conversation, findings } = read(`${u1}\n${a1}\n${u2}${a2}\n`)
    assert.strictEqual(Notation.show(conversation), "u1-a1-u2-a2")
    assert.deepStrictEqual(
      findings.map(({ kind, severity }) => `${kind} ${severity}`),
      ["glued-lines repair"]
    )
  })

  it("and nothing followed: what was whole stands, and goes on with the next line", () => {
    assert.strictEqual(Notation.show(read(`${u1}\n${a1}\n${stub}`).conversation), "u1-a1")
    assert.strictEqual(Notation.show(read(`${u1}\n${a1}\n${stub}\n${u2}\n`).conversation), "u1-a1-u2")
  })
})

describe("A result holds lone halves of a pair", () => {
  const high = String.fromCharCode(0xd83d)
  const low = String.fromCharCode(0xdfaf)
  const text = `${high} a ${low} b ${high}${low}`
  const bodies: Bodies = { rA: Message.toolResults([Content.toolResult({ tool_use_id: "A", content: text })]) }
  const picture = "u1-a1(A)-rA-a2-u2-a3"

  it("all entries load", () => assert.strictEqual(recovers(picture, { bodies }), "u1-a1-rA-a2-u2-a3"))

  it("the model sees U+FFFD for each half, and the whole pair", () => {
    const block = model(picture, { bodies }).messages[2]?.parts[0]?.block
    assert.strictEqual(block?.type === "tool_result" ? block.content : "", `\ufffd a \ufffd b ${high}${low}`)
  })

  it("the log keeps them: what is written back recovers to the same text", () => {
    const { conversation } = recover(picture, { bodies })
    const again = read(conversation.map(({ entry }) => Line.encode(entry)).join("\n")).conversation
    assert.deepStrictEqual(
      again.map(({ entry }) => entry),
      conversation.map(({ entry }) => entry)
    )
    assert.include(JSON.stringify(again[2]?.entry), "\\ud83d a \\udfaf")
  })
})

describe("Lines of a later version stand in the log", () => {
  const bodies: Bodies = {
    q1: { type: "someday-latch", value: "" },
    q2: { type: "someday-state", value: 1 },
    q3: { type: "someday-latch", value: "x" },
    u1: { newField: { a: 1 } }
  }
  const text = [...lines("q1 u1 q2 u1-a1-q4-u2-a2 q3", bodies), '{"v":1}'].join("\n")

  it("the chain looks through a link of unknown type", () => {
    assert.strictEqual(Notation.show(read(text).conversation), "u1-a1-u2-a2")
  })

  it("nothing fails, and unknown entries are counted by type", () => {
    const { findings } = read(text)
    const counts = findings.flatMap((finding) =>
      finding.kind === "unknown-type" ? [[finding.type, finding.count]] : []
    )
    assert.deepStrictEqual(counts, [
      ["someday-latch", 2],
      ["someday-state", 1],
      ["future-thing", 1]
    ])
    assert.strictEqual(findings.filter(({ kind }) => kind === "malformed-line").length, 1)
  })

  it("what was loaded is written back as it was", () => {
    assert.strictEqual(
      located(text)
        .map(({ entry }) => Line.encode(entry))
        .join("\n"),
      text
    )
  })
})

describe("A title was given by the user, and generated ones came after it", () => {
  const bodies: Bodies = {
    q1: Metadata.customTitle("Mine"),
    q2: Metadata.aiTitle("Guess"),
    q3: Metadata.customTitle("Mine, renamed elsewhere"),
    q4: Metadata.aiTitle("Another guess")
  }

  it("the user's title stands", () => {
    assert.strictEqual(recover("u1-a1 q1 q2 a1-u2-a2 q4", { bodies }).metadata.title, "Mine")
  })

  it("the user's last title stands", () => {
    assert.strictEqual(recover("u1-a1 q1 q2 a1-u2-a2 q4 q3 q2", { bodies }).metadata.title, "Mine, renamed elsewhere")
  })
})

describe("A session was rewound and went on", () => {
  const picture = "u1-u2-u3-u4-u5 u3-u6-u7-u8"

  it("the conversation is the new branch", () => assert.strictEqual(recovers(picture), "u1-u2-u3-u6-u7-u8"))
  it("the old branch is listed", () => assert.strictEqual(rest(picture), "u5<u3 ×2"))
  it("the old branch can be asked for", () => {
    assert.strictEqual(recovers(picture, { leaf: { uuid: "u5" } }), "u1-u2-u3-u4-u5")
    assert.strictEqual(rest(picture, { leaf: { uuid: "u5" } }), "u8<u3 ×3")
  })
})

describe("A remote's lines were brought in behind the local ones", () => {
  it("that went further: they are the end of the conversation, and the title stands", () => {
    const bodies = { q1: Metadata.customTitle("Kept title") }
    const { conversation, metadata } = recover("u1-a1-u2-a2 q1 a2-u3-a3", { bodies })
    assert.strictEqual(Notation.show(conversation), "u1-a1-u2-a2-u3-a3")
    assert.strictEqual(metadata.title, "Kept title")
  })

  it("that diverged: both leaves exist", () => {
    assert.strictEqual(recovers("u1-a1-u2-a2-u3-a3 a2-u4-a4 !a3"), "u1-a1-u2-a2-u3-a3")
    assert.strictEqual(rest("u1-a1-u2-a2-u3-a3 a2-u4-a4 !a3"), "a4<a2 ×2")
    assert.strictEqual(findings("u1-a1-u2-a2-u3-a3 a2-u4-a4 !a3"), "")
  })
})

describe("A gateway gave two replies one message id", () => {
  const bodies: Bodies = {
    a1: Message.assistant({ id: "m", model: "model", content: [Content.thinking("hm", "sig")] })
  }

  it("parts of one reply are one message; two replies stay two", () => {
    const sent = "u[u1] a[thinking a2 use:A] u[res:A] a[a4] u[u2] a[a5] u[u3] a[a6]"
    assert.strictEqual(view("u1-a1-a2@m-a3@m(A)-rA-a4-u2-a5@gw-u3-a6@gw", { bodies }), sent)
  })
})
