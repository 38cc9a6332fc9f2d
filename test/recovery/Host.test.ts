import { assert, describe, it } from "@effect/vitest"
import * as SessionSource from "@reprise/domain/SessionSource"
import * as Host from "@reprise/recovery/Host"
import * as Resume from "@reprise/recovery/Resume"
import * as StoredSessionSource from "@reprise/storage/StoredSessionSource"
import * as Message from "@reprise/domain/Message"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Layer } from "effect"
import { id } from "./hosting.ts"

describe("a host that has none of it", () => {
  it.live("resumes a session all the same, in memory too", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const transcript = yield* Transcript.open({ sessionId: id(1), cwd: "/work", version: "2.1.0" })
          yield* transcript.append(Message.user("hello"))
        })
      )
      const plan = yield* Resume.load(SessionSource.latest("/work"))
      assert.strictEqual(plan.interruption.kind, "interrupted-prompt")
      const { findings, session } = yield* Resume.adopt(plan)
      assert.deepStrictEqual([session.sessionId, findings], [id(1), []])
      yield* session.append(Message.user("hello again"))
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(StoredSessionSource.layerMemory, Host.layerNone)))
  )
})

describe("a failure of the host", () => {
  it("says which port, why, and what became of the session that ran", () => {
    const { message } = new Host.HostFailed({ port: "PlanStore", cause: new Error("the disk is full") })
    assert.strictEqual(
      message,
      "the host's PlanStore failed: the disk is full. The session that ran before is as it was; try again"
    )
  })
})
