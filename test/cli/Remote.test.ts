import { assert, describe, it } from "@effect/vitest"
import * as Remote from "@reprise/cli/Remote"
import { Effect, Layer, Option, Stdio } from "effect"
import { sessionId, text, world } from "./remote.ts"
import * as fs from "node:fs"
import { logs, platform } from "./running.ts"

describe("Remote", () => {
  it.live("pushes and looks with the remote that the flags name, also outside of the command", () =>
    Effect.gen(function* () {
      const { here, there, url } = yield* world
      fs.writeFileSync(here.main, text("u1-a1"))
      const flags = { url: [url], tokenFile: Option.some(here.tokenFile), compat: false, plainHttp: false }
      const options = { compat: false, takeOver: false, follow: false, most: "5 seconds" } as const
      const services = Layer.merge(logs, platform(Stdio.layerTest({})))
      const pushed = yield* Effect.provide(Remote.within(Remote.push(here.main, options), flags), services)
      assert.deepStrictEqual([pushed.open, pushed.aside], [0, 0])
      assert.strictEqual(yield* there(), text("u1-a1"))
      const status = yield* Effect.provide(Remote.within(Remote.status(here.main, sessionId), flags), logs)
      assert.deepStrictEqual(status.streams, [
        { stream: "", bytes: text("u1-a1").length, sent: text("u1-a1").length, lines: 2, head: "a1" }
      ])
    })
  )

  it("what is still behind says whether it may go well later", () => {
    const error = new Remote.StillBehind({ bytes: 7, status: "Fenced", why: "stopped", again: false })
    assert.strictEqual(error.message, "expected all of the session at the remote, found 7 bytes behind; stopped")
  })
})
