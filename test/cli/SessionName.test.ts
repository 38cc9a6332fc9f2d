import * as SessionName from "@reprise/cli/SessionName"
import { assert, describe, it } from "@effect/vitest"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { idOf, plant } from "./listed.ts"
import { run } from "./running.ts"

/** A projects directory with two sessions of this directory and one of another. */
const planted = Effect.map(Temporary.directory, (projects) => {
  const here = ProjectPath.keyOf(process.cwd())
  plant(projects, here, 1, "u1:10-a1:20")
  const latest = plant(projects, here, 2, "u2:30-a2:40")
  const other = plant(projects, "-elsewhere", 3, "u3:50-a3:60")
  const fileOf = (name?: string) => Effect.provide(SessionName.fileOf(name), FileEntryLog.layerWith({ projects }))
  return { projects, here, latest, other, fileOf }
})

describe("the name of a session", () => {
  it.effect("is its path, its id in any project, the beginning of that, or nothing for the latest here", () =>
    Effect.gen(function* () {
      const { fileOf, latest, other } = yield* planted
      assert.strictEqual(yield* fileOf(other), other)
      assert.strictEqual(yield* fileOf("no such.jsonl"), "no such.jsonl")
      for (const name of [idOf(3), "33333333", "3333", idOf(3).slice(0, 20)]) {
        assert.strictEqual(yield* fileOf(name), other)
      }
      assert.strictEqual(yield* fileOf(), latest)
      assert.deepStrictEqual([undefined, "x"].map(SessionName.shown), [process.cwd(), "x"])
    })
  )

  it.effect("that leads nowhere, or to more than one, says what is near", () =>
    Effect.gen(function* () {
      const { fileOf, here, other, projects } = yield* planted
      const none = yield* Effect.flip(fileOf("3333333f"))
      assert.strictEqual(
        `${none._tag} ${none.message}`,
        `SessionNotFound expected a session 3333333f, found none; did you mean ${idOf(3)}? ` +
          "Otherwise list the sessions (`reprise list --all`) and name one of them"
      )
      const again = plant(projects, here, 3, "u3:50-a3:60")
      const two = yield* Effect.flip(fileOf("3333"))
      assert.strictEqual(two._tag, "AmbiguousSession")
      assert.sameMembers([...(two as { readonly paths: ReadonlyArray<string> }).paths], [other, again])
    })
  )

  it.effect("is a file all the same where one is called so", () =>
    Effect.gen(function* () {
      const { fileOf } = yield* planted
      const file = path.join(yield* Temporary.directory, "3333")
      fs.writeFileSync(file, "")
      assert.strictEqual(yield* fileOf(file), file)
    })
  )

  it.effect("is understood by every command that takes a session", () =>
    Effect.gen(function* () {
      const { other, projects } = yield* planted
      const bundle = path.join(projects, "bundle.tar.gz")
      for (const [command, ...more] of [
        ["show"],
        ["resume"],
        ["explain"],
        ["agents"],
        ["follow", "--once"],
        ["export", bundle],
        ["title", "T"],
        ["tag", "t"],
        ["append", "go on"],
        ["rewind", "a3"],
        ["fork"]
      ] as const) {
        const { failure, noted } = yield* run(command, "--projects", projects, "33333333", ...more)
        assert.deepStrictEqual([command, failure, noted.includes("NotFound")], [command, undefined, false])
        const missing = yield* run(command, "--projects", projects, "44444444", ...more)
        assert.isDefined(missing.failure)
        assert.include(missing.out + missing.noted, "SessionNotFound  expected a session 44444444, found none", command)
      }
      const text = fs.readFileSync(other, "utf8")
      for (const written of ['"customTitle":"T"', '"tag":"t"', "go on"]) assert.include(text, written)
      assert.isTrue(fs.existsSync(bundle))
    }).pipe(Effect.scoped)
  )
})
