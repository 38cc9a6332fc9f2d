/** The generators and the kit themselves. */
import { assert, describe, it } from "@effect/vitest"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Damage from "@reprise/domain/testing/Damage"
import * as History from "@reprise/domain/testing/History"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Picture from "@reprise/domain/testing/Picture"
import * as Step from "@reprise/domain/testing/Step"
import * as Recovery from "@reprise/recovery/Recovery"
import * as RecoveryLaws from "@reprise/recovery/testing/RecoveryLaws"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { mutants } from "./mutants.ts"

const say = Step.Say({ text: "plain" })
const reply = Step.Reply({ parts: "text" })

const picture = (...steps: ReadonlyArray<Step.Step>): string => Picture.draw(History.make(steps).bytes)
const seen = (...steps: ReadonlyArray<Step.Step>): string => History.make(steps).sees.conversation.join("-")

describe("History", () => {
  it("talk is a line", () => {
    assert.strictEqual(picture(say, reply, say), "u1-a2-u3")
    assert.strictEqual(seen(say, reply, say), "u1-a2-u3")
  })

  it("calls of one reply hang on each other, results on their calls", () => {
    const steps = [say, Step.round(2, { order: 1 }), reply]
    assert.strictEqual(picture(...steps), "u1-a5@m2(c3)-a6@m2(c4)-r7(c4) a5-r8(c3)-a9")
    assert.strictEqual(seen(...steps), "u1-a5-a6-r7-r8-a9")
  })

  it("a rewind leaves what came later, a branch says a prompt in another way", () => {
    const rewind = Step.Rewind({ to: 0, across: false, inside: false })
    assert.strictEqual(picture(say, reply, rewind), "u1-a2 u1-w3")
    assert.strictEqual(seen(say, reply, rewind), "u1-w3")
    assert.strictEqual(picture(say, reply, say, Step.Branch({ to: 1 })), "u1-a2-u3 a2-u4")
    assert.strictEqual(seen(say, reply, say, Step.Branch({ to: 1 })), "u1-a2-u4")
  })

  it("a compaction starts again with the summary and what is kept; a snip takes out", () => {
    const compact = Step.Compact({ kept: 1, form: "messages", notes: 0, hung: false, finished: true })
    assert.strictEqual(picture(say, reply, compact, say), "u1-a2 B4{a2>S3}-S3 a2-u5")
    assert.strictEqual(seen(say, reply, compact, say), "B4-S3-a2-u5")
    assert.strictEqual(seen(say, reply, say, Step.Snip({ which: 0b10, onRemoved: false })), "u1-u3-N4")
  })

  it("a crash costs the line that was torn", () => {
    assert.strictEqual(picture(say, Step.Crash({ cut: 7 }), reply), "u1 ? u1-a3")
    assert.strictEqual(History.make([say, Step.Crash({ cut: 7 })]).bytes.at(-1), ":".charCodeAt(0))
  })

  it("any steps are a session, and the same steps the same bytes", () => {
    const all = Effect.runSync(Arbitrary.sampleEffect(History.arbitrary(), { count: 50, size: 24, seed: "kit" }))
    for (const { bytes, steps } of all) assert.deepStrictEqual(History.make([...steps]).bytes, bytes)
    assert.deepStrictEqual(History.make([]).bytes, new Uint8Array())
  })
})

describe("Picture", () => {
  const pictures = [
    "u1-a1-u2 a1-u3",
    "x9-u1 u2^u2 u3^u4-u4",
    "u1-a1@m(A,B)-rA a1-rB(B)-t1-s1-l1-w1",
    "u1-p1-a1-q1-u2 B1{u1,a1>S1}-S1 B2{u1..a1>S2}-S2-N1{u2,S1} !a1 ? u9~abc-a9~abc",
    "u1:5-a1:?-u2:1.5-m1"
  ]
  for (const text of pictures) {
    it(text, () => {
      const drawn = Picture.draw(Notation.bytes(text))
      assert.strictEqual(Picture.draw(Notation.bytes(drawn)), drawn)
      assert.strictEqual(Notation.bytes(drawn).length, Notation.bytes(text).length)
    })
  }

  it("ids that are no words get names", () => {
    const line = (uuid: string, parentUuid: string | null) =>
      JSON.stringify({
        type: "user",
        uuid,
        parentUuid,
        message: { content: "x" },
        timestamp: "2025-03-04T05:06:07.000Z"
      })
    const log = [line("6f-1", null), line("6f-2", "6f-1"), line("6f-3", "gone")].join("\n")
    assert.strictEqual(Picture.draw(new TextEncoder().encode(log)), "u1-u2:1 x4-u3:1")
  })
})

describe("Damage", () => {
  const { bytes } = History.make([say, reply, say])
  const after = (damage: Damage.Damage): string => Picture.draw(Damage.inflict(bytes, damage).bytes)

  it("does what it says", () => {
    assert.strictEqual(after(Damage.Drop({ line: 1 })), "u1 x1-u3:3")
    assert.strictEqual(after(Damage.Junk({ line: 1, kind: "torn" })), "u1 ? u1-a2:2-u3:3")
    assert.strictEqual(after(Damage.Glue({ line: 0 })), "u1-a2-u3")
    assert.strictEqual(after(Damage.Duplicate({ line: 0, to: 2, parent: "other" })), "u1-a2-u3-u1:1")
    assert.strictEqual(after(Damage.Relink({ line: 1, to: "self" })), "u1 a2^a2-u3")
    assert.strictEqual(after(Damage.Stale({ parent: 0 })), "u1-a2-u3 u1-u0stale:1")
  })

  it("names what it may cost", () => {
    assert.deepStrictEqual([...Damage.inflict(bytes, Damage.Drop({ line: 1 })).lost], ["a2"])
    assert.deepStrictEqual([...Damage.inflict(bytes, Damage.Tear({ at: 1 })).lost], ["u1", "a2", "u3"])
    assert.isFalse(Damage.inflict(bytes, Damage.CarriageReturns()).moves)
    assert.deepStrictEqual(Damage.inflict(new Uint8Array(), Damage.Tear({ at: 1 })).lost, new Set())
  })
})

describe("RecoveryLaws", () => {
  const log = Notation.bytes("u1-a1@m(A)-a2@m(B)-rB a1-rA-t1 rB-u2 B1{u2>S1}-S1 u2-a3-N1{S1} ? u9~abc")

  it("no law is broken by a log that is whole", () => {
    assert.deepStrictEqual(RecoveryLaws.check(log), [])
  })

  it("a wrong reader breaks some", () => {
    const reader = mutants["sidechains are talk"]!
    assert.include(
      RecoveryLaws.check(log, { reader, seed: 1 }).map(({ law }) => law),
      "sidechains never leak into the conversation"
    )
  })

  it("a projection that keeps what it should forget breaks its laws, another one does not", () => {
    const counting = (initial: { n: number } | undefined): Projection.Projection<Line.Located, number> =>
      Projection.make({
        initial: () => initial ?? { n: 0 },
        evolve: (state: { n: number }) => {
          state.n++
          return state
        },
        extract: ({ n }) => n
      })
    const check = (projection: Projection.Projection<Line.Located, number>) =>
      RecoveryLaws.check(log, { laws: RecoveryLaws.ofProjection("mine", projection, String), seed: 3 })
    assert.deepStrictEqual(check(counting(undefined)), [])
    assert.isNotEmpty(check(counting({ n: 0 })))
    assert.strictEqual(Projection.fold(Recovery.projection, []).conversation.length, 0)
  })
})
