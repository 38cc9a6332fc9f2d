import { assert, describe, it } from "@effect/vitest"
import * as Content from "@reprise/domain/Content"
import * as Message from "@reprise/domain/Message"
import * as Interruption from "@reprise/recovery/Interruption"
import { ended, model, type Options, recover, sent } from "./picture.ts"

const close = { unresolved: "close" } as const
/** What is sent when the session goes on. */
const goesOn = (picture: string, options: Options = {}): string => {
  const view = model(picture, options)
  return sent(Interruption.inject(view, Interruption.judge(recover(picture, options).conversation, view)))
}
const go = JSON.stringify(Interruption.continuation)

describe("A turn has ended", () => {
  it("on a reply", () => {
    assert.strictEqual(ended("u1-a1"), "none")
    assert.strictEqual(ended("u1-a1(A)-rA-a2"), "none")
  })

  it("on a reply with an attachment behind it, which is sent", () => {
    assert.strictEqual(ended("u1-a1-t1"), "none")
    assert.strictEqual(ended("u1-a1(A)-rA-a2-t1"), "none")
  })

  it("on an API error, which is not sent", () => {
    assert.strictEqual(ended("u1-a1", { bodies: { a1: { isApiErrorMessage: true } } }), "none")
  })

  it("on a system line", () => {
    for (const last of ["s1", "w1", "l1", "N1{}"]) assert.strictEqual(ended(`u1-a1-u2-${last}`), "none", last)
    assert.strictEqual(ended("u1-a1(A)-rA-s1"), "none")
  })

  it("on an interrupt marker", () => {
    for (const text of ["[Request interrupted by user]", "[Request interrupted by user for tool use]"]) {
      assert.strictEqual(ended("u1-a1-u2", { bodies: { u2: Message.user(text) } }), "none")
      assert.strictEqual(ended("u1-a1-u2", { bodies: { u2: Message.user([Content.text(text)]) } }), "none")
    }
  })

  it("on a meta message", () => {
    assert.strictEqual(ended("u1-a1-m1"), "none")
    assert.strictEqual(ended("u1-m1"), "none")
  })

  it("on a compact summary", () => {
    assert.strictEqual(ended("u1-a1 B1-S1"), "none")
  })

  it("where nothing was said", () => {
    for (const picture of ["", "p1", "s1", "!a1"]) assert.strictEqual(ended(picture), "none", picture)
  })
})

describe("A prompt was interrupted", () => {
  it("where it is last", () => {
    assert.strictEqual(ended("u1"), "interrupted-prompt u1")
    assert.strictEqual(ended("u1-a1-u2"), "interrupted-prompt u2")
    assert.strictEqual(ended("u1-a1 B1-S1-u2"), "interrupted-prompt u2")
  })

  it("where only its attachments follow", () => {
    assert.strictEqual(ended("u1-t1-t2"), "interrupted-prompt u1")
  })

  it("where what followed is left out: an open call, mere thinking, blanks", () => {
    assert.strictEqual(ended("u1-a1(A)"), "interrupted-prompt u1")
    const reply = (content: unknown) => ({ bodies: { a1: { message: { id: "m", content } } } })
    assert.strictEqual(ended("u1-a1", reply([Content.thinking("hm", "sig")])), "interrupted-prompt u1")
    assert.strictEqual(ended("u1-a1", reply([Content.text(" ")])), "interrupted-prompt u1")
    assert.strictEqual(ended("u1-a1", reply([])), "interrupted-prompt u1")
  })

  it("where an orphan result follows, which is left out", () => {
    assert.strictEqual(ended("u1-rZ"), "interrupted-prompt u1")
  })

  it("is run again as it is: nothing is added", () => {
    assert.strictEqual(goesOn("u1-a1-u2"), "u[u1] a[a1] u[u2]")
    assert.strictEqual(goesOn("u1-a1(A)"), "u[u1]")
  })
})

