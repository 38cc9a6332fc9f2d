import * as Notation from "@reprise/domain/testing/Notation"
import * as Recovery from "@reprise/recovery/Recovery"
import * as ToolPairs from "@reprise/recovery/ToolPairs"
import { assert, describe, it } from "@effect/vitest"

const pairs = (picture: string, replaced?: ReadonlyMap<string, unknown>) =>
  ToolPairs.make(Recovery.fold(Notation.log(picture)).conversation, replaced)

describe("ToolPairs", () => {
  it("pairs by id, wherever the result stands", () => {
    const between = pairs("u1-a1(A)-u2-a2-rA")
    assert.strictEqual(between.answerTo("a1", "A")?.uuid, "rA")
    assert.strictEqual(between.roleOf("rA", "A"), "answer")
  })

  it("finds no answer to an open call, and no call for an orphan", () => {
    const open = pairs("u1-a1(A)-u2-rX")
    assert.strictEqual(open.answerTo("a1", "A"), undefined)
    assert.strictEqual(open.roleOf("rX", "X"), "orphan-result")
  })

  it("lets the first of two results answer", () => {
    const twice = pairs("u1-a1(A)-rA-u2-r2(A)")
    assert.strictEqual(twice.answerTo("a1", "A")?.uuid, "rA")
    assert.strictEqual(twice.roleOf("r2", "A"), "duplicate-result")
  })

  it("answers the first of two calls that share an id", () => {
    const shared = pairs("u1-a1(A)-rA-u2-a2(A)-u3")
    assert.strictEqual(shared.answerTo("a1", "A")?.uuid, "rA")
    assert.strictEqual(shared.answerTo("a2", "A"), undefined)
  })

  it("gives a result with the text that stands for it", () => {
    const replaced = pairs("u1-a1(A)-rA-a2", new Map([["A", "short"]]))
    assert.strictEqual(replaced.answerTo("a1", "A")?.block.content, "short")
  })
})
