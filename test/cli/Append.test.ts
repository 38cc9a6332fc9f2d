import * as Resume from "@reprise/cli/Resume"
import * as SessionFile from "@reprise/cli/SessionFile"
import { assert, describe, it } from "@effect/vitest"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Child from "../storage/child.ts"
import * as Temporary from "../storage/temporary.ts"
import { run, runWith, write } from "./running.ts"
import { end, root, runMain, start } from "./starting.ts"

const sessionId = "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e14"
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A directory, the command over logs below it, and what a file recovers to. */
const place = Effect.map(Temporary.directory, (directory) => {
  const logs = FileEntryLog.layerWith({ projects: path.join(directory, "projects") })
  return {
    directory,
    run: (...args: ReadonlyArray<string>) => runWith({ logs }, ...args),
    feed: (stdin: string, ...args: ReadonlyArray<string>) => runWith({ logs, stdin }, ...args),
    conversation: (file: string) =>
      Effect.map(Resume.resume(file), ({ state }) => state.conversation.map(({ uuid }) => uuid)).pipe(
        Effect.provide(logs)
      ),
    lines: (file: string): ReadonlyArray<any> =>
      fs
        .readFileSync(file, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
  }
})

describe("reprise append", () => {
  it.effect("appends a prompt where recovery goes on, not where the file ends, and prints its id alone", () =>
    Effect.gen(function* () {
      const { conversation, directory, run } = yield* place
      // A last prompt chose the first branch; a late result is the last line of the second log.
      for (const picture of ["u1-a1-u2-a2 u1-a3 !a2", "u1-a1@m(A)-a2@m(B) a1-rA-a3-u2-a4 a2-rB"]) {
        const file = write(directory, sessionId, picture)
        const before = yield* conversation(file)
        const { failure, noted, out } = yield* run("append", file, "go on")
        assert.deepStrictEqual([failure, noted], [undefined, ""])
        const id = out.trimEnd()
        assert.match(id, uuid)
        assert.deepStrictEqual(yield* conversation(file), [...before, id])
      }
    }).pipe(Effect.scoped)
  )

  it.effect("keeps what is there byte for byte, and stamps what the last message carries", () =>
    Effect.gen(function* () {
      const { directory, lines, run } = yield* place
      const theirs = { sessionId, cwd: "/home/ada/shop", version: "2.1.7", gitBranch: "main" }
      const log = `${JSON.stringify({ type: "user", uuid: "u1", parentUuid: null, message: { content: "x" }, ...theirs })}\n`
      const file = write(directory, sessionId, Buffer.from(`${log}{"type":"us`))
      yield* run("append", file, "go on")
      assert.isTrue(fs.readFileSync(file, "utf8").startsWith(`${log}{"type":"us\n`))
      const text = fs.readFileSync(file, "utf8").trimEnd().split("\n").at(-1)!
      const last = JSON.parse(text)
      assert.deepInclude(last, { ...theirs, parentUuid: "u1", entrypoint: "cli", isSidechain: false })
      assert.deepStrictEqual(last.message, { role: "user", content: "go on" })
      assert.deepStrictEqual(fs.readdirSync(directory), [`${sessionId}.jsonl`])
      assert.throws(() => lines(file))
    }).pipe(Effect.scoped)
  )

  it.effect("reads a prompt from standard input, and refuses an empty one", () =>
    Effect.gen(function* () {
      const { directory, feed, lines, run } = yield* place
      const file = write(directory, sessionId, "u1-a1")
      yield* feed("two\nlines\n", "append", file)
      assert.strictEqual(lines(file).at(-1).message.content, "two\nlines")
      for (const refused of [yield* feed(" \n", "append", file), yield* run("append", file, "")]) {
        assert.deepStrictEqual([refused.out, refused.failure], ["", "Unwritten"])
        assert.match(refused.noted, /^NothingToAppend {2}expected a prompt, found .*; nothing was written\n$/)
      }
      assert.strictEqual(lines(file).length, 3)
    }).pipe(Effect.scoped)
  )

  it.effect("--json reads messages and answers with one line for each; given twice, they are written once", () =>
    Effect.gen(function* () {
      const { conversation, directory, feed, lines } = yield* place
      const file = write(directory, sessionId, "u1-a1")
      const call = (id: string) => ({ type: "tool_use", id, name: "Bash", input: {} })
      const reply = (id: string) => ({
        type: "assistant",
        message: { id: "msg_1", model: "m", content: [call(id)] },
        uuid: `call-${id}`
      })
      const result = (id: string) => ({
        type: "user",
        message: { content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] },
        uuid: `result-${id}`
      })
      const given = [reply("x"), reply("y"), result("x"), result("y")].map((one) => `${JSON.stringify(one)}\n`).join("")
      const told = yield* feed(given, "append", "--json", "--durable", file)
      const answers = told.out.trimEnd().split("\n")
      assert.deepStrictEqual(JSON.parse(answers[0]!), {
        file,
        ok: true,
        sessionId,
        uuid: "call-x",
        outcome: "accepted"
      })
      assert.strictEqual(answers.length, 4)
      assert.deepStrictEqual(
        lines(file)
          .slice(2)
          .map(({ parentUuid }) => parentUuid),
        ["a1", "call-x", "call-x", "call-y"]
      )
      assert.sameMembers([...(yield* conversation(file))], ["u1", "a1", "call-x", "call-y", "result-x", "result-y"])
      const again = (yield* feed(given, "append", "--json", file)).out.trimEnd().split("\n")
      assert.deepStrictEqual([...new Set(again.map((line) => JSON.parse(line).outcome))], ["already-there"])
      assert.strictEqual(lines(file).length, 6)
      const refused = yield* feed(`${given}{"type":"tag"}\n`, "append", "--json", file)
      assert.strictEqual(refused.failure, "Unwritten")
      assert.strictEqual(JSON.parse(refused.out).error._tag, "BodyUnfit")
      assert.strictEqual(JSON.parse((yield* feed("", "append", "--json", file)).out).error._tag, "NothingToAppend")
    }).pipe(Effect.scoped)
  )

  it.effect("begins a session of a directory, and goes on with it by its id", () =>
    Effect.gen(function* () {
      const { directory, feed, lines, run } = yield* place
      const cwd = path.join(directory, "shop")
      fs.mkdirSync(cwd)
      const begun = yield* run("append", "--cwd", cwd, "hello")
      assert.match(begun.out.trimEnd(), uuid)
      const [, id = ""] = /^session (\S+): \S+\n$/.exec(begun.noted) ?? []
      assert.match(id, uuid)
      const more = JSON.parse((yield* run("append", "--json", "--cwd", `${cwd}/`, "--session", id, "more")).out)
      assert.strictEqual(more.sessionId, id)
      const [project = ""] = fs.readdirSync(path.join(directory, "projects"))
      const written = lines(path.join(directory, "projects", project, `${id}.jsonl`))
      assert.deepStrictEqual(
        written.map(({ cwd, parentUuid, version }) => [cwd, parentUuid, version]),
        [
          [cwd, null, SessionFile.formatVersion],
          [cwd, begun.out.trimEnd(), SessionFile.formatVersion]
        ]
      )
      const notes = JSON.stringify({ type: "system", subtype: "informational", content: "x" })
      const none = yield* feed(notes, "append", "--json", "--cwd", cwd)
      assert.match(JSON.parse(none.out).error.message, /expected a prompt or a reply.*found only system; nothing was/)
      assert.strictEqual(fs.readdirSync(path.join(directory, "projects", project)).length, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("says what it lacks, and never makes a session of a name that was mistyped", () =>
    Effect.gen(function* () {
      const { directory, run } = yield* place
      const told = (...args: ReadonlyArray<string>) => Effect.map(run("append", ...args), ({ noted }) => noted)
      assert.match(yield* told(), /^NothingToAppend {2}expected a session, --cwd or --session, found neither/)
      assert.match(
        yield* told("--cwd", directory, "a.jsonl", "x"),
        /expected at most a text beside --cwd and --session/
      )
      assert.match(yield* told("--session", "x", "hello"), /^AppendError {2}"x" is no session id/)
      assert.match(yield* told(path.join(directory, "missing.jsonl"), "x"), /^TranscriptUnreadable .*found no file/)
      assert.deepStrictEqual(fs.readdirSync(directory), [])
    }).pipe(Effect.scoped)
  )

  it.effect("--projects is where a session is looked for by its id, and where a new one comes into being", () =>
    Effect.gen(function* () {
      const { conversation, directory } = yield* place
      const projects = path.join(directory, "elsewhere")
      const begun = yield* run("append", "--projects", projects, "--cwd", directory, "hello")
      const [, id = "", file = ""] = /^session (\S+): (\S+)\n$/.exec(begun.noted) ?? []
      assert.isTrue(file.startsWith(projects))
      const more = JSON.parse((yield* run("append", "--json", "--projects", projects, id.slice(0, 8), "more")).out)
      assert.deepInclude(more, { file, ok: true, sessionId: id })
      assert.deepStrictEqual(yield* conversation(file), [begun.out.trimEnd(), more.uuid])
    }).pipe(Effect.scoped)
  )

  it.effect("begins no session of a directory that there is not", () =>
    Effect.gen(function* () {
      const projects = yield* Temporary.directory
      const nowhere = path.join(projects, "nowhere")
      const { failure, noted } = yield* run("append", "--projects", projects, "--cwd", nowhere, "Hello")
      assert.strictEqual(failure, "Unwritten")
      assert.include(noted, `expected a directory in --cwd, found none at ${nowhere}; nothing was written`)
      assert.deepStrictEqual(fs.readdirSync(projects), [])
    }).pipe(Effect.scoped)
  )

  it.effect("names the file of a session that nobody can go on with", () =>
    Effect.gen(function* () {
      const { directory, run } = yield* place
      const line = { type: "user", uuid: "u1", parentUuid: null, message: { content: "x" }, sessionId: "by-hand" }
      const file = write(directory, "notes", Buffer.from(`${JSON.stringify(line)}\n`))
      for (const args of [
        ["append", file, "x"],
        ["rewind", file, "u1"]
      ]) {
        const { failure, noted, out } = yield* run(...args)
        assert.deepStrictEqual([failure, out], ["Unwritten", ""])
        assert.include(
          noted,
          `NotATranscript  ${file}: expected the transcript of a session, found one whose id "by-hand"`
        )
      }
      const copy = (yield* run("fork", file)).out.trimEnd()
      assert.match((yield* run("append", copy, "x")).out.trimEnd(), uuid)
    }).pipe(Effect.scoped)
  )

  it.effect("begins a session in an empty file, and shows examples in its help", () =>
    Effect.gen(function* () {
      const { conversation, directory, run } = yield* place
      const file = write(directory, sessionId, new Uint8Array())
      const { out } = yield* run("append", file, "hello")
      assert.deepStrictEqual(yield* conversation(file), [out.trimEnd()])
      assert.include((yield* run("append", "--help")).shown, "git log -1 | reprise append session.jsonl")
    }).pipe(Effect.scoped)
  )
})

describe("reprise append, across processes", { timeout: 120_000 }, () => {
  it.live("leaves a session alone that another program writes, with 75, and succeeds when that is gone", () =>
    Effect.gen(function* () {
      const projects = path.join(yield* Temporary.directory, "projects")
      const file = path.join(projects, "-work", `${sessionId}.jsonl`)
      const child = yield* Child.start(new URL("../storage/session-child.ts", import.meta.url), projects)
      yield* child.ask(`open ${sessionId}`)
      yield* child.ask(`append ${sessionId} 2 100 one`)
      const before = fs.readFileSync(file, "utf8")
      const text = yield* runMain("append", file, "x")
      const json = yield* runMain("append", "--json", file, "x")
      assert.deepStrictEqual([text.code, text.out], [75, ""])
      assert.match(text.errors, new RegExp(`^SessionLocked  the session is written by process ${child.pid} on `))
      assert.deepStrictEqual([json.code, JSON.parse(json.out).error._tag], [75, "SessionLocked"])
      assert.strictEqual(fs.readFileSync(file, "utf8"), before)
      yield* child.kill
      const after = yield* end(start(["append", file], { stdin: "now it goes" }))
      assert.deepStrictEqual([after.code, after.errors], [0, ""])
      assert.include(fs.readFileSync(file, "utf8").slice(before.length), "now it goes")
    }).pipe(Effect.scoped)
  )

  it.live("says where a new session is, which others then find", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const env = { CLAUDE_CONFIG_DIR: path.join(directory, "config") }
      const begun = yield* end(start(["append", "--json", "hello"].toSpliced(1, 0, "--cwd", directory), { env }))
      const { file, ok, uuid: id } = JSON.parse(begun.out)
      assert.deepStrictEqual([begun.code, ok], [0, true])
      const shown = yield* end(start(["resume", "--json", file], { env }))
      assert.deepStrictEqual(JSON.parse(shown.out).conversation, [id])
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(process.platform === "win32")("a file that may not grow is an error, and no id is printed", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, sessionId, "u1-a1")
      const command = `ulimit -f 4; exec "$0" packages/cli/src/main.ts append "$1"`
      const limited = spawn("bash", ["-c", command, process.execPath, file], { cwd: root })
      limited.stdin.end("x".repeat(8000))
      const { code, errors, out } = yield* end(limited)
      assert.deepStrictEqual([code, out], [1, ""])
      assert.match(errors, /^UnwrittenError {2}.*EFBIG/)
      const { failure } = yield* run("resume", file)
      assert.isUndefined(failure)
    }).pipe(Effect.scoped)
  )
})
