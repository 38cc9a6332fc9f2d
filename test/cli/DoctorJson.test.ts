/** The contract of `reprise doctor --json`. */
import * as DoctorJson from "@reprise/cli/DoctorJson"
import * as Tally from "@reprise/cli/Tally"
import { assert, describe, it } from "@effect/vitest"
import { checkup } from "./checking.ts"

const candidate = { file: "logs/a.jsonl", name: "a.jsonl", lane: "main", named: true } as const
const loss = { kind: "torn-line", severity: "loss", count: 2 } as const

describe("doctor --json", () => {
  it("a file that was checked", () => {
    assert.deepStrictEqual(JSON.parse(DoctorJson.encode(candidate, checkup({ findings: [loss] }))), {
      record: "file",
      file: "logs/a.jsonl",
      lane: "main",
      bytes: 0,
      written: 0,
      messages: 0,
      conversation: 0,
      archived: 0,
      removed: 0,
      onBranches: 0,
      branches: 0,
      sidechains: 0,
      holds: true,
      drift: { checked: 0, unchecked: 0, mismatched: 0 },
      loss: 2,
      findings: [loss]
    })
  })

  it("a file that was passed by", () => {
    const passed = { file: "logs/j.jsonl", name: "j.jsonl", why: "no" }
    assert.deepStrictEqual(JSON.parse(DoctorJson.encodePassed("skipped", passed)), {
      record: "skipped",
      file: "logs/j.jsonl",
      why: "no"
    })
    const message = "logs/j.jsonl: expected a transcript that can be read, found no"
    const error = { _tag: "TranscriptUnreadable", message, file: "logs/j.jsonl", found: "no" }
    assert.deepStrictEqual(JSON.parse(DoctorJson.encodePassed("unreadable", passed)), {
      record: "unreadable",
      file: "logs/j.jsonl",
      why: "no",
      ok: false,
      error
    })
  })

  it("all of them", () => {
    const run = Tally.run()
    run.add("a.jsonl", checkup({ findings: [loss] }))
    assert.deepStrictEqual(JSON.parse(DoctorJson.encodeTotal("logs", run.total())), {
      record: "summary",
      directory: "logs",
      files: 1,
      skipped: 0,
      unreadable: 0,
      bytes: 0,
      written: 0,
      messages: 0,
      conversation: 0,
      archived: 0,
      removed: 0,
      onBranches: 0,
      branches: 0,
      sidechains: 0,
      conversations: 0,
      unbalanced: 0,
      drift: { checked: 0, unchecked: 0, mismatched: 0 },
      filesWithLoss: 1,
      findings: [
        { kind: "torn-line", severity: "loss", findings: 2, files: 1, worst: { name: "a.jsonl", findings: 2 } }
      ]
    })
  })
})
