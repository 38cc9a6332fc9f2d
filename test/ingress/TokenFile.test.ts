import { assert, describe, it } from "@effect/vitest"
import * as TokenFile from "@reprise/ingress/TokenFile"
import * as TokenVerifier from "@reprise/ingress/TokenVerifier"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const fileIn = Effect.map(Temporary.directory, (directory) => path.join(directory, "tokens"))
const refusal = (file: string) =>
  Effect.map(Effect.flip(Effect.scoped(Layer.build(TokenFile.layer(file)))), ({ message }) => message)

describe("TokenFile", () => {
  it.effect("is for its user alone, and holds what was added", () =>
    Effect.gen(function* () {
      const file = yield* fileIn
      assert.deepStrictEqual(yield* TokenFile.read(file), [])
      const one = yield* TokenVerifier.make("t1", ["admin"])
      const two = yield* TokenVerifier.make("t2", ["append:session/s1"])
      yield* TokenFile.add(file, one.known)
      yield* TokenFile.add(file, two.known)
      assert.deepStrictEqual(yield* TokenFile.read(file), [one.known, two.known])
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
    })
  )

  it.effect("a line that is added or taken out counts within a second", () =>
    Effect.gen(function* () {
      const file = yield* fileIn
      const one = yield* TokenVerifier.make("t1", ["admin"])
      yield* Effect.gen(function* () {
        const { verify } = yield* TokenVerifier.TokenVerifier
        assert.isUndefined(yield* verify(one.token))
        yield* TokenFile.add(file, one.known)
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* verify(one.token))?.tenant, "t1")
        fs.writeFileSync(file, "")
        yield* TestClock.adjust("1 second")
        assert.isUndefined(yield* verify(one.token))
      }).pipe(Effect.provide(TokenFile.layer(file)))
    })
  )

  it.effect("while it cannot be read, the tokens that were read last count", () =>
    Effect.gen(function* () {
      const file = yield* fileIn
      const one = yield* TokenVerifier.make("t1", ["admin"])
      yield* TokenFile.add(file, one.known)
      yield* Effect.gen(function* () {
        const { verify } = yield* TokenVerifier.TokenVerifier
        fs.appendFileSync(file, "half a li")
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* verify(one.token))?.tenant, "t1")
      }).pipe(Effect.provide(TokenFile.layer(file)))
    })
  )

  it.effect("one that others may write, or that holds something else, is refused", () =>
    Effect.gen(function* () {
      const file = yield* fileIn
      fs.writeFileSync(file, '{"id":"a","sha256":"secret-of-nobody","tenant":"t","scopes":[]}\n')
      const message = yield* refusal(file)
      assert.match(message, /the tokens in .* cannot be used: line 1 is no token/)
      assert.notInclude(message, "secret-of-nobody")
      fs.writeFileSync(file, "")
      fs.chmodSync(file, 0o666)
      assert.match(yield* refusal(file), /others may write it.*chmod 600/)
    })
  )
})
