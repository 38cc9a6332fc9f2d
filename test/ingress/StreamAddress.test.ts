import { assert, describe, it } from "@effect/vitest"
import * as Lane from "@reprise/domain/Lane"
import * as StreamAddress from "@reprise/ingress/StreamAddress"
import { Arbitrary, Schema } from "effect"

const hostile = [
  "..",
  ".",
  "../x",
  "a/../b",
  "a//b",
  "/a",
  "a/",
  "-a",
  "_a",
  "a b",
  "a\n",
  "a\u0000",
  "é",
  "a.b",
  "a\\b"
]

describe("StreamAddress", () => {
  it("takes session ids of letters, digits, _ and -", () => {
    for (const id of ["a", "0", "A-b_9", "00000000-0000-4000-8000-000000000001", "x".repeat(128)])
      assert.isTrue(StreamAddress.isSession(id), id)
    for (const id of [...hostile, "", "x".repeat(129), "a/b", 7])
      assert.isFalse(StreamAddress.isSession(id), String(id))
  })

  it("takes streams of up to four segments, or none", () => {
    for (const sub of ["", "a1", "x/a1", "a/b/c/d", `${"x".repeat(128)}/y`])
      assert.isTrue(StreamAddress.isSub(sub), sub)
    for (const sub of [...hostile, "a/b/c/d/e", "x".repeat(129)]) assert.isFalse(StreamAddress.isSub(sub), sub)
  })

  it.prop("a stream is a lane and back", { sub: Arbitrary.schema(StreamAddress.Sub) }, ({ sub }) => {
    const lane = StreamAddress.laneOf(sub)
    assert.isDefined(lane)
    assert.strictEqual(StreamAddress.subOf(lane!), sub)
  })

  it("an agent with a name that no server takes has no stream, and a hostile name no lane", () => {
    assert.strictEqual(StreamAddress.subOf(Lane.sidechain("a1", ["x"])), "x/a1")
    assert.isUndefined(StreamAddress.subOf(Lane.sidechain("a.1")))
    assert.isUndefined(StreamAddress.subOf(Lane.sidechain("a", ["1", "2", "3", "4"])))
    for (const sub of hostile) assert.isUndefined(StreamAddress.laneOf(sub), sub)
  })

  it("keys are equal for equal addresses only", () => {
    const of = (tenant: string, session: string, sub: string) => StreamAddress.keyOf({ tenant, session, sub })
    const keys = [of("t", "s", ""), of("t", "s", "a"), of("t", "s", "a/b"), of("u", "s", ""), of("t/x", "s", "")]
    assert.strictEqual(new Set(keys).size, keys.length)
    assert.strictEqual(of("t", "s", "a"), of("t", "s", "a"))
  })

  it("says what it expects", () => {
    assert.throws(() => Schema.decodeSync(StreamAddress.Session)("../x"), /a session id: 1 to 128 letters/)
  })
})
