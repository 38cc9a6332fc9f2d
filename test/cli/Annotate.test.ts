import { assert, describe, it } from "@effect/vitest"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Child from "../storage/child.ts"
import * as Temporary from "../storage/temporary.ts"
import { run, runWith, write } from "./running.ts"
import { end, start } from "./starting.ts"

const sessionId = "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e14"

/** A directory with the log of a picture, and the command over logs that lie elsewhere. */
const place = (picture: string, name = sessionId) =>
  Effect.map(Temporary.directory, (directory) => {
    const file = write(directory, name, picture)
    const logs = FileEntryLog.layerWith({ projects: path.join(directory, "projects") })
    const lines = () => fs.readFileSync(file, "utf8").trimEnd().split("\n")
    return { file, lines, run: (...args: ReadonlyArray<string>) => runWith({ logs }, ...args) }
  })

describe("reprise title, reprise tag", () => {
  it.effect("add one line at the end, which is the title from then on", () =>
    Effect.gen(function* () {
      const { file, lines, run } = yield* place("u1-a1")
      const before = fs.readFileSync(file, "utf8")
      const titled = yield* run("title", file, "Make it fast")
      assert.deepStrictEqual([titled.out, titled.failure], [`session ${sessionId}: title "Make it fast"\n`, undefined])
      const tagged = yield* run("tag", "--json", file, "release")
      assert.deepStrictEqual(JSON.parse(tagged.out), { file, ok: true, sessionId, type: "tag", tag: "release" })
      assert.isTrue(fs.readFileSync(file, "utf8").startsWith(before))
      assert.deepStrictEqual(lines().slice(2), [
        JSON.stringify({ type: "custom-title", customTitle: "Make it fast", sessionId }),
        JSON.stringify({ type: "tag", tag: "release", sessionId })
      ])
      const { metadata } = JSON.parse((yield* run("resume", "--json", file)).out)
      assert.deepStrictEqual([metadata.title, metadata.tag], ["Make it fast", "release"])
      const cleared = yield* run("title", file, "")
      assert.strictEqual(cleared.out, `session ${sessionId}: no title any more\n`)
      assert.strictEqual(lines().length, 5)
    }).pipe(Effect.scoped)
  )

  it.effect("name the session as its lines do where the file is not named by it, behind a torn line", () =>
    Effect.gen(function* () {
      const { file, lines, run } = yield* place("u1-a1", "notes")
      fs.appendFileSync(file, '{"type":"us')
      yield* run("title", file, "T")
      const { sessionId: written } = JSON.parse(lines()[0]!)
      assert.deepStrictEqual(lines().slice(2), [
        '{"type":"us',
        JSON.stringify({ type: "custom-title", customTitle: "T", sessionId: written })
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("write nothing to what is no session, and need both words", () =>
    Effect.gen(function* () {
      const { file, run } = yield* place("", "empty")
      fs.writeFileSync(file, "{}\n")
      const refused = yield* run("title", file, "T")
      assert.deepStrictEqual([refused.failure, fs.readFileSync(file, "utf8")], ["Unwritten", "{}\n"])
      assert.match(refused.noted, /^NotATranscript /)
      assert.strictEqual((yield* run("title", file)).failure, "ShowHelp")
    }).pipe(Effect.scoped)
  )

  it.effect("show examples in their help", () =>
    Effect.gen(function* () {
      assert.include((yield* run("title", "--help")).shown, 'reprise title 7d1f0c52 "Make the search page fast"')
      assert.include((yield* run("tag", "--help")).shown, "also one that another program has open")
    })
  )

  it.live("work on a session that another program has open, and that takes the title over", () =>
    Effect.gen(function* () {
      const projects = path.join(yield* Temporary.directory, "projects")
      const file = path.join(projects, "-work", `${sessionId}.jsonl`)
      const child = yield* Child.start(new URL("../storage/session-child.ts", import.meta.url), projects)
      yield* child.ask(`open ${sessionId}`)
      yield* child.ask(`append ${sessionId} 3 100 one`)
      const titled = yield* end(start(["title", file, "From outside"]))
      assert.deepStrictEqual([titled.code, titled.errors], [0, ""])
      // More than a reader of lists looks at: the title is said again by the program that has the session.
      yield* child.ask(`append ${sessionId} 40 3000 two`)
      yield* child.ask(`close ${sessionId}`)
      const text = fs.readFileSync(file, "utf8")
      assert.include(text.slice(-65536), '"customTitle":"From outside"')
      assert.strictEqual(text.match(/"type":"user"/g)?.length, 43)
    }).pipe(Effect.scoped)
  )
})
