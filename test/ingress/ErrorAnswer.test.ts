import { assert, describe, it } from "@effect/vitest"
import * as ErrorAnswer from "@reprise/ingress/ErrorAnswer"
import * as E from "@reprise/ingress/IngressError"
import { Schema } from "effect"

type Answer = { readonly body: object; readonly headers?: object }
const encode = <A>(schema: Schema.Codec<A, unknown>, error: A): Answer => {
  const encoded = Schema.encodeSync(schema)(error) as Answer
  return "body" in encoded ? encoded : { body: encoded }
}

describe("ErrorAnswer", () => {
  const { answers } = ErrorAnswer
  const all = [
    encode(answers.headMismatch, new E.HeadMismatch({ seq: 3, lastUuid: "u3", known: [1, 2] })),
    encode(answers.headMismatch, new E.HeadMismatch({ seq: 0 })),
    encode(answers.staleEpoch, new E.StaleEpoch({ epoch: 4 })),
    encode(answers.keyReused, new E.KeyReused({ keys: ["a", "b"] })),
    encode(answers.deleted, new E.Deleted()),
    encode(answers.notFound, new E.NotFound()),
    encode(answers.badRequest, new E.BadRequest({ detail: "d", line: 2 })),
    encode(answers.unauthorized, new E.Unauthorized()),
    encode(answers.forbidden, new E.Forbidden({ scope: "list" })),
    encode(answers.tooLarge, new E.TooLarge({ what: "batch", limit: 9 })),
    encode(answers.tooManyRequests, new E.TooManyRequests({ retryAfter: 2 })),
    encode(answers.unavailable, new E.Unavailable({ retryAfter: 1, cause: new Error("secret") }))
  ]

  it("the body says what it is, and all that a program needs", () => {
    assert.deepInclude(all[0]!.body, { seq: 3, lastUuid: "u3", known: [1, 2] })
    assert.deepInclude(all[2]!.body, { epoch: 4 })
    const types = all.map(({ body }) => (body as { readonly error: { readonly type: string } }).error.type)
    assert.deepStrictEqual(types.slice(1, 5), ["head-mismatch", "stale-epoch", "key-reused", "deleted"])
  })

  it("headers say what clients of the compat profile look for", () => {
    assert.deepStrictEqual(all[0]!.headers, { "x-last-seq": "3", "x-last-uuid": "u3" })
    assert.deepStrictEqual(all[1]!.headers, { "x-last-seq": "0" })
    assert.deepStrictEqual(all.at(-1)!.headers, { "retry-after": "1" })
  })

  it("the cause stays at home", () => assert.notInclude(JSON.stringify(all.at(-1)), "secret"))

  it("every answer is read back as the error that it was", () => {
    const tags = all.map(({ body }) => ErrorAnswer.decode(JSON.parse(JSON.stringify(body)))?._tag)
    const expected = ["HeadMismatch", "HeadMismatch", "StaleEpoch", "KeyReused", "Deleted", "NotFound", "BadRequest"]
    const others = ["Unauthorized", "Forbidden", "TooLarge", "TooManyRequests", "Unavailable"]
    assert.deepStrictEqual(tags, [...expected, ...others] as typeof tags)
    const first = ErrorAnswer.decode(all[0]!.body)
    assert.deepStrictEqual({ ...first }, { ...new E.HeadMismatch({ seq: 3, lastUuid: "u3", known: [1, 2] }) })
  })

  it("what no server of this protocol said is no error of it", () => {
    for (const body of [
      undefined,
      null,
      "x",
      {},
      { error: "x" },
      { error: { type: "stale-epoch", message: "no epoch" } }
    ])
      assert.isUndefined(ErrorAnswer.decode(body))
  })
})
