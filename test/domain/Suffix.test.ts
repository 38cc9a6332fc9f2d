import { assert, describe, it } from "@effect/vitest"
import * as Suffix from "@reprise/domain/Suffix"

describe("Suffix.Verdict", () => {
  it("says why less is not enough", () => {
    const told = [Suffix.sufficient, Suffix.earlier("no"), Suffix.whole("never")].map((verdict) =>
      verdict._tag === "Sufficient" ? verdict._tag : `${verdict._tag}: ${verdict.why}`
    )
    assert.deepStrictEqual(told, ["Sufficient", "Earlier: no", "Whole: never"])
  })
})
