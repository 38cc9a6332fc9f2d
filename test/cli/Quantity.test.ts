import { assert, describe, it } from "@effect/vitest"
import * as Quantity from "@reprise/cli/Quantity"

describe("Quantity", () => {
  it("reads a number with a unit, and nothing else", () => {
    const units = { d: 10, kB: 1000 }
    const read = (text: string) => Quantity.parse(text, units)
    assert.deepStrictEqual(["3d", " 1.5 D ", "2KB", "0d"].map(read), [30, 15, 2000, 0])
    assert.deepStrictEqual(
      ["", "3", "d", "-3d", "3x", "3dd", "1e3d", "constructor"].map(read),
      Array(8).fill(undefined)
    )
  })
})
