import * as Search from "@reprise/cli/Search"
import * as Style from "@reprise/cli/Style"
import { assert, describe, it } from "@effect/vitest"
import * as Metadata from "@reprise/domain/Metadata"
import * as EntryLog from "@reprise/storage/EntryLog"
import type * as TranscriptSearch from "@reprise/storage/TranscriptSearch"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { idOf, plant } from "./listed.ts"
import { run } from "./running.ts"

const planted = Effect.map(Temporary.directory, (projects) => {
  const first = plant(
    projects,
    "-a",
    1,
    "u1-a1",
    Metadata.customTitle("The Needle"),
    Metadata.tag("none"),
    Metadata.lastPrompt({ lastPrompt: "a needle" })
  )
  const second = plant(projects, "-b", 2, "u1", Metadata.customTitle("needle"))
  fs.utimesSync(first, 20, 20)
  fs.utimesSync(second, 10, 10)
  return { projects, first, second }
})

const hit = (excerpt: string, found: string): TranscriptSearch.Hit => {
  const start = excerpt.indexOf(found)
  return {
    _tag: "Hit",
    log: EntryLog.session("-a", idOf(1)),
    path: "/a",
    at: { line: 12, byteStart: 0, byteEnd: 9 },
    entry: { type: "tag", tag: "t" },
    excerpt,
    start,
    end: start + found.length
  }
}

describe("reprise search", () => {
  it.effect("asks for a text where it is given an empty one", () =>
    Effect.gen(function* () {
      for (const text of ["", " "]) {
        const { failure, mistakes } = yield* run("search", text)
        assert.strictEqual(failure, "ShowHelp")
        assert.include(mistakes, "Expected: a text that is not empty")
      }
    })
  )

  it.effect("shows each place below its file", () =>
    Effect.gen(function* () {
      const { first, projects, second } = yield* planted
      const { failure, out } = yield* run("search", "--all", "--projects", projects, "NEEDLE")
      assert.isUndefined(failure)
      const name = (file: string) => Style.cutStart(file, 100)
      assert.deepStrictEqual(out.split("\n"), [
        name(first),
        "  line 3      custom-title  The Needle",
        "  line 5      last-prompt   a needle",
        "",
        name(second),
        "  line 2      custom-title  needle",
        ""
      ])
    })
  )

  it.effect("--json prints a line for each place, with its bytes", () =>
    Effect.gen(function* () {
      const { first, projects } = yield* planted
      const { out } = yield* run("search", "--all", "--json", "--limit", "1", "--projects", projects, "needle")
      const { byteEnd, byteStart, ...line } = JSON.parse(out)
      assert.deepInclude(line, {
        record: "hit",
        sessionId: idOf(1),
        file: first,
        line: 3,
        type: "custom-title",
        excerpt: "The Needle"
      })
      assert.include(fs.readFileSync(first).subarray(byteStart, byteEnd).toString(), '"customTitle":"The Needle"')
    })
  )

  it.effect("what is found nowhere is no failure; what cannot be read is", () =>
    Effect.gen(function* () {
      const { projects } = yield* planted
      assert.deepInclude(yield* run("search", "--all", "--projects", projects, "no such thing"), {
        failure: undefined,
        out: "Found nowhere.\n"
      })
      assert.strictEqual((yield* run("search", "--all", "--json", "--projects", projects, "no such thing")).out, "")
      const file = path.join(projects, "file")
      fs.writeFileSync(file, "")
      const broken = yield* run("search", "--all", "--projects", file, "x")
      assert.strictEqual(broken.failure, "FilesUnreadable")
      assert.match(broken.out, /^EntryLogError {2}list failed/)
    })
  )
})

describe("a place", () => {
  it("fits the terminal, with the text in sight", () => {
    const long = hit(`${"before ".repeat(20)}needle${" behind".repeat(20)}`, "needle")
    for (const columns of [40, 60, 100]) {
      const shown = Search.renderHit(long, Style.plain(columns))
      assert.isAtMost(Style.width(shown), columns)
      assert.match(shown, / needle /)
    }
    assert.isAtMost(Style.width(Search.renderHit(hit("needle".repeat(50), "needle".repeat(50)), Style.plain(50))), 50)
  })

  it("is marked, and does not steer the terminal", () => {
    const shown = Search.renderHit(hit("a \u001b[2Jneedle b", "needle"), Style.colored(80))
    assert.include(shown, "\u001b[33mneedle\u001b[39m")
    assert.notInclude(shown, "\u001b[2J")
  })
})
