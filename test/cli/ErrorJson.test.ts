import * as ErrorJson from "@reprise/cli/ErrorJson"
import { assert, describe, it } from "@effect/vitest"
import { AmbiguousSession } from "@reprise/domain/SessionSource"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as EntryLog from "@reprise/storage/EntryLog"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { run } from "./running.ts"

describe("ErrorJson", () => {
  it("says of an error what programs can use", () => {
    const error = new AmbiguousSession({ sought: "7d1f", paths: ["a.jsonl", "b.jsonl"] })
    assert.deepStrictEqual(JSON.parse(ErrorJson.encode("7d1f", error)), {
      file: "7d1f",
      ok: false,
      error: { _tag: "AmbiguousSession", message: error.message, sought: "7d1f", paths: ["a.jsonl", "b.jsonl"] }
    })
  })

  it("says neither bytes nor causes", () => {
    const cause = new EntryLog.EntryLogError({ operation: "append", path: "a", reason: "NoSpace" })
    const logs = [{ path: "a", queued: 1, lines: new Uint8Array(9), unsynced: new Uint8Array(0), cause }]
    const error = new SessionWriter.UnwrittenError({ logs })
    assert.deepStrictEqual(ErrorJson.fields(error, "m"), { ok: false, error: { _tag: "UnwrittenError", message: "m" } })
  })

  it.effect("every command fails so, whatever it does", () =>
    Effect.gen(function* () {
      const root = yield* Temporary.directory
      const none = path.join(root, "none.jsonl")
      const projects = ["--projects", path.join(root, "none")]
      const commands: ReadonlyArray<ReadonlyArray<string>> = [
        ["list", ...projects],
        ["search", "x", ...projects],
        ["show", none],
        ["follow", none],
        ["resume", none],
        ["explain", none],
        ["doctor", path.join(root, "none")],
        ["agents", none],
        ["append", none, "x"],
        ["title", none, "x"],
        ["tag", none, "x"],
        ["rewind", none, "x"],
        ["fork", none],
        ["export", none],
        ["import", none, ...projects],
        ["prune"],
        ["push", none, "--url", "http://127.0.0.1:9"],
        ["hydrate", "x", ...projects],
        ["remote", "status", none]
      ]
      for (const command of commands) {
        const { failure, noted, out } = yield* run(...command, "--json")
        const [line, ...others] = out.split("\n").filter((text) => text !== "")
        assert.deepStrictEqual(others, [], command.join(" "))
        const { error, file, ok } = JSON.parse(line!) as Record<string, unknown>
        assert.deepStrictEqual([ok, typeof file, noted], [false, "string", ""], command.join(" "))
        const { _tag, message } = error as ErrorJson.Tagged
        assert.deepStrictEqual([typeof _tag, typeof message], ["string", "string"])
        assert.isDefined(failure)
      }
      assert.isFalse(fs.existsSync(path.join(root, "none")))
    }).pipe(Effect.scoped)
  )
})
