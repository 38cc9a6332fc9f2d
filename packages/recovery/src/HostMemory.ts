/**
 * HostMemory: a host whose whole state is one object, for tests and for programs that want no more.
 *
 * `layerWith` gives all ports over one state; `ports` has each of them alone.
 */
import type * as Message from "@reprise/domain/Message"
import type * as Metadata from "@reprise/domain/Metadata"
import type { SessionMetadata } from "@reprise/domain/SessionMetadata"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Host from "./Host.ts"
import type { SkillState } from "./SkillState.ts"
import type { Snapshots } from "./Snapshots.ts"

/**
 * The state of the host. `agents` and `worktrees` are those that exist, by setting and path; `plans` and `backups` what
 * is stored of each session, by its id.
 *
 * @category models
 * @since 0.1.0
 */
export interface State {
  session: Host.Session | undefined
  pointer: string | undefined
  recording: string | undefined
  cost: Metadata.Of<"cost-state"> | undefined
  agent: Host.Agent
  metadata: SessionMetadata | undefined
  worktree: Metadata.WorktreeSession | null
  collapse: Snapshots["collapse"] | undefined
  modes: Host.Modes
  skills: SkillState | undefined
  hooks: (start: Host.Start) => ReadonlyArray<Message.MessageBody>
  readonly agents: Set<string>
  readonly worktrees: Set<string>
  readonly plans: Map<string, SkillState["plan"]>
  readonly backups: Map<string, Set<string>>
}

/**
 * The state, to look at and to change.
 *
 * @category services
 * @since 0.1.0
 */
export class HostMemory extends Context.Service<HostMemory, State>()("@reprise/recovery/HostMemory") {}

const empty = (): State => ({
  session: undefined,
  pointer: undefined,
  recording: undefined,
  cost: undefined,
  agent: {},
  metadata: undefined,
  worktree: null,
  collapse: undefined,
  modes: {},
  skills: undefined,
  hooks: () => [],
  agents: new Set(),
  worktrees: new Set(),
  plans: new Map(),
  backups: new Map()
})

/** Sets a value; undoing puts back what was there. */
const set = <K extends keyof State>(state: State, key: K, value: State[K]): Host.Step =>
  Effect.sync(() => {
    const before = state[key]
    state[key] = value
    return Effect.sync(() => void (state[key] = before))
  })

const search = (step: Host.Step, isGone: boolean): Host.Search => Effect.map(step, (undo) => ({ undo, isGone }))

const port = <I, S>(key: Context.Key<I, S>, make: (state: State) => S): Layer.Layer<I, never, HostMemory> =>
  Layer.effect(key, Effect.map(HostMemory, make))

/**
 * Each port over the state.
 *
 * @category layers
 * @since 0.1.0
 */
export const ports = {
  Sessions: port(Host.Sessions, (state) => ({
    switchTo: (session) => set(state, "session", session),
    resetPointer: () => set(state, "pointer", undefined),
    restoreMetadata: (metadata) => set(state, "metadata", metadata)
  })),
  Recordings: port(Host.Recordings, (state) => ({
    rename: ({ sessionId }) => (state.recording === undefined ? none : set(state, "recording", `${sessionId}.cast`))
  })),
  CostTracker: port(Host.CostTracker, (state) => ({ restore: (_, cost) => set(state, "cost", cost) })),
  AgentRegistry: port(Host.AgentRegistry, (state) => ({
    restore: (agent) => {
      const isGone = agent.setting !== undefined && !state.agents.has(agent.setting)
      return search(set(state, "agent", isGone ? {} : agent), isGone)
    }
  })),
  Worktrees: port(Host.Worktrees, (state) => ({
    enter: (worktree) => {
      const isGone = worktree !== null && !state.worktrees.has(worktree.worktreePath ?? "")
      return search(set(state, "worktree", isGone ? null : worktree), isGone)
    }
  })),
  ContextCollapse: port(Host.ContextCollapse, (state) => ({
    restore: (collapse) => set(state, "collapse", collapse),
    reset: Effect.suspend(() => set(state, "collapse", undefined))
  })),
  Mode: port(Host.Mode, (state) => ({ restore: (modes) => set(state, "modes", modes) })),
  Skills: port(Host.Skills, (state) => ({ restore: (skills) => set(state, "skills", skills) })),
  SessionStartHooks: port(Host.SessionStartHooks, (state) => ({
    run: (start) => Effect.sync(() => state.hooks(start))
  })),
  FileHistoryStore: port(Host.FileHistoryStore, ({ backups }) => ({
    copy: ({ from, to }, history) =>
      Effect.sync(() => {
        const names = new Set(
          history.flatMap((one) => [...one.backups.values()].flatMap(({ backupFileName }) => backupFileName ?? []))
        )
        const there = backups.get(to.sessionId) ?? new Set()
        const [before, stored] = [there.size, backups.get(from)]
        const gone = [...names].filter((name) => !there.has(name) && stored?.has(name) !== true)
        for (const name of names) if (stored?.has(name) === true) there.add(name)
        if (there.size > 0) backups.set(to.sessionId, there)
        return { copied: there.size - before, gone }
      })
  })),
  PlanStore: port(Host.PlanStore, ({ plans }) => ({
    copy: ({ from, to }, plan) =>
      Effect.sync(() => {
        const stored = plans.get(from) ?? (plan.content === undefined ? undefined : plan)
        if (plans.has(to.sessionId)) return { copied: 0, gone: [] }
        if (stored === undefined) return { copied: 0, gone: [plan.path ?? plan.slug ?? []].flat() }
        plans.set(to.sessionId, stored)
        return { copied: 1, gone: [] }
      })
  }))
} as const

const none: Host.Step = Effect.succeed(Effect.void)

/**
 * All ports over a state of their own that begins as given.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (given: Partial<State>): Layer.Layer<HostMemory | Host.Loading | Host.Adopting> =>
  Layer.mergeAll(
    ports.Sessions,
    ports.Recordings,
    ports.CostTracker,
    ports.AgentRegistry,
    ports.Worktrees,
    ports.ContextCollapse,
    ports.Mode,
    ports.Skills,
    ports.SessionStartHooks,
    ports.FileHistoryStore,
    ports.PlanStore
  ).pipe(Layer.provideMerge(Layer.sync(HostMemory, () => ({ ...empty(), ...given }))))

/**
 * All ports over a state that begins empty.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<HostMemory | Host.Loading | Host.Adopting> = layerWith({})
