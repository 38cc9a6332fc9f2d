import { assert, describe, it } from "@effect/vitest"
import * as E from "@reprise/ingress/IngressError"

describe("IngressError", () => {
  it("a message says what was found and what to do", () => {
    const messages = [
      new E.HeadMismatch({ seq: 0 }).message,
      new E.HeadMismatch({ seq: 3, lastUuid: "u3" }).message,
      new E.BadRequest({ detail: "expected an entry", line: 7 }).message,
      new E.TooLarge({ what: "line", limit: 5 }).message,
      new E.TooLarge({ what: "ratio", limit: 100 }).message
    ]
    for (const [i, expected] of [
      /is empty/,
      /ends with u3 at 3/,
      /^line 7: expected an entry$/,
      /longer than 5/,
      /100 times/
    ].entries())
      assert.match(messages[i]!, expected)
  })

  it("the cause of an outage is not in its message", () => {
    const error = new E.Unavailable({ retryAfter: 1, cause: new Error("password=secret") })
    assert.notInclude(error.message, "secret")
  })
})
