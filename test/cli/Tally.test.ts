import type * as Checkup from "@reprise/cli/Checkup"
import * as Tally from "@reprise/cli/Tally"
import { assert, describe, it } from "@effect/vitest"
import { checkup } from "./checking.ts"

const torn = (count: number): Checkup.Found => ({ kind: "torn-line", severity: "loss", count })
const missing = (count: number): Checkup.Found => ({ kind: "missing-parent", severity: "repair", count })
const gap = (severity: "loss" | "note", count: number): Checkup.Found => ({ kind: "gap", severity, count })

const of = (...checkups: ReadonlyArray<readonly [name: string, Partial<Checkup.Checkup>]>): Tally.Tally => {
  const run = Tally.run()
  for (const [name, parts] of checkups) run.add(name, checkup(parts))
  return run.total()
}

describe("a tally", () => {
  it("of nothing is nothing", () => {
    const total = of()
    assert.deepInclude(total, { files: 0, bytes: 0, written: 0, conversations: 0, rows: [], loss: [], unbalanced: [] })
  })

  it("adds up", () => {
    const sum = { messages: 10, conversation: 4, archived: 3, removed: 2, onBranches: 1, branches: 1 }
    const parts = { bytes: 5, written: 11, sidechains: 1, sum, drift: { checked: 2, unchecked: 1, mismatched: 1 } }
    const empty = { sum: { ...sum, conversation: 0 } }
    const total = of(["a", parts], ["b", parts], ["c", empty])
    assert.deepInclude(total, { files: 3, bytes: 10, written: 22, sidechains: 2, conversations: 2 })
    assert.deepStrictEqual(total.sum, {
      messages: 30,
      conversation: 8,
      archived: 9,
      removed: 6,
      onBranches: 3,
      branches: 3
    })
    assert.deepStrictEqual(total.drift, { checked: 4, unchecked: 2, mismatched: 2 })
  })

  it("has a row for each kind and severity, what is worst first, with the first of the worst files", () => {
    const total = of(
      ["a", { findings: [missing(1), torn(1), gap("note", 9)] }],
      ["b", { findings: [missing(5), gap("loss", 2)] }],
      ["c", { findings: [missing(5)] }]
    )
    assert.deepStrictEqual(
      total.rows.map(({ files, findings, kind, severity, worst }) => [severity, kind, findings, files, worst.name]),
      [
        ["loss", "gap", 2, 1, "b"],
        ["loss", "torn-line", 1, 1, "a"],
        ["repair", "missing-parent", 11, 3, "b"],
        ["note", "gap", 9, 1, "a"]
      ]
    )
    assert.deepStrictEqual(
      total.loss.map(({ name }) => name),
      ["a", "b"]
    )
    assert.deepStrictEqual(total.loss[1]!.findings, [gap("loss", 2)])
  })

  it("names what does not add up, is skipped, or cannot be read", () => {
    const run = Tally.run()
    run.add("a", checkup({ holds: false }))
    run.skip({ file: "/b", name: "b", why: "no" })
    run.fail({ file: "/c", name: "c", why: "gone" })
    const { files, skipped, unbalanced, unreadable } = run.total()
    assert.strictEqual(files, 1)
    assert.deepStrictEqual(unbalanced, ["a"])
    assert.deepStrictEqual([skipped[0]!.name, unreadable[0]!.name], ["b", "c"])
  })
})
