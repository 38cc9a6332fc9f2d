import * as Projects from "@reprise/cli/Projects"
import { assert, describe, it } from "@effect/vitest"
import * as EntryLog from "@reprise/storage/EntryLog"
import { Effect, Option } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"

describe("where sessions are looked for", () => {
  it("in the working directory, or everywhere", () => {
    const projects = Option.none()
    assert.deepStrictEqual(Projects.scope({ all: false, projects }), { directory: process.cwd() })
    assert.deepStrictEqual(Projects.scope({ all: true, projects }), {})
  })

  it.effect("below the directory that is named, else in the logs at hand", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      fs.mkdirSync(path.join(directory, "-named"))
      const names = EntryLog.EntryLog.use((port) => port.projects)
      const within = (projects: Option.Option<string>) => Projects.within({ all: true, projects }, names)
      assert.deepStrictEqual(yield* within(Option.some(directory)), ["-named"])
      assert.deepStrictEqual(yield* within(Option.none()), [])
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it("a log that is no session's has no id", () => {
    assert.strictEqual(Projects.sessionIdOf(EntryLog.session("-a", "s1")), "s1")
    assert.strictEqual(Projects.sessionIdOf({ _tag: "File", path: "/notes" }), null)
  })
})
