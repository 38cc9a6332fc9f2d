import { assert, describe, it } from "@effect/vitest"
import * as Cursor from "@reprise/ingress/Cursor"
import { Schema } from "effect"

describe("Cursor", () => {
  it.prop("names its place to the store that gave it", { place: Schema.String }, ({ place }) => {
    const cursor = Cursor.make("b1", place)
    assert.match(cursor, /^[A-Za-z0-9_-]+$/)
    if (!place.isWellFormed()) return
    assert.strictEqual(Cursor.placeOf("b1", cursor), place)
    assert.isUndefined(Cursor.placeOf("b2", cursor))
  })

  it("of a stream it is a number of lines", () => {
    for (const seq of [0, 1, 5_000_000_000]) assert.strictEqual(Cursor.seqOf("b1", Cursor.make("b1", seq)), seq)
    for (const place of ["", "-1", "1.5", "1e3", "0x1", "9".repeat(16), "x"])
      assert.isUndefined(Cursor.seqOf("b1", Cursor.make("b1", place)), place)
  })

  it("any other text is none", () => {
    for (const text of ["", "x", "%", "b1 4", "YjEgNA==", "\u0000"])
      assert.isUndefined(Cursor.placeOf("b2", text), text)
  })
})
