import * as Unwritten from "@reprise/cli/Unwritten"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Runtime } from "effect"
import { run } from "./running.ts"

describe("what was not written", () => {
  it("ends with 75 where it may go well later, and else with 1", () => {
    const codeOf = (error: Unwritten.Unwritten) => error[Runtime.errorExitCode]
    assert.deepStrictEqual(
      [true, false].map((again) => codeOf(new Unwritten.Unwritten({ again }))),
      [75, 1]
    )
  })

  it.effect("is told on standard error, or to programs as a line of JSON", () =>
    Effect.gen(function* () {
      const text = yield* run("tag", "/no/such.jsonl", "x")
      assert.deepStrictEqual([text.out, text.failure], ["", "Unwritten"])
      assert.match(
        text.noted,
        /^TranscriptUnreadable {2}\/no\/such\.jsonl: expected .*, found no file; check the path\n$/
      )
      const json = yield* run("tag", "--json", "/no/such.jsonl", "x")
      assert.deepStrictEqual([json.noted, json.failure], ["", "Unwritten"])
      const { error, file, ok } = JSON.parse(json.out)
      assert.deepStrictEqual([file, ok, error._tag], ["/no/such.jsonl", false, "TranscriptUnreadable"])
    })
  )
})
