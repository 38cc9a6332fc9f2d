/**
 * What laws are tried on, and how a failure is shown.
 *
 *   log       one in four each: a history, a damaged one, one that no session wrote, any bytes
 *   history   the session and its log           damaged   the same after one to three accidents
 */
import * as Damage from "@reprise/domain/testing/Damage"
import * as History from "@reprise/domain/testing/History"
import * as Picture from "@reprise/domain/testing/Picture"
import * as Wild from "@reprise/domain/testing/Wild"
import type * as Law from "@reprise/recovery/testing/Law"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Recovery from "@reprise/recovery/Recovery"
import * as budget from "./budget.ts"

const die = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65535 })))
const dice = Arbitrary.all([die, die, die, die])
const maxSteps = 32
const history = History.arbitrary({ maxSteps })
const damages = Arbitrary.array(Damage.arbitrary, { minLength: 1, maxLength: 3 })

const histories: Arbitrary.Arbitrary<Law.OfHistory> = Arbitrary.map(
  Arbitrary.all([history, dice]),
  ([history, dice]) => ({ history, bytes: history.bytes, dice })
)

const damagedOnes: Arbitrary.Arbitrary<Law.OfDamage> = Arbitrary.map(
  Arbitrary.all([history, damages, dice]),
  ([history, damages, dice]) => {
    const damaged = Damage.inflictAll(history.bytes, damages)
    return { history, damages, damaged, bytes: damaged.bytes, dice }
  }
)

const sources: ReadonlyArray<Arbitrary.Arbitrary<Law.OfLog>> = [
  histories,
  damagedOnes,
  ...[Wild.log(), Wild.bytes].map((bytes) =>
    Arbitrary.map(Arbitrary.all([bytes, dice]), ([bytes, dice]) => ({ bytes, dice }))
  )
]

const logs: Arbitrary.Arbitrary<Law.OfLog> = Arbitrary.flatMap(die, (die) => sources[die % sources.length]!)

/** What a law is tried on. */
const subjects = { log: logs, history: histories, damaged: damagedOnes } as const

/** A law's verdict; one that throws is broken as well. */
const judge = (law: Law.Law, given: Law.OfLog, reader: Law.Reader): Law.Verdict => {
  try {
    return law.holds(given as Law.OfDamage, reader)
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}

/** How a law was broken: with the smallest log, drawn, and the token that shows it again. */
export interface Broken {
  readonly law: string
  readonly runs: number
  readonly verdict: Law.Verdict
  readonly picture: string
  readonly replay: string
  readonly given: Law.OfLog
}

/** Tries a law; undefined: it held every time. */
export const attempt = (
  law: Law.Law,
  options: { readonly runs: number; readonly seed: string; readonly reader?: Law.Reader; readonly maxShrinks?: number }
): Broken | undefined => {
  const reader = options.reader ?? Recovery.fold
  const subject: Arbitrary.Arbitrary<Law.OfLog> = subjects[law.over]
  const result = Effect.runSync(
    Arbitrary.checkEffect(subject, (given) => judge(law, given, reader) === true, {
      runs: options.runs,
      size: maxSteps,
      seed: options.seed,
      maxShrinks: options.maxShrinks ?? 10_000
    })
  )
  if (result._tag === "Passed") return undefined
  if (result._tag !== "Falsified") throw new Error(`${law.name}: ${Arbitrary.formatCheckFailure(result)}`)
  const given = result.shrunkInput
  return {
    law: law.name,
    runs: result.runs,
    verdict: judge(law, given, reader),
    picture: Picture.draw(given.bytes),
    replay: result.replay,
    given
  }
}

/** One test for each law of a group. */
export const hold = (group: string, laws: ReadonlyArray<Law.Law>): void => {
  describe(group, () => {
    for (const law of laws) {
      it(law.name, { timeout: budget.timeout }, () => {
        const broken = attempt(law, { runs: budget.runs, seed: `${budget.seed} ${law.name}` })
        if (broken !== undefined) assert.fail(explain(broken))
      })
    }
  })
}

const explain = ({ given, law, picture, replay, runs, verdict }: Broken): string => {
  const { damages, history } = given as Partial<Law.OfDamage>
  return [
    `${law}: broken after ${runs} runs`,
    String(verdict),
    `log      ${picture}`,
    ...(history === undefined ? [] : history.steps.map((step) => `step     ${JSON.stringify(step)}`)),
    ...(damages ?? []).map((damage) => `damage   ${JSON.stringify(damage)}`),
    ...(history === undefined ? [`bytes    ${JSON.stringify(new TextDecoder().decode(given.bytes))}`] : []),
    `dice     ${given.dice.join()}`,
    `replay   ${replay}`
  ].join("\n")
}
