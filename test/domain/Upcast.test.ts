import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Upcast from "@reprise/domain/Upcast"
import { assert, describe, it } from "@effect/vitest"

/** One object in the old shape for each step, and what today's reading of it holds. */
const fixtures: ReadonlyArray<{ readonly step: string; readonly old: Entry.Unknown; readonly today: object }> = [
  {
    step: "system without subtype",
    old: { type: "system", uuid: "s1", parentUuid: null, content: "careful", level: "warning", version: "1.0.53" },
    today: { subtype: "informational", content: "careful", level: "warning" }
  },
  {
    step: "message over numeric keys",
    old: {
      type: "assistant",
      uuid: "a1",
      parentUuid: "u1",
      message: { "0": "d", "1": "a", content: [] },
      version: "2.1.81"
    },
    today: { message: { content: [] } }
  },
  {
    step: "boundary without metadata",
    old: { type: "system", subtype: "compact_boundary", uuid: "b1", parentUuid: null, compactMetadata: null },
    today: { compactMetadata: { trigger: "unknown" } }
  },
  {
    step: "API error as it was received",
    old: {
      type: "system",
      subtype: "api_error",
      uuid: "s2",
      error: {
        status: 529,
        requestID: "req_1",
        error: { type: "error", error: { type: "overloaded", message: "busy" } }
      }
    },
    today: {
      error: {
        status: 529,
        requestID: "req_1",
        error: { type: "error", error: { type: "overloaded", message: "busy" } },
        message: "busy",
        requestId: "req_1"
      }
    }
  }
]

describe("Upcast", () => {
  it("has a fixture for every step", () => {
    assert.deepStrictEqual(
      Upcast.steps.map(({ name }) => name),
      fixtures.map(({ step }) => step)
    )
  })

  for (const { old, step, today } of fixtures) {
    it(`reads the old shape as today's: ${step}`, () => {
      const { entry, illFormed } = Entry.read(old)
      const lost = Upcast.steps.find(({ name }) => name === step)?.lost
      assert.deepStrictEqual(illFormed, lost === undefined ? [] : [lost])
      for (const [key, value] of Object.entries(today)) {
        assert.deepStrictEqual((entry as { readonly [key: string]: unknown })[key], value)
      }
    })

    it(`leads back to the object read, and is written as it was: ${step}`, () => {
      const { entry } = Entry.read(old)
      assert.strictEqual(Entry.original(entry), old)
      assert.strictEqual(Line.encode(entry), JSON.stringify(old))
    })

    it(`reads its own reading unchanged: ${step}`, () => {
      const once = Upcast.read(old)
      assert.strictEqual(Upcast.read(once), once)
    })
  }

  it("leaves today's shapes alone", () => {
    const today = { type: "system", subtype: "turn_duration", uuid: "s1", durationMs: 1 }
    assert.strictEqual(Upcast.read(today), today)
    assert.strictEqual(Entry.read(today).entry as unknown, today)
  })

  it("recognises an old shape by itself, never by its version", () => {
    const old = { type: "system", uuid: "s1", content: "x", version: "9.9.9" }
    assert.strictEqual((Upcast.read(old) as { readonly subtype?: string }).subtype, "informational")
  })
})
