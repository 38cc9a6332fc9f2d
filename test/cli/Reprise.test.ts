import * as Reprise from "@reprise/cli/Reprise"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import { run } from "./running.ts"

describe("reprise", () => {
  it.effect("says what it is and what it can do", () =>
    Effect.gen(function* () {
      const { failure, shown } = yield* run("--help")
      assert.strictEqual(failure, undefined)
      assert.include(shown, "Reads, repairs and resumes agent sessions from their transcripts.")
      assert.match(shown, /^ +resume +Recover transcripts/m)
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

  it.effect("asks for files", () =>
    Effect.gen(function* () {
      for (const command of ["explain", "doctor", "show"]) {
        const { failure, out } = yield* run(command)
        assert.deepStrictEqual([failure, out], ["ShowHelp", ""])
      }
    })
  )
})
