import { assert, describe, it } from "@effect/vitest"
import * as TokenVerifier from "@reprise/ingress/TokenVerifier"
import { Effect, Redacted, Schema } from "effect"

const verify = (token: Redacted.Redacted, known: ReadonlyArray<TokenVerifier.Known>) =>
  TokenVerifier.TokenVerifier.use(({ verify }) => verify(token)).pipe(Effect.provide(TokenVerifier.layer(known)))

describe("TokenVerifier", () => {
  it.effect("a token that was drawn speaks for its tenant", () =>
    Effect.gen(function* () {
      const one = yield* TokenVerifier.make("t1", ["append", "read:session/s1"])
      const two = yield* TokenVerifier.make("t2", ["admin"])
      const known = [one.known, two.known]
      assert.match(Redacted.value(one.token), /^sli_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/)
      assert.deepInclude(yield* verify(one.token, known), { tenant: "t1", scopes: ["append", "read:session/s1"] })
      assert.deepInclude(yield* verify(two.token, known), { tenant: "t2", scopes: ["admin"] })
      assert.isUndefined(yield* verify(one.token, [two.known]))
    })
  )

  it.effect("no other text speaks for anybody", () =>
    Effect.gen(function* () {
      const { known, token } = yield* TokenVerifier.make("t1", ["admin"])
      const text = Redacted.value(token)
      const others = ["", "sli_", known.id, known.sha256, text.slice(0, -1), `${text}x`, text.replace("sli_", "SLI_")]
      for (const other of [...others, `sli_${known.id}_${known.sha256}`])
        assert.isUndefined(yield* verify(Redacted.make(other), [known]), other)
    })
  )

  it.effect("what a server knows does not hold the token, and fits its schema", () =>
    Effect.gen(function* () {
      const { known, token } = yield* TokenVerifier.make("t1", ["append:session/s1", "list"])
      const secret = Redacted.value(token).split("_").at(-1)!
      assert.notInclude(JSON.stringify(known), secret)
      const isKnown = Schema.is(TokenVerifier.Known)
      assert.isTrue(isKnown(known))
      for (const scopes of [["write"], ["append:session/../x"], ["admin "]])
        assert.isFalse(isKnown({ ...known, scopes }))
    })
  )

  it("a scope allows what it names", () => {
    const can = (scopes: ReadonlyArray<string>, action: TokenVerifier.Action, session?: string) =>
      TokenVerifier.allows({ scopes }, action, session)
    assert.isTrue(can(["append"], "append", "s1"))
    assert.isTrue(can(["append:session/s1"], "append", "s1"))
    assert.isFalse(can(["append:session/s1"], "append", "s2"))
    assert.isFalse(can(["append:session/s1"], "append"))
    assert.isFalse(can(["append", "read"], "list"))
    assert.isFalse(can(["append", "read", "list"], "admin", "s1"))
    for (const action of ["append", "read", "list", "admin"] as const) assert.isTrue(can(["admin"], action, "s1"))
    assert.isFalse(can([], "read", "s1"))
  })
})
