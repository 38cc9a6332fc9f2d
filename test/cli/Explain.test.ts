import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as Temporary from "../storage/temporary.ts"
import { fixture, run, write } from "./running.ts"

describe("reprise explain", () => {
  it.effect("speaks to people by default, and to programs with --json", () =>
    Effect.gen(function* () {
      const text = yield* run("explain", fixture("interrupted"))
      assert.strictEqual(text.failure, undefined)
      assert.match(text.out, /^Which of the two pages is slow\?\n/)
      assert.include(text.out, "\nToolResults   1 message: parallel tool calls\n")
      assert.match(text.out, /[^\n]\n$/)
      const json = yield* run("explain", "--json", fixture("interrupted"))
      const records = json.out.trimEnd().split("\n")
      for (const record of records) assert.isString(JSON.parse(record).record)
    })
  )

  it.effect("--message narrows to one message, by the beginning of its id", () =>
    Effect.gen(function* () {
      const { failure, out } = yield* run("explain", "--message", "d8d97781", fixture("interrupted"))
      assert.strictEqual(failure, undefined)
      assert.match(out, /^d8d97781-\S+ {2}assistant on line 3: → Bash time curl/)
      assert.include(out, "\nModel         left out: unresolved-call\n")
    })
  )

  it.effect("--full shows long lists whole", () =>
    Effect.gen(function* () {
      const turns = Array.from({ length: 30 }, (_, i) => `u${i}-a${i}`).join("-")
      const file = write(yield* Temporary.directory, "long", turns)
      assert.include((yield* run("explain", file)).out, "… and 40 more (--full shows them)")
      assert.include((yield* run("explain", "--full", file)).out, " a29")
    })
  )

  it.effect("--sidechain explains a log as one agent's own", () =>
    Effect.gen(function* () {
      const main = yield* run("explain", fixture("sidechain"))
      assert.include(main.out, "0 messages")
      const own = yield* run("explain", "--sidechain", fixture("sidechain"))
      assert.include(own.out, "4 messages: 4 in the conversation")
    })
  )

  it.effect("ends with an error that says what is there instead", () =>
    Effect.gen(function* () {
      const missing = yield* run("explain", "/no/such.jsonl")
      assert.strictEqual(missing.failure, "FilesUnreadable")
      assert.match(missing.out, /^TranscriptUnreadable {2}\/no\/such\.jsonl: .* found no file/)
      const unknown = yield* run("explain", "--json", "--message", "zz", fixture("interrupted"))
      assert.strictEqual(unknown.failure, "FilesUnreadable")
      assert.deepInclude(JSON.parse(unknown.out), { ok: false, file: fixture("interrupted") })
      assert.strictEqual(JSON.parse(unknown.out).error._tag, "MessageUnknown")
    })
  )

  it.effect("leaves the file as it was", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "kept", "u1-a1 x9-u2")
      const before = [fs.readFileSync(file, "utf8"), fs.statSync(file).mtimeMs]
      yield* run("explain", "--message", "u2", file)
      assert.deepStrictEqual([fs.readFileSync(file, "utf8"), fs.statSync(file).mtimeMs], before)
    })
  )
})
