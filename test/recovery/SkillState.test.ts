import * as Entry from "@reprise/domain/Entry"
import * as Projection from "@reprise/domain/Projection"
import * as SkillState from "@reprise/recovery/SkillState"
import { assert, describe, it } from "@effect/vitest"

const attachment = (uuid: string, body: object, more: object = {}) => ({
  type: "attachment",
  uuid,
  attachment: body,
  ...more
})
const skills = (...names: ReadonlyArray<string>) => ({
  type: "invoked_skills",
  skills: names.map((name) => ({ name, path: `/skills/${name}`, content: `how to ${name}` }))
})
const state = (...entries: ReadonlyArray<object>) =>
  Projection.fold(
    SkillState.projection,
    entries.map((entry) => Entry.read(entry as Entry.Unknown).entry)
  )

describe("SkillState", () => {
  it("keeps every skill that was invoked, with its last text", () => {
    const again = { type: "invoked_skills", skills: [{ name: "review", path: "/skills/review", content: "newer" }] }
    const folded = state(attachment("t1", skills("review", "plan")), attachment("t2", again))
    assert.deepStrictEqual([...folded.skills.keys()], ["review", "plan"])
    assert.strictEqual(folded.skills.get("review")?.content, "newer")
  })

  it("keeps skills that were invoked before a boundary", () => {
    const boundary = { type: "system", subtype: "compact_boundary", uuid: "b1", parentUuid: null }
    const folded = state(attachment("t1", skills("one")), boundary, attachment("t2", skills("two", "three")))
    assert.deepStrictEqual([...folded.skills.keys()], ["one", "two", "three"])
  })

  it("passes over what a subagent invoked", () => {
    assert.strictEqual(state(attachment("t1", skills("one"), { isSidechain: true })).skills.size, 0)
  })

  it("has the todos as they were last written, in whichever of the three ways", () => {
    const todo = (content: string) => ({ content, status: "pending", activeForm: `doing ${content}` })
    const user = { type: "user", uuid: "u1", message: { content: "x" }, todos: [todo("a")] }
    const call = {
      type: "assistant",
      uuid: "a1",
      message: {
        content: [{ type: "tool_use", id: "T", name: "TodoWrite", input: { todos: [todo("b"), { content: 1 }] } }]
      }
    }
    const reminder = attachment("t1", { type: "todo_reminder", content: [todo("c")], itemCount: 1 })
    assert.deepStrictEqual(state(user).todos, [todo("a")])
    assert.deepStrictEqual(state(user, call).todos, [todo("b")])
    assert.deepStrictEqual(state(user, call, reminder).todos, [todo("c")])
  })

  it("knows where the plan is and what it last said", () => {
    const mode = attachment("t1", { type: "plan_mode", planFilePath: "/plans/p.md" })
    const file = attachment("t2", { type: "plan_file_reference", planFilePath: "/plans/q.md", planContent: "1. do it" })
    const user = { type: "user", uuid: "u1", message: { content: "x" }, slug: "brave-owl" }
    assert.deepStrictEqual(state(mode).plan, { path: "/plans/p.md" })
    assert.deepStrictEqual(state(mode, file, user).plan, {
      path: "/plans/q.md",
      content: "1. do it",
      slug: "brave-owl"
    })
  })
})
