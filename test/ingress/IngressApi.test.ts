import { assert, describe, it } from "@effect/vitest"
import * as IngressApi from "@reprise/ingress/IngressApi"

describe("IngressApi", () => {
  const document = IngressApi.openApi()
  const session = document.paths["/v1/session_ingress/session/{id}"]!

  it("has every verb of the protocol in its document", () => {
    const verbs = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((verb) => `${verb.toUpperCase()} ${path.replace("/v1/session_ingress", "")}`)
    )
    assert.sameMembers(verbs, [
      "PUT /session/{id}",
      "GET /session/{id}",
      "HEAD /session/{id}",
      "DELETE /session/{id}",
      "GET /session/{id}/streams",
      "POST /session/{id}/writers",
      "GET /sessions",
      "GET /health",
      "GET /ready",
      "GET /metrics"
    ])
  })

  it("tells both profiles apart by content type", () => {
    assert.sameMembers(Object.keys(session.put!.requestBody!.content), ["application/json", "application/x-ndjson"])
    assert.includeMembers(Object.keys(session.get!.responses[200]!.content!), [
      "application/json",
      "application/x-ndjson"
    ])
  })

  it("names the answers to an append", () => {
    const statuses = Object.keys(session.put!.responses).toSorted()
    assert.deepStrictEqual(statuses, ["200", "201", "400", "401", "403", "409", "410", "413", "422", "429", "503"])
  })

  it("asks for a token, but not where it is watched", () => {
    assert.deepStrictEqual(session.put!.security, [{ bearer: [] }])
    assert.isEmpty(document.paths["/health"]!.get!.security)
  })
})
