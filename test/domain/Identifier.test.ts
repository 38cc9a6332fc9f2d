import { assert, describe, it } from "@effect/vitest"
import * as Identifier from "@reprise/domain/Identifier"
import * as Schema from "effect/Schema"

describe("Identifier", () => {
  it("a session id is a UUID in any case", () => {
    for (const id of ["0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5B-D9CB-469F-A165-70867728950E"]) {
      assert.isTrue(Identifier.isSessionId(id))
    }
    for (const id of ["", "0f8fad5b", "0f8fad5bd9cb469fa16570867728950e", " 0f8fad5b-d9cb-469f-a165-70867728950e", 7]) {
      assert.isFalse(Identifier.isSessionId(id))
    }
  })

  it("make checks and keeps the string as it is", () => {
    assert.strictEqual(
      Identifier.SessionId.make("0F8FAD5B-D9CB-469F-A165-70867728950E"),
      "0F8FAD5B-D9CB-469F-A165-70867728950E"
    )
    assert.throws(() => Identifier.SessionId.make("latest"))
    assert.throws(() => Identifier.EntryId.make(""))
  })

  it("an entry id and a tool use id are any string but the empty one", () => {
    for (const is of [Identifier.isEntryId, Identifier.isToolUseId]) {
      assert.isTrue(is("u1"))
      assert.isFalse(is(""))
      assert.isFalse(is(null))
    }
  })

  it("an agent id is any name that is safe as a part of a file name", () => {
    const safe = [
      "a1b2c3",
      "a0123456789abcdef",
      "acompact-0f1e2d",
      "aside_question-0f1e2d",
      "areviewer-0f1e",
      "b.c",
      "é"
    ]
    for (const id of safe) assert.isTrue(Identifier.isAgentId(id), id)
    for (const id of ["", ".", "..", "a/b", "a\\b", "../x", "a\u0000b", "a\nb", "\ud800"]) {
      assert.isFalse(Identifier.isAgentId(id), JSON.stringify(id))
    }
  })

  it("a project key holds letters, digits and dashes", () => {
    for (const key of ["-home-ada-my-app-v2", "C--Users-ada-x-y", "-w--"]) assert.isTrue(Identifier.isProjectKey(key))
    for (const key of ["", "a/b", "a.b", "é"]) assert.isFalse(Identifier.isProjectKey(key))
  })

  it.prop("guards are total and agree with make", { value: Schema.Json }, ({ value }) => {
    for (const [is, schema] of [
      [Identifier.isSessionId, Identifier.SessionId],
      [Identifier.isEntryId, Identifier.EntryId],
      [Identifier.isAgentId, Identifier.AgentId],
      [Identifier.isToolUseId, Identifier.ToolUseId],
      [Identifier.isProjectKey, Identifier.ProjectKey]
    ] as const) {
      if (is(value)) assert.strictEqual<unknown>(schema.make(value), value)
      else if (typeof value === "string") assert.throws(() => schema.make(value))
    }
  })
})
