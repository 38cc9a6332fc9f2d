import * as Reprise from "@reprise/cli/Reprise"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "./running.ts"

describe("reprise", () => {
  it.effect("says what it is and what it can do", () =>
    Effect.gen(function* () {
      const { failure, shown } = yield* run("--help")
      assert.strictEqual(failure, undefined)
      assert.include(shown, "Reads, repairs and resumes agent sessions from their transcripts.")
      assert.match(shown, /^ +resume +Recover transcripts/m)
    })
  )

  it.effect("says its version", () =>
    Effect.gen(function* () {
      const { shown } = yield* run("--version")
      assert.include(shown, Reprise.version)
    })
  )

  it.effect("asks for files", () =>
    Effect.gen(function* () {
      const { failure, out } = yield* run("resume")
      assert.strictEqual(failure, "ShowHelp")
      assert.strictEqual(out, "")
    })
  )
})
