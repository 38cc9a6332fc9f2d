import { assert, describe, it } from "@effect/vitest"
import * as Message from "@reprise/domain/Message"
import * as Progress from "@reprise/domain/Progress"
import * as Schema from "effect/Schema"

const isProgress = Schema.is(Progress.Progress)

describe("Progress", () => {
  it("has the envelope of a message and is none", () => {
    const entry = {
      type: "progress",
      uuid: "p1",
      parentUuid: "a1",
      isSidechain: false,
      toolUseID: "T1",
      parentToolUseID: "T1",
      data: { type: "bash_progress", output: "", elapsedTimeSeconds: 2, totalLines: 0, fullOutput: "" }
    }
    assert.isTrue(isProgress(entry))
    assert.isTrue(Schema.is(Message.Envelope)(entry))
    assert.isFalse(Message.isMessageType(entry.type))
    assert.deepStrictEqual(Object.keys(Progress.schemas), ["progress"])
  })

  it("needs no more than an id", () => {
    assert.isTrue(isProgress({ type: "progress", uuid: "p1" }))
    assert.isTrue(isProgress({ type: "progress", uuid: "p1", parentUuid: null, data: null }))
    assert.isTrue(isProgress({ type: "progress", uuid: "p1", data: { type: "someday", more: 1 } }))
    assert.isFalse(isProgress({ type: "progress" }))
    assert.isFalse(isProgress({ type: "user", uuid: "p1" }))
  })
})
