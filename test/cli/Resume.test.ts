import * as Resume from "@reprise/cli/Resume"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as Temporary from "../storage/temporary.ts"
import { idOf, plant } from "./listed.ts"
import { fixture, logs, run, write } from "./running.ts"

const parsed = (out: string): ReadonlyArray<any> =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("reprise resume", () => {
  it.effect("answers for each file in the order given, also where one cannot be read", () =>
    Effect.gen(function* () {
      const files = [fixture("interrupted"), "/no/such/file.jsonl", fixture("empty"), "/", fixture("damaged")]
      const { failure, out } = yield* run("resume", "--json", ...files)
      const answers = parsed(out)
      assert.deepStrictEqual(
        answers.map(({ file }) => file),
        files
      )
      assert.deepStrictEqual(
        answers.map(({ ok }) => ok),
        [true, false, true, false, true]
      )
      assert.deepStrictEqual(answers[1], {
        file: files[1],
        ok: false,
        error: {
          _tag: "TranscriptUnreadable",
          message: "/no/such/file.jsonl: expected a transcript that can be read, found no file; check the path",
          file: files[1],
          found: "no file; check the path"
        }
      })
      assert.strictEqual(failure, "FilesUnreadable")
    })
  )

  it.effect("ends well when all files could be read, damaged or not", () =>
    Effect.gen(function* () {
      const { failure, out } = yield* run("resume", "--json", fixture("damaged"), fixture("empty"))
      assert.strictEqual(failure, undefined)
      assert.strictEqual(parsed(out).length, 2)
    })
  )

  it.effect("speaks to people by default, with a blank line between two files", () =>
    Effect.gen(function* () {
      const { out } = yield* run("resume", fixture("empty"), "/no/such/file.jsonl", fixture("sidechain"))
      assert.include(
        out,
        "The log holds no messages.\n\n" +
          "TranscriptUnreadable  /no/such/file.jsonl: expected a transcript that can be read, found no file; check the path\n\n" +
          "(no title)\nsession 2c7a95e0-41f8-4b6d-a3d9-18e04f6b7c52"
      )
      assert.match(out, /[^\n]\n$/)
    })
  )

  it.effect("--sidechain recovers a log as one agent's own", () =>
    Effect.gen(function* () {
      const [main] = parsed((yield* run("resume", "--json", fixture("sidechain"))).out)
      assert.deepStrictEqual(main.conversation, [])
      assert.deepStrictEqual(main.sidechains, [
        { agentId: "a1b2", root: "65416d4d-97b1-40b1-a786-504d020d1f64", entries: 4 }
      ])
      const [own] = parsed((yield* run("resume", "--json", "--sidechain", fixture("sidechain"))).out)
      assert.strictEqual(own.conversation.length, 4)
      assert.deepStrictEqual(own.sidechains, [])
    })
  )

  it.effect("an agent's own log is sent with the replacements of that agent", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const file = write(directory, "agent-ab", "u1~ab-a1(A)~ab-rA~ab-a2~ab")
      const entry = (agentId: string, replacement: string) =>
        JSON.stringify({ type: "content-replacement", agentId, replacements: [{ toolUseId: "A", replacement }] })
      fs.appendFileSync(file, `${entry("ab", "shortened")}\n${entry("cd", "another's")}\n`)
      const { view } = yield* Resume.resume(file, { lane: "sidechain" })
      const result = view.messages.flatMap(({ parts }) => parts).find(({ block }) => block.type === "tool_result")
      assert.deepInclude(result?.block, { content: "shortened" })
    }).pipe(Effect.provide(logs))
  )

  it.effect("counts the legacy entries that are looked through", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "progress", "u1-a1-p1-p2-u2")
      assert.strictEqual((yield* Resume.resume(file)).progress, 2)
      assert.include((yield* run("resume", file)).out, "progress  2 legacy entries, looked through")
    }).pipe(Effect.provide(logs))
  )

  it.effect("leaves the files and their directory as they were", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const file = path.join(directory, "torn.jsonl")
      fs.writeFileSync(file, '{"type":"us')
      const before = fs.statSync(file)
      yield* run("resume", file)
      assert.strictEqual(fs.readFileSync(file, "utf8"), '{"type":"us')
      assert.strictEqual(fs.statSync(file).mtimeMs, before.mtimeMs)
      assert.deepStrictEqual(fs.readdirSync(directory), ["torn.jsonl"])
    })
  )

  it.effect("takes ids of sessions beside files, and the latest session of this directory without a name", () =>
    Effect.gen(function* () {
      const projects = yield* Temporary.directory
      const here = ProjectPath.keyOf(process.cwd())
      plant(projects, here, 1, "u1:10-a1:20")
      const latest = plant(projects, here, 2, "u2:30-a2:40")
      const other = plant(projects, "-elsewhere", 3, "u3:50-a3:60")
      const resumed = (...args: ReadonlyArray<string>) => run("resume", "--json", "--projects", projects, ...args)

      const [none, ...more] = parsed((yield* resumed()).out)
      assert.deepStrictEqual(
        [none.file, none.sessionId, none.conversation, more.length],
        [latest, idOf(2), ["u2", "a2"], 0]
      )
      const { failure, out } = yield* resumed(idOf(3), latest, "33333333", "44444444", fixture("damaged"))
      const answers = parsed(out)
      assert.deepStrictEqual(
        answers.map(({ file }) => file),
        [other, latest, other, "44444444", fixture("damaged")]
      )
      assert.deepStrictEqual(answers[3].error, {
        _tag: "SessionNotFound",
        expected: "a session",
        sought: "44444444",
        near: [],
        message:
          "expected a session 44444444, found none; list the sessions (`reprise list --all`) and name one of them"
      })
      assert.strictEqual(failure, "FilesUnreadable")

      plant(projects, here, 3, "u3:50-a3:60")
      const people = yield* run("resume", "--projects", projects, "33333333")
      assert.include(people.out, "AmbiguousSession  expected one session 33333333, found 2; name one by its path: ")
    })
  )

  it.effect("says so when this directory has no session", () =>
    Effect.gen(function* () {
      const { failure, out } = yield* run("resume", "--projects", yield* Temporary.directory)
      assert.include(out, `SessionNotFound  expected a session of the directory ${process.cwd()}, found none`)
      assert.strictEqual(failure, "FilesUnreadable")
    })
  )
})
