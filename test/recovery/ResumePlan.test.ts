import { assert, describe, it } from "@effect/vitest"
import * as Message from "@reprise/domain/Message"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import * as ResumePlan from "@reprise/recovery/ResumePlan"
import { id } from "./hosting.ts"
import { log } from "./picture.ts"

const stateOf = (picture: string, more: object = {}) =>
  Recovery.fold(log(picture).map((one) => ({ ...one, entry: { ...one.entry, ...more } as typeof one.entry })))

const planOf = (picture: string, hooks: ReadonlyArray<Message.MessageBody> = []) => {
  const state = stateOf(picture)
  const place = { path: "/log.jsonl", sessionId: undefined }
  const view = ModelMessages.make(state)
  return ResumePlan.make({
    sessionId: id(1),
    place,
    size: 0,
    reading: undefined,
    isFork: false,
    leaf: undefined,
    steps: [],
    hooks,
    state,
    view,
    found: []
  })
}

const rolesOf = (plan: ResumePlan.ResumePlan) => plan.messages.map(({ parts, role }) => `${role} ${parts.length}`)

describe("the session of a log", () => {
  const place = { path: "/log.jsonl", sessionId: undefined }

  it("is that of its name, else of its leaf where that is an id, else none", () => {
    const state = stateOf("u1-a1", { sessionId: id(2) })
    assert.strictEqual(ResumePlan.sessionIdOf({ ...place, sessionId: id(1) }, state), id(1))
    assert.strictEqual(ResumePlan.sessionIdOf(place, state), id(2))
    assert.strictEqual(ResumePlan.sessionIdOf(place, stateOf("u1-a1", { sessionId: "somebody" })), undefined)
    assert.strictEqual(ResumePlan.sessionIdOf(place, stateOf("")), undefined)
  })

  it("has the files of whoever wrote its leaf, before it was forked", () => {
    const forkedFrom = { sessionId: id(3), messageUuid: "a1" }
    assert.strictEqual(ResumePlan.writerOf(stateOf("u1-a1", { sessionId: id(2) })), id(2))
    assert.strictEqual(ResumePlan.writerOf(stateOf("u1-a1", { sessionId: id(2), forkedFrom })), id(3))
    assert.strictEqual(ResumePlan.writerOf(stateOf("")), undefined)
  })
})

describe("the messages of a plan", () => {
  it("end with what makes the turn go on, then with what the hooks say", () => {
    const hooks = [
      Message.attachment({ type: "hook_additional_context", content: ["It is Tuesday."] }),
      Message.localCommand("<local-command-stdout>ok</local-command-stdout>"),
      Message.system("informational", { content: "not said" }),
      Message.assistant({ id: "m", model: "none", content: "a hook is no model" })
    ]
    assert.deepStrictEqual(rolesOf(planOf("u1-a1(A)-rA")), ["user 1", "assistant 1", "user 2"])
    assert.deepStrictEqual(rolesOf(planOf("u1-a1(A)-rA", hooks)), ["user 1", "assistant 1", "user 4"])
    assert.deepStrictEqual(rolesOf(planOf("u1-a1", hooks)), ["user 1", "assistant 1", "user 2"])
    assert.deepStrictEqual(rolesOf(planOf("u1", hooks)), ["user 3"])
  })

  it("are those of the view where nothing is to be added", () => {
    const plan = planOf("u1-a1")
    assert.strictEqual(plan.messages, ModelMessages.followedBy(plan.messages, []))
    assert.deepStrictEqual([plan.agent, plan.modes, plan.worktree, plan.cost], [{}, {}, null, undefined])
  })
})