describe("A turn was interrupted", () => {
  it("where a tool result is last", () => {
    assert.strictEqual(ended("u1-a1(A)-rA"), "interrupted-turn rA")
    assert.strictEqual(ended("u1-a1@m(A)-a2@m(B)-rA-rB"), "interrupted-turn rB")
  })

  it("where only the result's attachments follow", () => {
    assert.strictEqual(ended("u1-a1(A)-rA-t1"), "interrupted-turn rA")
  })

  it("where a call of the next reply is left open", () => {
    assert.strictEqual(ended("u1-a1(A)-rA-a2(B)"), "interrupted-turn rA")
  })

  it("where calls are left open and others have results, in any order, under both policies", () => {
    for (const picture of [
      "u1-a1@m(A)-a2@m(B)-rA",
      "u1-a1@m(A)-a2@m(B)-rB",
      "u1-a1@m(A)-rA-a2@m(B)",
      "u1-a1@m(A,B)-rA",
      "u1-a1@m(A)-a2@m(B) a1-rA"
    ]) {
      assert.match(ended(picture), /^interrupted-turn/, picture)
      assert.match(ended(picture, close), /^interrupted-turn/, picture)
    }
  })

  it("where a result is last in what is sent, in whatever order the round is stored", () => {
    assert.strictEqual(ended("u1-a1@m-a2@m(A)-rA"), "interrupted-turn rA")
    assert.match(ended("u1-a1@m(A)-a2@m-rA"), /^interrupted-turn/)
    assert.match(ended("u1-a1@m(A)-rA-a2@m"), /^interrupted-turn/)
  })

  it("where only attachments follow the result, in whatever order the round is stored", () => {
    assert.match(ended("u1-a1@m(A)-a2@m-rA-t1"), /^interrupted-turn/)
    assert.match(ended("u1-a1@m(A)-rA-t1-a2@m"), /^interrupted-turn/)
    for (const options of [{}, close]) {
      assert.match(ended("u1-a1@m(A)-a2@m(B)-rA-t1", options), /^interrupted-turn/)
      assert.match(ended("u1-a1@m(A)-rA-t1-a2@m(B)", options), /^interrupted-turn/)
    }
  })

  it("goes on with a meta prompt at the end", () => {
    assert.strictEqual(Interruption.continuation, "Continue from where you left off.")
    assert.strictEqual(goesOn("u1-a1(A)-rA"), `u[u1] a[use:A] u[res:A ${go}]`)
    assert.strictEqual(
      goesOn("u1-a1@m(A)-a2@m(B)-rA", close).replace(/u\[res.*? "/, 'u[… "'),
      `u[u1] a[use:A use:B] u[… ${go}]`
    )
  })

  it("adds a block that stands in no entry, and no entry", () => {
    const view = model("u1-a1(A)-rA")
    const { messages, omitted } = Interruption.inject(view, { kind: "interrupted-turn", uuid: "rA" })
    const { parts, uuids } = messages.at(-1)!
    assert.deepStrictEqual(parts.at(-1), { block: Content.text(Interruption.continuation), synthetic: true })
    assert.deepStrictEqual(uuids, ["rA"])
    assert.strictEqual(omitted, view.omitted)
  })

  it("adds a message of its own where an assistant stands last, or nothing does", () => {
    const turn = { kind: "interrupted-turn", uuid: "a1" } as const
    assert.strictEqual(sent(Interruption.inject(model("u1-a1"), turn)), `u[u1] a[a1] u[${go}]`)
    assert.strictEqual(sent(Interruption.inject(model(""), turn)), `u[${go}]`)
  })
})

describe("Judging and injecting", () => {
  it("change nothing: many resumes are one", () => {
    for (const picture of ["u1", "u1-a1", "u1-a1(A)-rA", "u1-a1@m(A)-a2@m(B)-rA"]) {
      const state = recover(picture)
      const view = model(picture)
      const before = structuredClone(view.messages)
      const once = Interruption.inject(view, Interruption.judge(state.conversation, view))
      const twice = Interruption.inject(view, Interruption.judge(state.conversation, view))
      assert.deepStrictEqual(twice, once, picture)
      assert.deepStrictEqual(view.messages, before, picture)
    }
  })

  it("add nothing where nothing was interrupted in the middle of a turn", () => {
    for (const picture of ["u1", "u1-a1", "u1-a1-m1", ""]) {
      const view = model(picture)
      assert.strictEqual(Interruption.inject(view, Interruption.judge(recover(picture).conversation, view)), view)
    }
  })
})
