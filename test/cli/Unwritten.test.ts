import * as Unwritten from "@reprise/cli/Unwritten"
import { assert, describe, it } from "@effect/vitest"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import { Effect, Runtime } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { run } from "./running.ts"

describe("what was not written", () => {
  it("ends with 75 where it may go well later, and else with 1", () => {
    const codeOf = (error: Unwritten.Unwritten) => error[Runtime.errorExitCode]
    assert.deepStrictEqual(
      [true, false].map((again) => codeOf(new Unwritten.Unwritten({ again }))),
      [75, 1]
    )
  })

  it.effect("says what a full disk has left of it", () =>
    Effect.gen(function* () {
      const file = path.join(yield* Temporary.directory, "log.jsonl")
      fs.writeFileSync(file, '{"a":1}\n{"b"')
      const failed = (operation: "append" | "lock", more: { readonly written?: number; readonly start?: number }) =>
        new EntryLog.EntryLogError({ operation, path: file, reason: "NoSpace", ...more })
      const left = (error: EntryLog.EntryLogError) => Unwritten.messageOf(error).split("Free some and try again. ")[1]
      assert.strictEqual(left(failed("lock", {})), "Nothing was written.")
      assert.strictEqual(left(failed("append", { written: 0, start: 12 })), "Nothing was written.")
      const part = "a part of a line, which readers pass over and the next append ends."
      assert.strictEqual(left(failed("append", { written: 0, start: 8 })), `Written was ${part}`)
      assert.strictEqual(
        left(failed("append", { written: 8, start: 0 })),
        `Written were 8 bytes of whole lines, and ${part}`
      )
      const [lines, unsynced] = [new Uint8Array(4), new Uint8Array(0)]
      const cause = failed("append", { written: 0, start: 12 })
      const unwritten = new SessionWriter.UnwrittenError({ logs: [{ path: file, queued: 1, lines, unsynced, cause }] })
      assert.match(Unwritten.messageOf(unwritten), /log\.jsonl: 1 entry could not be written: append failed .* Nothing/)
      const flushed = new SessionWriter.FlushError({ queued: 2, cause })
      assert.match(
        Unwritten.messageOf(flushed),
        /^2 entries could not be written: append failed .* Nothing was written\.$/
      )
    }).pipe(Effect.scoped)
  )

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
