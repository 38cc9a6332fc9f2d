import { assert, describe, it } from "@effect/vitest"
import * as Host from "@reprise/recovery/Host"
import * as HostMemory from "@reprise/recovery/HostMemory"
import { Effect, Layer } from "effect"
import { id } from "./hosting.ts"

const session = { sessionId: id(2), path: "/log.jsonl" }
const copy = { from: id(1), to: session }
const plan = { slug: "lamp" }
const history = [
  {
    messageId: "u1",
    backups: new Map([
      ["/a", { backupFileName: "a@v1" }],
      ["/b", { backupFileName: "b@v1" }],
      ["/c", { backupFileName: null }]
    ])
  }
]

describe("a host in memory", () => {
  it.effect("keeps what each step sets, and undoing puts back what was there", () =>
    Effect.gen(function* () {
      const state = yield* HostMemory.HostMemory
      const before = { ...state }
      const undos = [
        yield* Host.Sessions.use((port) => port.switchTo(session)),
        yield* Host.Recordings.use((port) => port.rename(session)),
        yield* Host.Sessions.use((port) => port.resetPointer(session)),
        yield* Host.CostTracker.use((port) => port.restore(session, undefined)),
        (yield* Host.AgentRegistry.use((port) => port.restore({ setting: "reviewer" }))).undo,
        (yield* Host.Worktrees.use((port) => port.enter({ worktreePath: "/trees/lamp" }))).undo,
        yield* Host.ContextCollapse.use((port) => port.reset),
        yield* Host.Mode.use((port) => port.restore({ mode: "normal" })),
        yield* Host.Skills.use((port) => port.restore({ skills: new Map(), todos: [], plan }))
      ]
      assert.deepInclude(state, {
        session,
        recording: `${id(2)}.cast`,
        agent: { setting: "reviewer" },
        worktree: { worktreePath: "/trees/lamp" },
        modes: { mode: "normal" }
      })
      yield* Effect.all(undos.toReversed())
      assert.deepStrictEqual({ ...state }, before)
    }).pipe(
      Effect.provide(
        HostMemory.layerWith({
          recording: "old.cast",
          agents: new Set(["reviewer"]),
          worktrees: new Set(["/trees/lamp"])
        })
      )
    )
  )

  it.effect("says what is gone and does without; a program that records nothing has nothing to rename", () =>
    Effect.gen(function* () {
      const state = yield* HostMemory.HostMemory
      assert.isTrue((yield* Host.AgentRegistry.use((port) => port.restore({ setting: "reviewer" }))).isGone)
      assert.isFalse((yield* Host.AgentRegistry.use((port) => port.restore({}))).isGone)
      assert.isTrue((yield* Host.Worktrees.use((port) => port.enter({ worktreePath: "/trees/lamp" }))).isGone)
      assert.isFalse((yield* Host.Worktrees.use((port) => port.enter(null))).isGone)
      yield* Effect.asVoid(Host.Recordings.use((port) => port.rename(session)))
      assert.deepStrictEqual([state.agent, state.worktree, state.recording], [{}, null, undefined])
    }).pipe(Effect.provide(HostMemory.layer))
  )

  it.effect("copies plans and backups once, and names those that are gone", () =>
    Effect.gen(function* () {
      const { backups, plans } = yield* HostMemory.HostMemory
      const copyPlan = Host.PlanStore.use((port) => port.copy(copy, plan))
      const copyFiles = Host.FileHistoryStore.use((port) => port.copy(copy, history))
      assert.deepStrictEqual(yield* copyPlan, { copied: 0, gone: ["lamp"] })
      plans.set(id(1), plan)
      assert.deepStrictEqual(yield* copyPlan, { copied: 1, gone: [] })
      assert.deepStrictEqual(yield* copyPlan, { copied: 0, gone: [] })
      assert.deepStrictEqual(yield* copyFiles, { copied: 0, gone: ["a@v1", "b@v1"] })
      backups.set(id(1), new Set(["a@v1"]))
      assert.deepStrictEqual(yield* copyFiles, { copied: 1, gone: ["b@v1"] })
      assert.deepStrictEqual(yield* copyFiles, { copied: 0, gone: ["b@v1"] })
      assert.deepStrictEqual(backups.get(id(2)), new Set(["a@v1"]))
    }).pipe(Effect.provide(HostMemory.layer))
  )

  it.effect("gives each port alone as well", () =>
    Effect.gen(function* () {
      yield* Effect.asVoid(Host.Mode.use((port) => port.restore({ mode: "normal" })))
      assert.deepStrictEqual((yield* HostMemory.HostMemory).modes, { mode: "normal" })
    }).pipe(Effect.provide(HostMemory.ports.Mode.pipe(Layer.provideMerge(HostMemory.layer))))
  )
})
