import { assert, describe, it } from "@effect/vitest"
import * as Server from "@reprise/cli/Server"
import * as TokenFile from "@reprise/ingress/TokenFile"
import { Effect } from "effect"
import * as path from "node:path"
import * as Temporary from "../ingress/temporary.ts"

describe("newToken", () => {
  it.effect("is kept as a hash, with its tenant and scopes", () =>
    Effect.gen(function* () {
      const data = path.join(yield* Temporary.directory, "a", "b")
      const token = yield* Server.newToken(data, "acme", ["append"])
      const [known] = yield* TokenFile.read(path.join(data, "tokens.jsonl"))
      assert.deepInclude(known, { tenant: "acme", scopes: ["append"] })
      assert.notInclude(JSON.stringify(known), token.split("_").at(-1)!)
    })
  )

  it.effect("of no tenant, or with a scope that is none, is not made", () =>
    Effect.gen(function* () {
      const data = yield* Temporary.directory
      for (const [tenant, scope] of [
        ["acme", "everything"],
        ["acme", "append:session/../x"]
      ] as const)
        assert.strictEqual((yield* Effect.flip(Server.newToken(data, tenant, [scope])))._tag, "NotServed")
      assert.deepStrictEqual(yield* TokenFile.read(path.join(data, "tokens.jsonl")), [])
    })
  )
})
