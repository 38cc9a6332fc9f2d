/**
 * Property tests with the generators of this library: any session, any damage, any log at all.
 */
// #region sessions
import * as History from "@reprise/domain/testing/History"
import { Recovery } from "@reprise/recovery"
import { Arbitrary, Effect } from "effect"

/** Whatever a session does, its log recovers to what it saw; inside of a round of calls the order is free. */
export const sees = Arbitrary.checkEffect(History.arbitrary({ maxSteps: 24 }), (history) => {
  const { conversation, rounds } = history.sees
  const state = Recovery.fold(History.log(history))
  const found = state.conversation.map(({ uuid }) => uuid)
  return History.settle(found, rounds).join() === History.settle(conversation, rounds).join()
})
// #endregion
// #region damage
import { Line } from "@reprise/domain"
import * as Damage from "@reprise/domain/testing/Damage"

const accidents = Arbitrary.array(Damage.arbitrary, { minLength: 1, maxLength: 3 })

/** Whatever becomes of the log, no more is missing from what is shown than the damage may cost. */
export const survives = Arbitrary.checkEffect(Arbitrary.all([History.arbitrary(), accidents]), ([history, all]) => {
  const { bytes, lost, moves } = Damage.inflictAll(history.bytes, all)
  const state = Recovery.fold(Line.decodeAll(bytes))
  const found = new Set(state.conversation.map(({ uuid }) => uuid))
  return moves || history.sees.conversation.every((uuid) => found.has(uuid) || lost.has(uuid))
})
// #endregion
// #region laws
import { Projection } from "@reprise/domain"
import * as Wild from "@reprise/domain/testing/Wild"
import * as RecoveryLaws from "@reprise/recovery/testing/RecoveryLaws"

const prompts = Projection.entries(Projection.match(() => 0, { user: (count) => count + 1 }))
const laws = RecoveryLaws.ofProjection("prompts", prompts, String)

/** A projection of one's own is a fold that may be cut, composed and scanned, over logs that no session wrote as well. */
export const lawful = Arbitrary.checkEffect(Wild.log(), (bytes) => RecoveryLaws.check(bytes, { laws }).length === 0)
// #endregion

// #region told
import * as Picture from "@reprise/domain/testing/Picture"

/** A result in a line; of a failure the smallest log as a picture, and what shows it again (`{ replay }`). */
const told = <A>(result: Arbitrary.CheckResult<A, never>, bytesOf: (input: A) => Uint8Array): string => {
  if (result._tag === "Passed") return `held ${result.runs} times`
  if (result._tag !== "Falsified") return Arbitrary.formatCheckFailure(result) ?? result._tag
  return `broken by ${Picture.draw(bytesOf(result.shrunkInput))}; replay ${result.replay}`
}
// #endregion

const program = Effect.gen(function* () {
  console.log(`sees: ${told(yield* sees, ({ bytes }) => bytes)}`)
  console.log(`survives: ${told(yield* survives, ([{ bytes }]) => bytes)}`)
  console.log(`lawful: ${told(yield* lawful, (bytes) => bytes)}`)
})

await Effect.runPromise(program)
