import * as Flags from "@reprise/cli/Flags"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stdio } from "effect"
import { Command } from "effect/cli"
import { platform } from "./running.ts"

describe("flags", () => {
  it.effect("are off, or nothing, unless they are given", () =>
    Effect.gen(function* () {
      const seen: Array<object> = []
      const config = {
        json: Flags.json("JSON"),
        full: Flags.full("all of it"),
        sidechain: Flags.sidechain,
        tag: Flags.text("tag", "TAG", "A tag")
      }
      const command = Command.make("x", config, (given) => Effect.sync(() => seen.push(given)))
      const run = Command.runWith(command, { version: "1" })
      yield* run([])
      yield* run(["--tag", "a", "--json", "--full", "--sidechain"])
      assert.deepStrictEqual(seen, [
        { json: false, full: false, sidechain: false, tag: Option.none() },
        { json: true, full: true, sidechain: true, tag: Option.some("a") }
      ])
    }).pipe(Effect.provide(platform(Stdio.layerTest({}))))
  )
})
