import * as Unread from "@reprise/cli/Unread"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "./running.ts"

describe("what was not read", () => {
  it.effect("is told in the place of what was asked for, to people or to programs", () =>
    Effect.gen(function* () {
      const text = yield* run("show", "/no/such.jsonl")
      assert.deepStrictEqual([text.noted, text.failure], ["", "FilesUnreadable"])
      assert.match(
        text.out,
        /^TranscriptUnreadable {2}\/no\/such\.jsonl: expected .*, found no file; check the path\n$/
      )
      const json = yield* run("show", "--json", "/no/such.jsonl")
      const { error, file, ok } = JSON.parse(json.out)
      assert.deepStrictEqual([file, ok, error._tag], ["/no/such.jsonl", false, "TranscriptUnreadable"])
    })
  )

  it.effect("is told once: an error that says that it was reported goes on as it is", () =>
    Effect.gen(function* () {
      const told = new Unread.FilesUnreadable({ count: 3 })
      assert.isTrue(Unread.isTold(told))
      assert.isFalse(Unread.isTold(new Error()))
      // Sixteen files, of which none is there: sixteen errors, and none about the run.
      const { failure, out } = yield* run("resume", "--json", ...Array<string>(16).fill("missing.jsonl"))
      assert.deepStrictEqual([failure, out.trimEnd().split("\n").length], ["FilesUnreadable", 16])
    })
  )
})
