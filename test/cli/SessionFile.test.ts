import * as SessionFile from "@reprise/cli/SessionFile"
import { assert, describe, it } from "@effect/vitest"
import * as EntryLog from "@reprise/storage/EntryLog"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { fixture, logs, write } from "./running.ts"

const sessionId = "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e14"
const line = (more: object) => `${JSON.stringify({ type: "user", uuid: "u", message: { content: "x" }, ...more })}\n`

const found = (file: string, options?: { readonly empty: boolean }) =>
  Effect.map(Effect.flip(SessionFile.find(file, options)), ({ _tag, message }) => `${_tag} ${message}`)

describe("the session of a file", () => {
  it.effect("is named by the file, else by its first line, and carries what the last message says", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const log = Buffer.from(
        line({ sessionId: "other", cwd: "/a", version: "2.0.1" }) + line({ cwd: "/b", gitBranch: "main" })
      )
      const named = write(directory, sessionId, log)
      assert.deepStrictEqual(yield* SessionFile.find(named), {
        log: EntryLog.at(named),
        sessionId,
        cwd: "/b",
        version: "2.0.1",
        gitBranch: "main"
      })
      assert.strictEqual((yield* SessionFile.find(write(directory, "notes", log))).sessionId, "other")
      const silent = write(directory, "silent", Buffer.from(line({})))
      assert.strictEqual((yield* SessionFile.find(silent)).sessionId, null)
    }).pipe(Effect.scoped, Effect.provide(logs))
  )

  it.effect("goes on as it is, with what this program knows where it says nothing", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const silent = write(directory, sessionId, Buffer.from(line({})))
      assert.deepStrictEqual(yield* SessionFile.opening(silent), {
        log: EntryLog.at(silent),
        sessionId,
        cwd: process.cwd(),
        version: SessionFile.formatVersion,
        entrypoint: "cli"
      })
      const named = write(directory, "notes", Buffer.from(line({ sessionId, cwd: "/a", version: "2.0.1" })))
      assert.deepInclude(yield* SessionFile.opening(named), { sessionId, cwd: "/a", version: "2.0.1" })
      const byHand = write(directory, "by-hand", Buffer.from(line({ sessionId: "mine" })))
      const { message } = yield* Effect.flip(SessionFile.opening(byHand))
      assert.include(message, `${byHand}: expected the transcript of a session, found one whose id "mine" is no UUID`)
    }).pipe(Effect.scoped, Effect.provide(logs))
  )

  it.effect("is refused where a name was mistyped: no file, no entries, an agent's own log", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const other = write(directory, "other", Buffer.from('{"name":"reprise"}\n{"type":"unheard-of"}\n'))
      assert.strictEqual(
        yield* found(other),
        `NotATranscript ${other}: expected the transcript of a session, found no entry of a transcript in it`
      )
      assert.match(yield* found(path.join(directory, "missing.jsonl")), /^TranscriptUnreadable .* found no file/)
      assert.match(yield* found(directory), /^TranscriptUnreadable .* found a directory/)
      const agent = path.join(directory, sessionId, "subagents")
      fs.mkdirSync(agent, { recursive: true })
      assert.match(
        yield* found(write(agent, "agent-a1b2c3", "u1-a1")),
        /^NotATranscript .* found an agent's own log; name the log of its session$/
      )
      assert.match(yield* found(fixture("empty")), /^NotATranscript .* found an empty file$/)
      assert.strictEqual((yield* SessionFile.find(fixture("empty"), { empty: true })).sessionId, null)
      assert.match(yield* found(other, { empty: true }), /^NotATranscript /)
    }).pipe(Effect.scoped, Effect.provide(logs))
  )
})
