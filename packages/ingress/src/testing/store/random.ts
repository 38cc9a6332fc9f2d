/**
 * Promises about any history: the store says what the rule says, of lists in memory.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as assert from "node:assert/strict"
import * as AppendChain from "../../AppendChain.ts"
import type { AppendError, ReadError } from "../../IngressError.ts"
import { type Appended, IngressStore } from "../../IngressStore.ts"
import { answerOf } from "../../internal/verdict.ts"
import type { StreamLine } from "../../StreamLine.ts"
import type { Promises } from "../IngressStoreSuite.ts"
import { append, compat, lines, native, newStream, readAll } from "./lines.ts"

const SUBS = ["", "a1"] as const

/** A step of a history: a claim, or an attempt on one of the streams. */
interface Step {
  readonly sub: (typeof SUBS)[number]
  readonly claim: boolean
  readonly isCompat: boolean
  readonly names: ReadonlyArray<string>
  readonly last: string
  readonly epoch: number
}

const Step: Arbitrary.Arbitrary<Step> = Arbitrary.all({
  sub: Arbitrary.schema(Schema.Literals(SUBS)),
  claim: Arbitrary.map(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 11 }))),
    (n) => n === 0
  ),
  isCompat: Arbitrary.schema(Schema.Boolean),
  names: Arbitrary.array(Arbitrary.schema(Schema.Literals(["a", "b", "c", "d", ".1", ".2", "a'", "b'", "~1", "#e"])), {
    maxLength: 4
  }),
  last: Arbitrary.schema(Schema.Literals(["", "", "*", "a", "b", "c", "d"])),
  epoch: Arbitrary.schema(Schema.Literals([0, 0, 1, 2]))
})

const attemptOf = ({ epoch, isCompat, last, names }: Step): AppendChain.Attempt<StreamLine> => {
  const message = names.find((name) => !/^[.~]/.test(name))
  return isCompat ? compat(message ?? "a", last || undefined) : native(names.join(" "), last || undefined, epoch)
}

/** The model: a list of lines for each stream, and one epoch. */
const model = () => {
  const streams = new Map<string, ReadonlyArray<StreamLine>>()
  let epoch = 0
  return {
    streams,
    claim: () => ++epoch,
    append: (sub: string, attempt: AppendChain.Attempt<StreamLine>) => {
      const before = streams.get(sub) ?? []
      const end = AppendChain.advance({ uuid: undefined, seq: 0 }, before)
      const asked = new Set(attempt.lines.map(({ key }) => key))
      const places = before.map(({ hash, key }, i) => [key, { seq: i + 1, hash }] as const)
      const head = { ...end, epoch, known: new Map(places.filter(([key]) => asked.has(key))) }
      const verdict = AppendChain.judge(head, attempt)
      const added = AppendChain.linesOf(verdict)
      if (added.length > 0) streams.set(sub, [...before, ...added])
      return answerOf(verdict, AppendChain.advance(end, added), epoch)
    }
  }
}

const shown = (result: { readonly _tag: string; readonly success?: Appended; readonly failure?: AppendError }) =>
  result._tag === "Success" ? { ...result.success } : { ...result.failure, _tag: result.failure?._tag }

const plays = (steps: ReadonlyArray<Step>): Effect.Effect<void, AppendError | ReadError, IngressStore> =>
  Effect.gen(function* () {
    const store = yield* IngressStore
    const stream = newStream()
    const expected = model()
    for (const step of steps) {
      if (step.claim) {
        assert.equal((yield* store.claim(stream.tenant, stream.session, "w")).epoch, expected.claim())
        continue
      }
      const attempt = attemptOf(step)
      const found = yield* Effect.result(append({ ...stream, sub: step.sub }, attempt))
      assert.deepEqual(shown(found), shown(expected.append(step.sub, attempt)))
    }
    for (const [sub, all] of expected.streams) {
      assert.deepEqual(
        (yield* readAll({ ...stream, sub }, 3)).map(({ key, text }) => ({ key, text })),
        all.map(({ key, text }) => ({ key, text }))
      )
    }
  })

/** The promises, by their names. */
export const random: Promises = {
  "any history is answered as the rule says, and leaves the lines it says": Effect.gen(function* () {
    const context = yield* Effect.context<IngressStore>()
    const histories = Arbitrary.array(Step, { maxLength: 16 })
    const result = yield* Arbitrary.checkEffect(
      histories,
      (steps) => Effect.as(Effect.provideContext(plays(steps), context), true),
      { runs: 25 }
    )
    assert.equal(result._tag, "Passed", result._tag === "Passed" ? "" : Arbitrary.formatCheckFailure(result))
  }),

  "a retry of any attempt that succeeded stores nothing": Effect.gen(function* () {
    const stream = newStream()
    const attempts = [native("a .1"), native("b ~2", "a"), native(".1 c", "*"), compat("d", "c")]
    for (const attempt of attempts) yield* append(stream, attempt)
    const before = yield* readAll(stream)
    for (const attempt of [...attempts, ...attempts]) assert.equal((yield* append(stream, attempt)).duplicate, true)
    assert.deepEqual(yield* readAll(stream), before)
    assert.equal(before.length, lines("a .1 b ~2 c d").length)
  })
}
