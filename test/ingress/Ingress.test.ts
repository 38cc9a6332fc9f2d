import { assert, describe, it } from "@effect/vitest"
import * as Ingress from "@reprise/ingress/Ingress"

describe("failures", () => {
  it("say what was expected, what was found and what to do", () => {
    const away = new Ingress.Unreachable({ urls: ["https://a", "https://b"], found: "ECONNREFUSED" })
    assert.strictEqual(
      away.message,
      "expected an answer of https://a or https://b, found none: ECONNREFUSED. Check addresses and network."
    )
    const odd = new Ingress.UnexpectedAnswer({ status: 418, found: "a teapot" })
    assert.include(odd.message, "found status 418: a teapot. Check the address.")
  })
})
