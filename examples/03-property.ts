/**
 * A property of recovery: wherever a log is cut, as by a kill in the middle of a write, the conversation is the beginning
 * of the whole one. The log is written as a picture: prompts u, replies a with their calls, results r.
 */
import * as Effect from "effect/Effect"
// #region property
import { Line } from "@reprise/domain"
import * as Notation from "@reprise/domain/testing/Notation"
import { Recovery } from "@reprise/recovery"
import { Arbitrary, Schema } from "effect"

const log = Notation.bytes("u1-a1(A)-rA-a2-u2-a3(B,C)-rB-rC-a4")
const show = (bytes: Uint8Array) => Notation.show(Recovery.fold(Line.decodeAll(bytes)).conversation)
const cuts = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: log.length })))
const property = Arbitrary.checkEffect(cuts, (cut) => show(log).startsWith(show(log.subarray(0, cut))), { runs: 500 })
// #endregion

const result = await Effect.runPromise(property)
if (result._tag === "Passed") console.log(`held for ${result.runs} cuts of ${show(log)}`)
else {
  console.log(Arbitrary.formatCheckFailure(result))
  process.exitCode = 1
}
