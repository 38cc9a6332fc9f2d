import * as Unwritten from "@reprise/cli/Unwritten"
import { assert, describe, it } from "@effect/vitest"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import { Effect, Runtime } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as SmallDisk from "../smallDisk.ts"
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
      const part = "a part of a line, which readers pass over and the next append ends."
      const again = left(failed("append", { written: 0, start: 12 }))
      assert.strictEqual(again, `No whole line was written; at the end stands ${part}`)
      assert.strictEqual(left(failed("append", { written: 0, start: 8 })), `Written was ${part}`)
      assert.strictEqual(
        left(failed("append", { written: 8, start: 0 })),
        `Written were 8 bytes of whole lines, and ${part}`
      )
      const [lines, unsynced] = [new Uint8Array(4), new Uint8Array(0)]
      const cause = failed("append", { written: 0, start: 12 })
      const unwritten = new SessionWriter.UnwrittenError({ logs: [{ path: file, queued: 1, lines, unsynced, cause }] })
      assert.match(
        Unwritten.messageOf(unwritten),
        /log\.jsonl: 1 entry could not be written: append failed .* No whole line was/
      )
      fs.writeFileSync(file, '{"a":1}\n')
      assert.strictEqual(left(failed("append", { written: 0, start: 8 })), "Nothing was written.")
      const flushed = new SessionWriter.FlushError({ queued: 2, cause })
      assert.match(
        Unwritten.messageOf(flushed),
        /^2 entries could not be written: append failed .* Nothing was written\.$/
      )
    }).pipe(Effect.scoped)
  )

  it.live("says on a full disk that a part of a line is left, whichever attempt left it", (context) =>
    Effect.gen(function* () {
      const disk = yield* SmallDisk.make("64k")
      if (disk === undefined) return context.skip()
      const file = path.join(disk.directory, "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e18.jsonl")
      const line = { type: "user", uuid: "u1", parentUuid: null, message: { content: "x" } }
      fs.writeFileSync(file, `${JSON.stringify(line)}\n`)
      for (const more of [[], ["--durable"]]) {
        const { failure, noted, out, shown } = yield* run("append", file, "x".repeat(100_000), ...more)
        assert.deepStrictEqual([failure, out, shown], ["Unwritten", "", ""])
        assert.match(
          noted,
          /^\w+ .*1 entry could not be written: .*no space left.* part of a line, which readers pass over/
        )
        assert.notMatch(noted, /Nothing was written|tried again/)
        fs.writeFileSync(file, `${JSON.stringify(line)}\n`)
      }
      assert.strictEqual((yield* run("append", file, "y")).failure, undefined)
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
