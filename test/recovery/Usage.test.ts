import * as Entry from "@reprise/domain/Entry"
import * as Projection from "@reprise/domain/Projection"
import * as Usage from "@reprise/recovery/Usage"
import { assert, describe, it } from "@effect/vitest"

const prompt = (uuid: string) => ({ type: "user", uuid, message: { role: "user", content: "go on" } })
const line = (uuid: string, id: string | undefined, output: number, cacheRead = 0, model = "m") => ({
  type: "assistant",
  uuid,
  message: {
    ...(id === undefined ? {} : { id }),
    model,
    content: [{ type: "text", text: uuid }],
    usage: { input_tokens: 10, output_tokens: output, cache_read_input_tokens: cacheRead }
  }
})
const usage = (...entries: ReadonlyArray<object>) =>
  Projection.fold(
    Usage.projection,
    entries.map((entry) => Entry.read(entry as Entry.Unknown).entry)
  )

describe("Usage", () => {
  it("counts a reply in several lines once, with its last value", () => {
    const total = usage(prompt("u1"), line("a1", "r", 2), line("a2", "r", 30), line("a3", "r", 410))
    assert.strictEqual(total.output, 410)
    assert.strictEqual(total.input, 10)
    assert.strictEqual(total.replies, 1)
  })

  it("keeps replies apart that a gateway gave the same id, by the prompt between them", () => {
    const total = usage(prompt("u1"), line("a1", "gw", 5, 900), prompt("u2"), line("a2", "gw", 7, 900))
    assert.deepStrictEqual([total.replies, total.output, total.cacheRead], [2, 12, 1800])
  })

  it("counts replies without an id one by one", () => {
    assert.strictEqual(usage(line("a1", undefined, 1), line("a2", undefined, 2)).replies, 2)
  })

  it("counts a line that stands twice once, and no line of a sidechain", () => {
    const side = { ...line("s1", "side", 99), isSidechain: true, agentId: "abc" }
    assert.strictEqual(usage(line("a1", "r", 5), prompt("u2"), line("a1", "r", 5), side).output, 5)
  })

  it("splits by model, and the parts add up", () => {
    const total = usage(line("a1", "r1", 5, 0, "big"), line("a2", "r2", 7, 0, "small"), line("a3", "r3", 1, 0, "big"))
    assert.strictEqual(total.byModel.get("big")?.output, 6)
    assert.strictEqual(total.byModel.get("small")?.output, 7)
    assert.strictEqual(total.output, 13)
  })

  it("reads a reply without usage as no reply", () => {
    const without = { type: "assistant", uuid: "a1", message: { id: "r", content: [] } }
    assert.deepStrictEqual([usage(without).replies, usage(without).output], [0, 0])
  })
})
