import * as DoctorText from "@reprise/cli/DoctorText"
import * as Style from "@reprise/cli/Style"
import * as Tally from "@reprise/cli/Tally"
import type * as Checkup from "@reprise/cli/Checkup"
import * as Finding from "@reprise/domain/Finding"
import { assert, describe, it } from "@effect/vitest"
import { checkup } from "./checking.ts"

const found = (kind: Finding.Kind, count: number): Checkup.Found => ({
  kind,
  severity: Finding.severities[kind],
  count
})

const tally = (files: { readonly [name: string]: Partial<Checkup.Checkup> }): Tally.Run => {
  const run = Tally.run()
  for (const [name, parts] of Object.entries(files)) run.add(name, checkup(parts))
  return run
}

const show = (run: Tally.Run, style = Style.plain(), limit = 20): Array<string> =>
  DoctorText.render("logs", run.total(), style, limit).split("\n")

const sum = { messages: 10, conversation: 7, archived: 3, removed: 0, onBranches: 0, branches: 0 }

describe("the whole", () => {
  it("is a table, totals, and lists of files", () => {
    const run = tally({
      "a.jsonl": { bytes: 1234, sum, sidechains: 2, drift: { checked: 3, unchecked: 1, mismatched: 0 } },
      "b.jsonl": { findings: [found("torn-line", 1), found("missing-parent", 2)] },
      "deep/c.jsonl": { findings: [found("torn-line", 12), found("nul-bytes", 1)] }
    })
    run.skip({ file: "logs/journal.jsonl", name: "journal.jsonl", why: "the journal of a workflow" })
    run.fail({ file: "logs/x.jsonl", name: "x.jsonl", why: "no file; check the path" })
    assert.deepStrictEqual(show(run), [
      "severity  kind            findings  files  worst file",
      "loss      torn-line             13      2  deep/c.jsonl (12)",
      "loss      nul-bytes              1      1  deep/c.jsonl (1)",
      "repair    missing-parent         2      1  b.jsonl (2)",
      "",
      "Totals",
      "  files          3 transcripts of 2 kB below logs, 1 skipped, 1 not read",
      "  messages       10 messages: 7 in the conversation, 3 archived",
      "  sidechains     2 messages more, inside of main transcripts",
      "  conversations  1 of 3 files",
      "  sum            every message accounted for, in 3 of 3 files",
      "  drift          3 checkpoints checked, 0 differ, 1 not checked",
      "  findings       16, with loss in 2 files",
      "",
      "Files with loss (2)",
      "  deep/c.jsonl  12 torn-line, 1 nul-bytes",
      "  b.jsonl       1 torn-line",
      "",
      "Skipped (1)",
      "  journal.jsonl  the journal of a workflow",
      "",
      "Not read (1)",
      "  x.jsonl  no file; check the path"
    ])
  })

  it("of nothing says so", () => {
    assert.deepStrictEqual(show(Tally.run()), ["No transcripts below logs."])
  })

  it("names files whose sum does not hold, and drift", () => {
    const shown = show(tally({ "a.jsonl": { holds: false, drift: { checked: 2, unchecked: 0, mismatched: 1 } } }))
    assert.includeMembers(shown, [
      "  sum            messages not accounted for in 1 of 1 files",
      "  drift          2 checkpoints checked, 1 differs, 0 not checked",
      "Messages not accounted for (1)",
      "  a.jsonl  the sum of RECOVERY §9 does not hold: please report it"
    ])
  })

  it("counts bytes in what one can read", () => {
    for (const [bytes, expected] of [
      [999, "1 kB"],
      [250_000, "250 kB"],
      [2_340_000, "2.3 MB"],
      [70_471_346, "70 MB"]
    ] as const)
      assert.include(show(tally({ a: { bytes } })).join("\n"), `1 transcript of ${expected} below`)
  })
})

describe("the table", () => {
  const kinds = Object.keys(Finding.severities) as ReadonlyArray<Finding.Kind>
  const name = `${"projects-".repeat(20)}/5b0d7f21-9c46-4e83-b1a2-60f7d3c89e14.jsonl`
  const run = tally({ [name]: { findings: kinds.map((kind, index) => found(kind, index * 1000)) } })

  it("fits the terminal, however narrow", () => {
    for (let columns = 10; columns <= 160; columns += 5) {
      const shown = show(run, Style.plain(columns))
      for (const line of shown.slice(0, shown.indexOf(""))) assert.isAtMost(Style.width(line), columns)
    }
  })

  it("keeps the end of a name, and leaves it out where nothing of it could be read", () => {
    assert.match(show(run, Style.plain(80))[1]!, /…\S*60f7d3c89e14\.jsonl \(\d+\)$/)
    assert.notInclude(show(run, Style.plain(55))[0]!, "worst")
    assert.match(show(run, Style.plain(55))[0]!, /files$/)
  })

  it("is painted by severity", () => {
    const [head, first] = show(tally({ a: { findings: [found("torn-line", 1)] } }), Style.colored())
    assert.strictEqual(head, "\u001b[1mseverity  kind       findings  files  worst file\u001b[22m")
    assert.strictEqual(first, "\u001b[31mloss    \u001b[39m  torn-line         1      1  a (1)")
  })
})

describe("long lists", () => {
  const many = tally(
    Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}.jsonl`, { findings: [found("torn-line", 1)] }]))
  )

  it("are cut with a count, unless all is asked for", () => {
    assert.include(show(many), "  … and 10 more (--full shows them)")
    assert.include(show(many, Style.plain(), Infinity), "  29.jsonl  1 torn-line")
  })

  it("of files that could not be read are not", () => {
    const run = Tally.run()
    for (let i = 0; i < 30; i++) run.fail({ file: `${i}`, name: `${i}`, why: "gone" })
    assert.include(show(run), "  29  gone")
  })
})
