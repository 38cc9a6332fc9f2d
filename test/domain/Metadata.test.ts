import { assert, describe, it } from "@effect/vitest"
import * as Metadata from "@reprise/domain/Metadata"
import * as Schema from "effect/Schema"

const kinds = Object.keys(Metadata.schemas) as ReadonlyArray<Metadata.Kind>
const isOf = (kind: Metadata.Kind) => Schema.is(Metadata.schemas[kind] as Schema.Schema<unknown>)

describe("Metadata schemas", () => {
  it("each asks for its own type and nothing else", () => {
    for (const kind of kinds) {
      assert.isTrue(isOf(kind)({ type: kind }), kind)
      assert.isTrue(isOf(kind)({ type: kind, sessionId: "s", uuid: "x", timestamp: "t", someday: 1 }), kind)
      assert.isFalse(isOf(kind)({ type: "user" }), kind)
    }
    assert.strictEqual(Metadata.all.length, kinds.length)
  })

  it("take real shapes", () => {
    const session = { sessionId: "s1" }
    assert.isTrue(isOf("summary")({ type: "summary", summary: "A title", leafUuid: "u9" }))
    assert.isTrue(isOf("last-prompt")({ type: "last-prompt", leafUuid: "u9", ...session }))
    assert.isTrue(isOf("worktree-state")({ type: "worktree-state", worktreeSession: null, ...session }))
    const worktreeSession = { originalCwd: "/w/a", worktreePath: "/w/b", worktreeName: "b", sessionId: "s1" }
    assert.isTrue(isOf("worktree-state")({ type: "worktree-state", worktreeSession, ...session }))
    const modelUsage = { "some-model": { inputTokens: 1, costUSD: 0.1 } }
    assert.isTrue(isOf("cost-state")({ type: "cost-state", totalCostUSD: 0.1, modelUsage, ...session }))
  })

  it("null and values of another type are no values", () => {
    for (const tag of [null, 7, {}, []]) assert.isFalse(isOf("tag")({ type: "tag", tag }))
    assert.isFalse(isOf("pr-link")({ type: "pr-link", prNumber: "42" }))
  })

  it.prop("are total", { value: Schema.Json }, ({ value }) => {
    for (const kind of kinds) assert.isBoolean(isOf(kind)(value))
  })
})

describe("Metadata constructors", () => {
  it("make bodies that fit, type first, without a session", () => {
    const bodies: ReadonlyArray<Metadata.Body> = [
      Metadata.customTitle("T"),
      Metadata.aiTitle("T"),
      Metadata.tag(""),
      Metadata.agentName("reviewer"),
      Metadata.agentColor("blue"),
      Metadata.agentSetting("reviewer"),
      Metadata.mode("normal"),
      Metadata.permissionMode("plan"),
      Metadata.lastPrompt({ lastPrompt: "Go on", leafUuid: "u9" }),
      Metadata.lastPrompt({}),
      Metadata.prLink({
        prNumber: 42,
        prUrl: "https://x/42",
        prRepository: "a/b",
        timestamp: "2026-10-01T11:00:00.000Z"
      }),
      Metadata.worktreeState(null),
      Metadata.worktreeState({ worktreePath: "/w/b" }),
      Metadata.make("tools-used", { tools: ["Bash"] })
    ]
    for (const body of bodies) {
      assert.isTrue(isOf(body.type)({ ...body, sessionId: "s1" }), body.type)
      assert.strictEqual(Object.keys(body)[0], "type")
      assert.notProperty(body, "sessionId")
    }
  })

  it("isKind knows the wire types", () => {
    for (const kind of kinds) assert.isTrue(Metadata.isKind(kind))
    for (const type of ["user", "__proto__", "constructor", "", undefined, 7]) assert.isFalse(Metadata.isKind(type))
  })
})
