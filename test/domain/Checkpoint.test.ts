import { assert, describe, it } from "@effect/vitest"
import * as Checkpoint from "@reprise/domain/Checkpoint"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("Checkpoint.hash", () => {
  it("is the same for the same bytes, and another for any other", () => {
    const texts = [
      "",
      "a",
      "b",
      "ab",
      "ba",
      "a\0",
      '{"type":"a"}\n',
      '{"type":"b"}\n',
      "x".repeat(4096),
      "x".repeat(4095)
    ]
    const hashes = texts.map((text) => Checkpoint.hash(bytes(text)))
    assert.strictEqual(new Set(hashes).size, texts.length)
    assert.deepStrictEqual(
      hashes,
      texts.map((text) => Checkpoint.hash(bytes(text)))
    )
    assert.isTrue(hashes.every((hash) => /^[0-9a-f]{16}$/.test(hash)))
  })
})

describe("Checkpoint.is", () => {
  it("takes what was one before it was stored, and nothing else", () => {
    const checkpoint = { version: "1", line: 3, byte: 40, hash: "0", state: { any: ["thing"] } }
    assert.isTrue(Checkpoint.is(JSON.parse(JSON.stringify(checkpoint))))
    for (const other of [undefined, null, "x", [], {}, { ...checkpoint, byte: 1.5 }, { ...checkpoint, hash: 1 }]) {
      assert.isFalse(Checkpoint.is(other))
    }
  })
})
