import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Round from "@reprise/recovery/Round"

/** One entry of each kind that can be drawn; the letter is its name. */
const drawn = Notation.entries("u1 m1 a1@k(A,B) rA r2(A,B) t1 s1 l1 w1 B1 S1 N1") as ReadonlyArray<Entry.Message>
const entry = (uuid: string): Entry.Message => drawn.find((one) => one.uuid === uuid)!
const which = (is: (entry: Entry.Message) => boolean): string => Notation.show(drawn.filter((entry) => is(entry)))

describe("Round", () => {
  it("a reply is known by its message id; nothing else is a part of one", () => {
    assert.strictEqual(Round.replyOf(entry("a1")), "k")
    assert.isUndefined(Round.replyOf(entry("u1")))
    const handMade = { type: "assistant", uuid: "a9", requestId: "same", message: { content: "yes" } } as Entry.Message
    assert.isUndefined(Round.replyOf(handMade))
  })

  it("calls are those of a reply, in order", () => {
    assert.deepStrictEqual(Round.callsOf(entry("a1")), ["A", "B"])
    for (const other of ["u1", "rA", "t1", "s1"]) assert.deepStrictEqual(Round.callsOf(entry(other)), [])
  })

  it("answers are those of a user entry, in order", () => {
    assert.deepStrictEqual(Round.answersOf(entry("r2")), ["A", "B"])
    for (const other of ["u1", "a1", "t1", "s1"]) assert.deepStrictEqual(Round.answersOf(entry(other)), [])
  })

  it("a result inside a reply answers nothing", () => {
    const reply = { ...entry("a1"), message: { content: [{ type: "tool_result", tool_use_id: "A" }] } }
    assert.deepStrictEqual(Round.answersOf(reply as Entry.Message), [])
  })

  it("blocks that do not fit call and answer nothing", () => {
    const odd = [null, "text", { type: "tool_use" }, { type: "tool_result", tool_use_id: 7 }]
    assert.deepStrictEqual(Round.callsOf({ ...entry("a1"), message: { content: odd } } as Entry.Message), [])
    assert.deepStrictEqual(Round.answersOf({ ...entry("u1"), message: { content: odd } } as Entry.Message), [])
  })

  it("a prompt is a user entry that is neither injected nor a result", () => {
    assert.strictEqual(
      which((one) => Round.isPrompt(Round.read(one))),
      "u1-S1"
    )
  })

  it("a turn is a prompt or a part of a reply", () => {
    assert.strictEqual(
      which((one) => Round.isTurn(Round.read(one))),
      "u1-a1-S1"
    )
  })

  it("a note is an attachment, an injected line or a system line, but no rewind, boundary or snip", () => {
    assert.strictEqual(
      which((one) => Round.isNote(Round.read(one))),
      "m1-t1-s1-l1"
    )
  })

  it("a rewind is an informational line that is meta; one for people is none", () => {
    assert.strictEqual(which(Round.isRewind), "w1")
    const forPeople = { uuid: "s9", ...Message.informational("limit reached", { isMeta: false }) } as Entry.Message
    assert.isFalse(Round.isRewind(forPeople))
  })

  it("speech is a user, an assistant or a local command", () => {
    assert.strictEqual(which(Round.isSpeech), "u1-m1-a1-rA-r2-l1-S1")
  })
})
