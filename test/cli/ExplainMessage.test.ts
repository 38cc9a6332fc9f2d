import * as Explain from "@reprise/cli/Explain"
import * as ExplainMessage from "@reprise/cli/ExplainMessage"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Notation from "@reprise/domain/testing/Notation"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Temporary from "../storage/temporary.ts"
import { about, explain } from "./explaining.ts"
import { logs, write } from "./running.ts"

describe("a message", () => {
  it.effect("shows what moved it, its place, and what is sent of it", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* about("u1-a1 x9-u2-a2", "u2"), [
        "u2  user on line 3: [u2]",
        "Written       hangs on x9 (in no line)",
        "Reparent      1 change",
        "  line 3  u2  x9 (in no line) → a1",
        "          The parent x9 of u2 is in no line; it hangs on a1.",
        "Hangs on      a1",
        "Place         3 of 4 in the conversation, behind a1, before a2",
        "Model         in message 3 of 4 (user)"
      ])
    }).pipe(Effect.provide(logs))
  )

  it.effect("shows what else was found of it", () =>
    Effect.gen(function* () {
      const shown = yield* about("u1-a1 x9-a2(A)", "a2")
      assert.deepStrictEqual(shown.slice(-2), ["Also found", "  note    line 3  Call A of a2 was never answered."])
    }).pipe(Effect.provide(logs))
  )

  it.effect("shows what moved because of it", () =>
    Effect.gen(function* () {
      const shown = yield* about("u1-a1 x9-u2", "a1")
      assert.includeMembers(shown, ["Reparent      1 change", "  line 3  u2  x9 (in no line) → a1"])
    }).pipe(Effect.provide(logs))
  )

  for (const [what, picture, uuid, expected] of [
    ["the leaf", "u1-a1", "a1", "Leaf          the conversation ends here"],
    ["archived", "u1-a1-B1-S1-u2", "u1", "Place         archived: before boundary B1, and not kept"],
    ["removed", "u1-a1-u2-a2-N1{u2,a2}-u3", "u2", "Place         removed by snip N1"],
    ["removed, so that it hangs on nothing", "u1-a1-N1{a1}-u3", "a1", "Hangs on      nothing: it was removed"],
    ["on a branch", "u1-a1-u2 a1-u3", "u2", "Place         on the branch up to u2, that left at a1"],
    ["on a branch of its own", "u1-a1 u2-a2", "a1", "Place         on the branch up to a1, with a root of its own"],
    ["not sent", "u1-a1-u2 a1-u3", "u2", "Model         not sent: not in the conversation"],
    ["left out", "u1-s1-a1", "s1", "Model         left out: system"],
    ["a result", "u1-a1(A,B)-rA-rB", "rA", "Model         in message 3 of 3 (user)"]
  ] as const) {
    it.effect(`may be ${what}`, () =>
      Effect.gen(function* () {
        assert.include(yield* about(picture, uuid), expected)
      }).pipe(Effect.provide(logs))
    )
  }
})

it.effect("a message that was written again names the copies", () =>
  Effect.gen(function* () {
    const once = Notation.bytes("u1-a1")
    const file = write(yield* Temporary.directory, "twice", Buffer.concat([once, once]))
    const shown = yield* about(file, "u1")
    assert.strictEqual(shown[2], "Copies        on line 3; the first stands")
  }).pipe(Effect.provide(logs))
)

describe("what is no message of the lane", () => {
  it.effect("is a link, with what was looked through to", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* about("u1-a1-p1-u2", "p1"), [
        "p1  progress on line 3: no message; what hangs on it is looked through to its parent",
        "Progress      1 change",
        "  line 4  u2  p1 (no message) → a1",
        "          What it hung on is no message, and is looked through."
      ])
    }).pipe(Effect.provide(logs))
  )

  it.effect("is in a sidechain", () =>
    Effect.gen(function* () {
      const [first] = yield* about("u1-a1 u5~ab", "u5")
      assert.strictEqual(
        first,
        "u5  user on line 3: in the sidechain of agent ab, which is set aside; --sidechain explains the log of one"
      )
    }).pipe(Effect.provide(logs))
  )

  it.effect("is in no line, and a parent all the same", () =>
    Effect.gen(function* () {
      const shown = yield* about("u1-a1 x9-u2", "x9")
      assert.strictEqual(shown[0], "x9  in no line")
      assert.include(shown, "  line 3  u2  x9 (in no line) → a1")
    }).pipe(Effect.provide(logs))
  )
})

describe("an id", () => {
  it.effect("may be given by its beginning, where that is enough", () =>
    Effect.gen(function* () {
      const explanation = yield* explain("u11-a11-u12")
      assert.strictEqual((yield* Explain.find(explanation, "a")).uuid, "a11")
      const several = yield* Effect.flip(Explain.find(explanation, "u1"))
      assert.include(several.message, 'found that "u1" begins u11, u12; give more of it')
      const none = yield* Effect.flip(Explain.find(explanation, "zz"))
      assert.include(none.message, 'found no line and no link with "zz"')
    }).pipe(Effect.provide(logs))
  )

  it.effect("that is whole is that one, whatever begins like it", () =>
    Effect.gen(function* () {
      const explanation = yield* explain("u1-a1-u12")
      assert.strictEqual((yield* Explain.find(explanation, "u1")).uuid, "u1")
    }).pipe(Effect.provide(logs))
  )
})

describe("occurrences", () => {
  it("are the lines with that id, of whatever type", () => {
    const log = Line.decodeAll(Notation.bytes("u1-a1 u1~ab p1^u1"))
    assert.deepStrictEqual(Projection.fold(ExplainMessage.occurrences("u"), log), [
      { uuid: "u1", line: 1, type: "user" }
    ])
  })
})
