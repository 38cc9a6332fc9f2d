import { assert, describe, it } from "@effect/vitest"
import * as Wire from "@reprise/ingress/Wire"

describe("Wire", () => {
  it("a writer is its id and its epoch", () => {
    for (const writer of [
      { writerId: "w1", epoch: 0 },
      { writerId: "host:4711/a", epoch: 12 }
    ])
      assert.deepStrictEqual(Wire.writerOf(Wire.writer(writer.writerId, writer.epoch)), writer)
  })

  it("any other text is no writer", () => {
    for (const text of [
      "",
      "w1",
      ";1",
      "w;",
      "w;-1",
      "w;1;2",
      "w w;1",
      "w;1 ",
      "w;9999999999999999",
      `${"w".repeat(129)};1`
    ])
      assert.isUndefined(Wire.writerOf(text), text)
  })

  it("headers are in lower case, as Node gives them", () => {
    for (const name of Object.values(Wire.headers)) assert.strictEqual(name, name.toLowerCase())
  })
})
