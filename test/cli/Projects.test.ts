import * as Projects from "@reprise/cli/Projects"
import { assert, describe, it } from "@effect/vitest"
import * as EntryLog from "@reprise/storage/EntryLog"
import { Effect, Option } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"

describe("where sessions are looked for", () => {
  it("in the working directory, or everywhere", () => {
    assert.deepStrictEqual(Projects.scope({ all: false }), { directory: process.cwd() })
    assert.deepStrictEqual(Projects.scope({ all: true }), {})
  })

  it.effect("below the directory that is named, else in the logs at hand", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      fs.mkdirSync(path.join(directory, "-named"))
      const names = EntryLog.EntryLog.use((port) => port.projects)
      for (const where of [Projects.within, Projects.into]) {
        assert.deepStrictEqual(yield* where(names, { projects: Option.some(directory) }), ["-named"])
        assert.deepStrictEqual(yield* where(names, { projects: Option.none() }), [])
      }
      assert.strictEqual(yield* Projects.directory({ projects: Option.some(directory) }), directory)
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it.effect("one that does not exist may be written to, and is an error for those that read", () =>
    Effect.gen(function* () {
      const projects = Option.some(path.join(yield* Temporary.directory, "none"))
      const names = EntryLog.EntryLog.use((port) => port.projects)
      assert.deepStrictEqual(yield* Projects.into(names, { projects }), [])
      const error = yield* Effect.flip(Projects.within(names, { projects }))
      assert.match(error.message, /none: expected a directory that holds a folder for each project, found nothing/)
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it("a log that is no session's has no id", () => {
    assert.strictEqual(Projects.sessionIdOf(EntryLog.session("-a", "s1")), "s1")
    assert.strictEqual(Projects.sessionIdOf({ _tag: "File", path: "/notes" }), null)
  })
})
