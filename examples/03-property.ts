/**
 * A property of recovery: wherever a log is cut, as by a kill in the middle of a write, the conversation is the beginning
 * of the whole one. The log is written as a picture: prompts u, replies a with their calls, results r.
 */
import { Line } from "@reprise/domain"
import * as Notation from "@reprise/domain/testing/Notation"
import { Recovery } from "@reprise/recovery"
import { Arbitrary, Effect, Schema } from "effect"

// #region property
const log = Notation.bytes("u1-a1(A)-rA-a2-u2-a3(B,C)-rB-rC-a4")
const conversationOf = (bytes: Uint8Array) => Notation.show(Recovery.fold(Line.decodeAll(bytes)).conversation)
const anywhere = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: log.length })))

export const property = Arbitrary.checkEffect(
  anywhere,
  (cut) => conversationOf(log).startsWith(conversationOf(log.subarray(0, cut))),
  { runs: 500 }
)
// #endregion

const result = await Effect.runPromise(property)
if (result._tag === "Passed") console.log(`held for ${result.runs} cuts of ${conversationOf(log)}`)
else {
  console.log(Arbitrary.formatCheckFailure(result))
  process.exitCode = 1
}
