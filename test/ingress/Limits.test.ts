import { assert, describe, it } from "@effect/vitest"
import * as Limits from "@reprise/ingress/Limits"
import { Context, Effect } from "effect"

describe("Limits", () => {
  it.effect("hold as they are, until a program sets its own", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Limits.Limits, Limits.defaults)
      const own = { ...Limits.defaults, line: 10 }
      const line = Effect.map(Effect.context<never>(), (context) => Context.get(context, Limits.Limits).line)
      assert.strictEqual(yield* Effect.provideService(line, Limits.Limits, own), 10)
    })
  )

  it("a line fits into a batch and into a page, so that it can be sent and read", () => {
    const { batch, line, page } = Limits.defaults
    assert.isAtMost(line, batch)
    assert.isAtMost(line, page)
  })
})
