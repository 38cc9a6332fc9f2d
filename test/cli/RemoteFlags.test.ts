import { assert, describe, it } from "@effect/vitest"
import * as RemoteFlags from "@reprise/cli/RemoteFlags"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"

const none: RemoteFlags.RemoteFlags = { url: [], tokenFile: Option.none(), compat: false, plainHttp: false }
const resolve = (flags: Partial<RemoteFlags.RemoteFlags>, env: Record<string, string> = {}) =>
  Effect.provideService(
    RemoteFlags.resolve({ ...none, ...flags }),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown(env)
  )
const env = { REPRISE_REMOTE_URL: "https://a.example, https://b.example", REPRISE_REMOTE_TOKEN: "t1" }

describe("RemoteFlags", () => {
  it.effect("flags win over the environment, which does without them", () =>
    Effect.gen(function* () {
      const found = yield* resolve({}, env)
      assert.deepStrictEqual(
        [found.urls, Redacted.value(found.token)],
        [["https://a.example", "https://b.example"], "t1"]
      )
      const file = path.join(yield* Temporary.directory, "token")
      fs.writeFileSync(file, " t2\n")
      const named = yield* resolve({ url: ["https://c.example"], tokenFile: Option.some(file) }, env)
      assert.deepStrictEqual([named.urls, Redacted.value(named.token)], [["https://c.example"], "t2"])
      assert.notInclude(String(named.token), "t2")
    })
  )

  it.effect("what is missing says how it is given", () =>
    Effect.gen(function* () {
      const message = <A, E extends Error, R>(run: Effect.Effect<A, E, R>) =>
        Effect.map(Effect.flip(run), (e) => e.message)
      assert.include(yield* message(resolve({})), "--url or REPRISE_REMOTE_URL, found neither")
      assert.include(
        yield* message(resolve({ url: ["https://a"] })),
        "--token-file or REPRISE_REMOTE_TOKEN, found neither"
      )
      const empty = path.join(yield* Temporary.directory, "empty")
      fs.writeFileSync(empty, "\n")
      const url = ["https://a"]
      assert.include(yield* message(resolve({ url, tokenFile: Option.some(empty) })), "found an empty one")
      assert.include(
        yield* message(resolve({ url, tokenFile: Option.some(`${empty}/x`) })),
        "a file that holds a token"
      )
    })
  )
})
