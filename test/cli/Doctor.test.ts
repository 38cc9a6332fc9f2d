import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { grow, session, snapshot, tree } from "./checking.ts"
import { fixture, run } from "./running.ts"

const planted = (files: Parameters<typeof grow>[1] = tree) =>
  Effect.tap(Temporary.directory, (directory) => Effect.sync(() => grow(directory, files)))

const parsed = (out: string): ReadonlyArray<any> =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("reprise doctor", () => {
  it.effect("checks a tree, and prints findings by kind", () =>
    Effect.gen(function* () {
      const directory = yield* planted()
      const { failure, out } = yield* run("doctor", directory)
      assert.strictEqual(failure, undefined)
      assert.deepStrictEqual(out.split("\n"), [
        "severity  kind                findings  files  worst file",
        "loss      torn-line                  1      1  shop/1c9a5b7e-40d3-4f86-8e2b-95d7a6c3f014.jsonl (1)",
        "repair    missing-parent             2      2  shop/1c9a5b7e-40d3-4f86-8e2b-95d7a6c3f014.jsonl (1)",
        "repair    parallel-recovered         1      1  house/old.jsonl (1)",
        "note      unresolved-call            1      1  shop/1c9a5b7e-40d3-4f86-8e2b-95d7a6c3f014.jsonl (1)",
        "",
        "Totals",
        `  files          4 transcripts of ${kilobytes(directory)} kB below ${directory}, 2 skipped`,
        "  messages       19 messages: 18 in the conversation, 1 on 1 branch",
        "  conversations  4 of 4 files",
        "  sum            every message accounted for, in 4 of 4 files",
        "  drift          0 checkpoints checked, 0 differ, 0 not checked",
        "  findings       5, with loss in 1 file",
        "",
        "Files with loss (1)",
        "  shop/1c9a5b7e-40d3-4f86-8e2b-95d7a6c3f014.jsonl  1 torn-line",
        "",
        "Skipped (2)",
        "  shop/notes.jsonl                                                    no entry of a transcript in it",
        "  …0d3-4f86-8e2b-95d7a6c3f014/subagents/workflows/wf_1/journal.jsonl  the journal of a workflow",
        ""
      ])
    })
  )

  it.effect("of a directory without transcripts says so; --strict makes it a failure", () =>
    Effect.gen(function* () {
      const directory = planted({})
      const { failure, out } = yield* run("doctor", yield* directory)
      assert.isUndefined(failure)
      assert.match(out, /^No transcripts below \S+\.\n$/)
      assert.strictEqual((yield* run("doctor", "--strict", yield* directory)).failure, "NothingChecked")
    })
  )

  it.effect("--json prints a line for each file, and one for all", () =>
    Effect.gen(function* () {
      const directory = yield* planted()
      const { failure, out } = yield* run("doctor", "--json", directory)
      assert.strictEqual(failure, undefined)
      const lines = parsed(out)
      assert.deepStrictEqual(
        lines.map(({ file, lane, record }) => [record, lane, file && path.relative(directory, file)]),
        [
          ["file", "main", "house/old.jsonl"],
          ["file", "main", `shop/${session}.jsonl`],
          ["skipped", undefined, "shop/notes.jsonl"],
          ["file", "sidechain", `shop/${session}/subagents/agent-ab.jsonl`],
          ["file", "sidechain", `shop/${session}/subagents/workflows/wf_1/agent-cd.jsonl`],
          ["skipped", undefined, `shop/${session}/subagents/workflows/wf_1/journal.jsonl`],
          ["summary", undefined, undefined]
        ]
      )
      assert.deepInclude(lines.at(-1), { files: 4, skipped: 2, unreadable: 0, messages: 19, filesWithLoss: 1 })
    })
  )

  it.effect("a file that is named like a transcript is one, whatever it holds", () =>
    Effect.gen(function* () {
      const junk = new TextEncoder().encode("\u0000\u0000\n[1]\n")
      const directory = yield* planted({ [`${session}.jsonl`]: junk, "agent-x.jsonl": junk, "other.jsonl": junk })
      const lines = parsed((yield* run("doctor", "--json", directory)).out)
      assert.deepStrictEqual(
        lines.map(({ loss, record }) => [record, loss]),
        [
          ["file", 2],
          ["file", 2],
          ["skipped", undefined],
          ["summary", undefined]
        ]
      )
    })
  )

  it.effect("fails when a file cannot be read, after all others are checked", () =>
    Effect.gen(function* () {
      const directory = yield* planted({ "a.jsonl": "u1-a1", "c.jsonl": "u1-a1" })
      fs.symlinkSync(path.join(directory, "gone"), path.join(directory, "b.jsonl"))
      const { failure, out } = yield* run("doctor", directory)
      assert.strictEqual(failure, "FilesUnreadable")
      assert.include(out, "2 transcripts of 2 kB")
      assert.include(out, "Not read (1)\n  b.jsonl  no file; check the path\n")
      const json = yield* run("doctor", "--json", directory)
      assert.deepInclude(parsed(json.out)[1], { record: "unreadable", file: path.join(directory, "b.jsonl") })
    })
  )

  it.effect("fails where there is no directory", () =>
    Effect.gen(function* () {
      const text = yield* run("doctor", "/no/such")
      assert.deepStrictEqual(
        [text.failure, text.out],
        [
          "FilesUnreadable",
          "TranscriptUnreadable  /no/such: expected a directory of transcripts, found no directory; check the path\n"
        ]
      )
      const json = yield* run("doctor", "--json", fixture("empty"))
      assert.deepInclude(parsed(json.out)[0], { ok: false, file: fixture("empty") })
    })
  )

  it.effect("--strict fails on loss, and on nothing less", () =>
    Effect.gen(function* () {
      const lossy = yield* planted({ "a.jsonl": "u1-a1 ?" })
      const repaired = yield* planted({ "a.jsonl": "u1-a1 x9-u2" })
      assert.strictEqual((yield* run("doctor", lossy)).failure, undefined)
      assert.strictEqual((yield* run("doctor", "--strict", lossy)).failure, "LossFound")
      assert.strictEqual((yield* run("doctor", "--strict", repaired)).failure, undefined)
    })
  )

  it.effect("--full names every file", () =>
    Effect.gen(function* () {
      const many = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`${i}.jsonl`, "u1-a1 ?"]))
      const directory = yield* planted(many)
      assert.include((yield* run("doctor", directory)).out, "  … and 5 more (--full shows them)\n")
      assert.notInclude((yield* run("doctor", "--full", directory)).out, "more")
    })
  )

  it.effect("changes no byte and no time", () =>
    Effect.gen(function* () {
      const directory = yield* planted()
      const before = snapshot(directory)
      yield* run("doctor", directory)
      yield* run("doctor", "--json", directory)
      assert.deepStrictEqual(snapshot(directory), before)
    })
  )
})

/** The transcripts' size, as the command rounds it. */
function kilobytes(directory: string): number {
  const size = (name: string) => fs.statSync(path.join(directory, name)).size
  const none = /journal|notes|out\.txt/
  const bytes = Object.keys(tree).reduce((sum, name) => (none.test(name) ? sum : sum + size(name)), 0)
  return Math.ceil(bytes / 1000)
}
