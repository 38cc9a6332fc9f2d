import * as Reprise from "@reprise/cli/Reprise"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Runtime } from "effect"
import * as fs from "node:fs"
import { run } from "./running.ts"

/** The names of the commands, as the help lists them. */
const names = Effect.map(run("--help"), ({ shown }) => {
  const [, listed = ""] = /^FIND AND READ:\n(.*)^EXAMPLES$/ms.exec(shown) ?? []
  const all = Array.from(listed.matchAll(/^  (\w+) /gm), ([, name]) => name!)
  assert.strictEqual(all.length, 20)
  return all
})

describe("reprise", () => {
  it.effect("says what it is and what it can do", () =>
    Effect.gen(function* () {
      const { failure, shown } = yield* run("--help")
      assert.strictEqual(failure, undefined)
      assert.include(shown, "Reads, repairs and resumes agent sessions from their transcripts.")
      assert.match(shown, /^ +resume +Recover sessions/m)
      assert.match(shown, /^ +explain +Show which repair/m)
      assert.match(shown, /^ +doctor +Check all transcripts/m)
    })
  )

  it.effect("says its version: that of its package", () =>
    Effect.gen(function* () {
      const manifest = fs.readFileSync(new URL("../../packages/cli/package.json", import.meta.url), "utf8")
      assert.strictEqual(Reprise.version, JSON.parse(manifest).version)
      const { shown } = yield* run("--version")
      assert.strictEqual(shown, `reprise v${Reprise.version}`)
    })
  )

  it.effect("every command shows how it is used", () =>
    Effect.gen(function* () {
      for (const name of yield* names) {
        const { failure, shown } = yield* run(name, "--help")
        assert.isUndefined(failure)
        assert.match(shown, new RegExp(`^  # \\w.*\\n  (\\S.* )?reprise ${name}\\b`, "m"))
        assert.notMatch(shown, /wizard|log-level/)
      }
    })
  )

  it.effect("a flag means one thing, whichever command takes it", () =>
    Effect.gen(function* () {
      const meanings = new Map<string, Set<string>>()
      for (const name of yield* names) {
        const { shown } = yield* run(name, "--help")
        for (const [, flag = "", meaning = ""] of shown.matchAll(
          /^  (--(?:all|full|sidechain|projects)\b).*? {4,}([^:\n]+)/gm
        ))
          meanings.set(flag, (meanings.get(flag) ?? new Set()).add(meaning))
      }
      assert.deepStrictEqual(
        Array.from(meanings, ([flag, all]) => [flag, all.size]).toSorted(),
        ["--all", "--full", "--projects", "--sidechain"].map((flag) => [flag, 1])
      )
    })
  )

  it.effect("says in words what a mistaken argument should be", () =>
    Effect.gen(function* () {
      for (const [args, expected] of [
        [["list", "--limit", "-1"], "a whole number from 0 on"],
        [["search", "x", "--limit", "1.5"], "a whole number from 0 on"],
        [["prune", "--older-than", "3"], "a number with a unit (h, d, w), such as 30d"],
        [["follow", "--from", "3", "x"], "LINE:BYTE, the line and byte of a caught-up record"]
      ] as const) {
        const { failure, mistakes } = yield* run(...args)
        assert.strictEqual(failure, "ShowHelp")
        assert.include(mistakes, `. Expected: ${expected}`)
      }
    })
  )

  for (const more of [[], ["--json"]]) {
    it.effect(`tells a mistake in a few lines on standard error, and prints nothing ${more.join()}`, () =>
      Effect.gen(function* () {
        const { mistakes, out, shown } = yield* run("resume", "--nosuch", ...more)
        assert.deepStrictEqual([out, shown], ["", ""])
        assert.isAtMost(mistakes.split("\n").length, 5)
        assert.match(mistakes, /--nosuch[^]*\nUsage: reprise resume .*`reprise help resume` tells all of it$/)
      })
    )
  }

  for (const words of [[], ["search"]]) {
    it.effect(`"${["help", ...words].join(" ")}" is --help`, () =>
      Effect.gen(function* () {
        const { failure, shown } = yield* run("help", ...words)
        assert.isUndefined(failure)
        assert.strictEqual((yield* run(...words, "--help")).shown, `${shown}\n${shown}`)
      })
    )
  }

  for (const words of [[], ["remote"]]) {
    it.effect(`"${["reprise", ...words].join(" ")}" alone tells on standard error what there is, and fails`, () =>
      Effect.gen(function* () {
        const { failure, mistakes, out, shown } = yield* run(...words)
        assert.deepStrictEqual([failure, out, shown], ["NoSubcommand", "", ""])
        assert.include(mistakes, `reprise ${[...words, "<subcommand>"].join(" ")}`)
        assert.strictEqual(new Reprise.NoSubcommand({ command: "reprise" })[Runtime.errorExitCode], 1)
      })
    )
  }

  it.effect("asks for what it cannot do without", () =>
    Effect.gen(function* () {
      for (const command of ["title", "rewind", "doctor", "import", "search"]) {
        const { failure, out } = yield* run(command)
        assert.deepStrictEqual([failure, out], ["ShowHelp", ""])
      }
    })
  )
})
