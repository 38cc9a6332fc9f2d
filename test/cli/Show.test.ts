import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Temporary from "../storage/temporary.ts"
import { fixture, run, write } from "./running.ts"

describe("reprise show", () => {
  it.effect("reads a transcript as people do", () =>
    Effect.gen(function* () {
      const { failure, out } = yield* run("show", fixture("interrupted"))
      assert.isUndefined(failure)
      assert.deepStrictEqual(out.split("\n").slice(2), [
        "4 messages: 4 in the conversation",
        "",
        "user  2026-03-02 09:00",
        "  Which of the two pages is slow?",
        "",
        "assistant  2026-03-02 09:00",
        "  → Bash time curl /a",
        "  → Bash time curl /b",
        "    ← Bash: 0.2 s",
        ""
      ])
    })
  )

  it.effect("--json prints a line for each message", () =>
    Effect.gen(function* () {
      const { out } = yield* run("show", "--json", fixture("interrupted"))
      const lines = out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        lines.map(({ line, record, role }) => [record, role, line]),
        [
          ["message", "user", 1],
          ["message", "assistant", 2],
          ["message", "assistant", 3],
          ["message", "result", 4]
        ]
      )
      assert.strictEqual(lines[0].content, "Which of the two pages is slow?")
      assert.strictEqual(lines[3].content[0].type, "tool_result")
    })
  )

  it.effect("--sidechain reads the log of an agent", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "agent-ab", "u1~ab-a1~ab")
      assert.include((yield* run("show", file)).out, "nothing was said")
      assert.match((yield* run("show", "--sidechain", file)).out, /\nuser .*\n.*\n\nassistant/)
    })
  )

  it.effect("a file that cannot be read is a failure", () =>
    Effect.gen(function* () {
      const { failure, out } = yield* run("show", "/no/such.jsonl")
      assert.strictEqual(failure, "FilesUnreadable")
      assert.include(out, "found no file; check the path")
      const json = yield* run("show", "--json", "/no/such.jsonl")
      assert.deepInclude(JSON.parse(json.out), { file: "/no/such.jsonl", ok: false })
    })
  )
})
