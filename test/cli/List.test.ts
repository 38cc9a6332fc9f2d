import { assert, describe, it } from "@effect/vitest"
import * as Metadata from "@reprise/domain/Metadata"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { snapshot } from "./checking.ts"
import { idOf, plant } from "./listed.ts"
import { run } from "./running.ts"

const planted = Effect.tap(Temporary.directory, (projects) =>
  Effect.sync(() => {
    plant(projects, "-shop", 1, "u1-a1", Metadata.customTitle("Slow page"), Metadata.tag("web"))
    plant(projects, "-shop", 2, "u1-a1-u2-a2")
    plant(projects, "-house", 3, "u1-a1-u2", Metadata.customTitle("Other"))
  })
)

const parsed = (out: string): ReadonlyArray<any> =>
  out === ""
    ? []
    : out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))

describe("reprise list", () => {
  it.effect("lists all, the newest message first", () =>
    Effect.gen(function* () {
      const { failure, out } = yield* run("list", "--all", "--projects", yield* planted)
      assert.isUndefined(failure)
      const [head, ...rows] = out.trimEnd().split("\n")
      assert.match(head!, /^session +last message +size +directory +branch +title$/)
      assert.deepStrictEqual(
        rows.map((row) => row.slice(0, 8)),
        ["22222222", "33333333", "11111111"]
      )
      assert.include(rows[2]!, "Slow page  #web")
    })
  )

  it.effect("--json prints one line for each session", () =>
    Effect.gen(function* () {
      const projects = yield* planted
      const { out } = yield* run("list", "--all", "--json", "--projects", projects)
      const lines = parsed(out)
      assert.deepStrictEqual(
        lines.map(({ record, sessionId }) => [record, sessionId]),
        [2, 3, 1].map((digit) => ["session", idOf(digit)])
      )
      const file = path.join(projects, "-shop", `${idOf(1)}.jsonl`)
      assert.deepInclude(lines[2], { file, title: "Slow page", tag: "web", origin: "human", archived: false })
      assert.strictEqual(lines[2].size, fs.statSync(file).size)
    })
  )

  it.effect("a part, by page and by what it is", () =>
    Effect.gen(function* () {
      const projects = yield* planted
      const listed = (...args: ReadonlyArray<string>) =>
        Effect.map(run("list", "--all", "--json", "--projects", projects, ...args), ({ out }) =>
          parsed(out).map(({ sessionId }) => Number(sessionId[0]))
        )
      assert.deepStrictEqual(yield* listed("--limit", "1"), [2])
      assert.deepStrictEqual(yield* listed("--limit", "1", "--offset", "1"), [3])
      assert.deepStrictEqual(yield* listed("--tag", "web"), [1])
      assert.deepStrictEqual(yield* listed("--text", "OTHER"), [3])
      assert.deepStrictEqual(yield* listed("--branch", "none"), [])
      assert.deepStrictEqual(yield* listed("--origin", "agent"), [])
      assert.deepStrictEqual(yield* listed("--no-archived"), [2, 3, 1])
      assert.isDefined((yield* run("list", "--limit", "-1")).failure)
    })
  )

  it.effect("without --all only those of this directory", () =>
    Effect.gen(function* () {
      const { failure, out } = yield* run("list", "--projects", yield* planted)
      assert.deepStrictEqual([failure, out], [undefined, "No sessions.\n"])
    })
  )

  it.effect("changes no byte and no time; an index is written where it is asked for", () =>
    Effect.gen(function* () {
      const projects = yield* planted
      const before = snapshot(projects)
      const plain = yield* run("list", "--all", "--projects", projects)
      assert.deepStrictEqual(snapshot(projects), before)
      const index = path.join(yield* Temporary.directory, "index")
      for (let i = 0; i < 2; i++)
        assert.deepStrictEqual(yield* run("list", "--all", "--projects", projects, "--index", index), plain)
      assert.isTrue(fs.existsSync(index))
      assert.deepStrictEqual(snapshot(projects), before)
    })
  )

  it.effect("what is no session is told, and is no failure", () =>
    Effect.gen(function* () {
      const projects = yield* planted
      fs.mkdirSync(path.join(projects, "-shop", `${idOf(4)}.jsonl`))
      const { failure, out } = yield* run("list", "--all", "--projects", projects)
      assert.isUndefined(failure)
      assert.match(out, /\n\nPassed by \(1\)\n {2}\S*44444444\S* {2}a directory\n$/)
      const json = yield* run("list", "--all", "--json", "--projects", projects)
      assert.deepInclude(parsed(json.out)[3], { record: "passed", why: "Directory" })
    })
  )

  it.effect("fails where the projects cannot be listed", () =>
    Effect.gen(function* () {
      const file = path.join(yield* Temporary.directory, "file")
      fs.writeFileSync(file, "")
      const { failure, out } = yield* run("list", "--all", "--projects", file)
      assert.strictEqual(failure, "FilesUnreadable")
      assert.match(out, /^EntryLogError {2}list failed/)
    })
  )

  it.effect("a directory of projects that is none is said, and an index that cannot be written", () =>
    Effect.gen(function* () {
      const { failure, out } = yield* run("list", "--all", "--projects", "/no/such")
      assert.strictEqual(failure, "FilesUnreadable")
      assert.include(out, "/no/such: expected a directory that holds a folder for each project, found nothing")
      assert.strictEqual((yield* run("search", "--all", "--projects", "/no/such", "x")).failure, "FilesUnreadable")
      const projects = yield* Temporary.directory
      const file = plant(projects, "-shop", 1, "u1")
      const { failure: none, noted } = yield* run("list", "--all", "--projects", projects, "--index", `${file}/index`)
      assert.isUndefined(none)
      assert.include(noted, "the index was not written")
    })
  )
})
