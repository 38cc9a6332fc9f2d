import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as Temporary from "../storage/temporary.ts"
import { plant } from "./listed.ts"
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
        "",
        `Findings: 1 loss, 1 repair, 1 note; see reprise explain ${fixture("interrupted")}`,
        ""
      ])
    })
  )

  it.effect("says nothing of findings where there are none, and how an agent's are explained", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      assert.notInclude((yield* run("show", write(directory, "well", "u1-a1"))).out, "Findings")
      const agent = write(directory, "agent-ab", "u1~ab-a1~ab ?")
      assert.include((yield* run("show", "--sidechain", agent)).out, `see reprise explain --sidechain ${agent}\n`)
    })
  )

  it.effect("without a name it reads the latest session of this directory", () =>
    Effect.gen(function* () {
      const projects = yield* Temporary.directory
      plant(projects, ProjectPath.keyOf(process.cwd()), 1, "u1:10-a1:20")
      plant(projects, ProjectPath.keyOf(process.cwd()), 2, "u2:30-a2:40")
      assert.include((yield* run("show", "--projects", projects)).out, "  [u2]\n")
    })
  )

  it.effect("a file that is no transcript is one for nobody, whatever reads it", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const file = write(directory, "notes", Buffer.from("# Notes\n\nNothing of a session.\n"))
      const message =
        `NotATranscript  ${file}: expected the transcript of a session, ` +
        "found 3 lines, none of which is an entry of a transcript; check the path\n"
      for (const command of ["show", "explain", "resume", "follow"]) {
        const { failure, out } = yield* run(command, file)
        assert.deepStrictEqual([command, failure, out], [command, "FilesUnreadable", message])
      }
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
