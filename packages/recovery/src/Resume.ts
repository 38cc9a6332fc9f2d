/**
 * Resume: one process takes over where another left off (RECOVERY §14). Of files it knows nothing.
 *
 *   load    resolve ─ complete ─ recover ─ copy plan, file history ─ consistency ─ skills ─ messages ─ hooks ─▶ plan
 *   adopt   claim ─ (a) session (b) recording (c) pointer (d) cost     not of a fork
 *                 ─ (e) agent (f) metadata (g) worktree (h) file (i) collapse, mode ─ skills ─▶ open session
 *
 * 1. Loading changes nothing of the program that runs: it reads, copies what is not there yet, and asks hooks.
 * 2. Adopting is done as a whole or not at all. Whatever fails, dies or is interrupted, the steps before it are undone in
 *    reverse, and the session that ran before is as it was.
 * 3. The log gets nothing but restated metadata until the next prompt, so that resuming many times is resuming once.
 * 4. Drift, and what the host no longer has, is a finding; drift is counted in `drift` as well. Neither is an error.
 */
import * as Finding from "@reprise/domain/Finding"
import * as Projection from "@reprise/domain/Projection"
import * as SessionSource from "@reprise/domain/SessionSource"
import type * as Suffix from "@reprise/domain/Suffix"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import * as Host from "./Host.ts"
import * as Undoing from "./internal/undoing.ts"
import * as ModelMessages from "./ModelMessages.ts"
import * as Recovery from "./Recovery.ts"
import * as ResumePlan from "./ResumePlan.ts"
import * as SessionState from "./SessionState.ts"

/**
 * Why a session is not resumed.
 *
 * @category errors
 * @since 0.1.0
 */
export type ResumeError = SessionSource.Unresolved | SessionSource.SessionLocked | Host.HostFailed

/**
 * Counts checkpoints of resumed sessions that state another number than was recovered.
 *
 * @category metrics
 * @since 0.1.0
 */
export const drift = Metric.counter("reprise_resume_drift", {
  description: "Checkpoints of resumed sessions that count other entries than were recovered"
})

/**
 * How a session is loaded: as a fork of another one; how much of its log is read (all); from which leaf it goes on; what
 * is done about calls without a result.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoadOptions extends Pick<Recovery.Options, "leaf"> {
  readonly fork?: boolean
  readonly history?: Suffix.History
  readonly unresolved?: ModelMessages.Unresolved
}

/**
 * Makes the plan of a session.
 *
 * @category running
 * @since 0.1.0
 */
export const load = Effect.fn("Resume.load")(function* (source: SessionSource.Source, options: LoadOptions = {}) {
  const isFork = options.fork === true
  const port = yield* SessionSource.SessionSource
  const steps: Array<ResumePlan.Step> = []
  const done = (name: ResumePlan.Step["name"], isDone = true): void =>
    void steps.push({ name, outcome: isDone ? "done" : "unchanged" })
  const found: Array<Finding.Finding> = []
  const missing = (what: string, names: ReadonlyArray<string>): void =>
    names.forEach((name) => found.push(Finding.make("host-missing", { what, name })))

  const place = yield* port.resolve(source)
  done("resolve")
  const { entries } = source._tag === "Loaded" ? source : {}
  const { answer: state, reading, size } = yield* recovered(place, entries, options)
  done("complete", entries === undefined)
  done("recover")

  const named = ResumePlan.sessionIdOf(place, state)
  const sessionId = named ?? (yield* port.newSessionId)
  if (named === undefined) found.push(Finding.make("session-unnamed", { sessionId }))
  const session: Host.Session = { sessionId, path: place.path }
  const copy: Host.Copy = { from: ResumePlan.writerOf(state) ?? sessionId, to: session }
  const plan = yield* Host.PlanStore.use((store) => store.copy(copy, state.skills.plan))
  done("copy-plan", plan.copied > 0)
  missing("plan", plan.gone)
  const backups = yield* Host.FileHistoryStore.use((store) => store.copy(copy, state.snapshots.fileHistory))
  done("copy-file-history", backups.copied > 0)
  missing("backup", backups.gone)

  const { checked, drift: drifted } = state.consistency
  if (drifted.length > 0) yield* Metric.update(drift, drifted.length)
  done("consistency", checked > 0)
  const { plan: planned, skills, todos } = state.skills
  done("skills", skills.size > 0 || todos.length > 0 || Object.keys(planned).length > 0)
  const { unresolved } = options
  const view = ModelMessages.make(state, unresolved === undefined ? {} : { unresolved })
  done("messages")
  const hooks = yield* Host.SessionStartHooks.use((port) =>
    port.run({ ...session, source: isFork ? "fork" : "resume" })
  )
  done("hooks", hooks.length > 0)
  const { leaf } = options
  return ResumePlan.make({ sessionId, place, size, reading, isFork, leaf, steps, hooks, state, view, found })
})

const leafOptions = (leaf: ResumePlan.ResumePlan["leaf"]): Pick<Recovery.Options, "leaf"> =>
  leaf === undefined ? {} : { leaf }

/** The state of the log, from the entries that the program holds where it does. */
const recovered = (
  place: SessionSource.Place,
  entries: Parameters<typeof Recovery.fold>[0] | undefined,
  { history, leaf }: LoadOptions
): Effect.Effect<
  SessionSource.Answer<SessionState.SessionState>,
  SessionSource.SourceFailed,
  SessionSource.SessionSource
> => {
  const options = leafOptions(leaf)
  if (entries === undefined) {
    return SessionSource.SessionSource.use((port) => port.read(place, Recovery.judged(options), history))
  }
  return Effect.sync(() => {
    const answer = Projection.fold(Recovery.make(options), entries)
    return { answer, size: answer.extent.byteEnd }
  })
}

/**
 * How a plan is adopted: as a fork or not (by default as it was loaded), and in which directory what is said next happens
 * where the session is in no worktree (by default that of the session).
 *
 * @category models
 * @since 0.1.0
 */
export interface AdoptOptions {
  readonly fork?: boolean
  readonly cwd?: string
}

/**
 * The session that goes on, open until the scope ends. `hasMoved`: somebody appended to it since it was loaded, so that
 * its next message hangs on another one than the plan ends with; load it again to see what was said.
 *
 * @category models
 * @since 0.1.0
 */
export interface Resumed {
  readonly session: SessionSource.Adopted
  readonly findings: ReadonlyArray<Finding.Finding>
  readonly hasMoved: boolean
}

/**
 * Takes over the session of a plan.
 *
 * @category running
 * @since 0.1.0
 */
export const adopt = Effect.fn("Resume.adopt")(function* (plan: ResumePlan.ResumePlan, options: AdoptOptions = {}) {
  return yield* Undoing.steps((take) => steps(take, plan, { fork: plan.isFork, ...options }))
})

const steps = Effect.fnUntraced(function* (take: Undoing.Take, plan: ResumePlan.ResumePlan, options: AdoptOptions) {
  const { agent, collapse, place, sessionId, worktree } = plan
  const session: Host.Session = { sessionId, path: place.path }
  const findings: Array<Finding.Finding> = []
  // Before the seed's first step: a session that is not to be had must cost nothing.
  const port = yield* SessionSource.SessionSource
  const claimed = yield* scoped(take, port.claim(place))

  const step = <R>(made: Effect.Effect<Host.Undo, Host.HostFailed, R>) => Effect.asVoid(take(made, (undo) => undo))
  const search = <R>(made: Effect.Effect<Effect.Success<Host.Search>, Host.HostFailed, R>, what: string, name = "") =>
    Effect.map(
      take(made, ({ undo }) => undo),
      ({ isGone }) => {
        if (isGone) findings.push(Finding.make("host-missing", { what, name }))
        return !isGone
      }
    )
  const sessions = yield* Host.Sessions
  if (options.fork !== true) {
    yield* step(sessions.switchTo(session))
    yield* step(Host.Recordings.use((port) => port.rename(session)))
    yield* step(sessions.resetPointer(session))
    yield* step(Host.CostTracker.use((port) => port.restore(session, plan.cost)))
  }
  yield* search(
    Host.AgentRegistry.use((port) => port.restore(agent)),
    "agent",
    agent.setting ?? agent.name
  )
  yield* step(sessions.restoreMetadata(plan.metadata))
  const directory = worktree?.worktreePath
  const isThere = yield* search(
    Host.Worktrees.use((port) => port.enter(worktree)),
    "worktree",
    directory
  )
  const adopted = yield* scoped(
    take,
    port.adopt(claimed, {
      ...stamp(plan, options, isThere ? directory : undefined),
      sessionId,
      // What is gone was left: no log says again that the session is in it.
      metadata: isThere ? plan.metadata : { ...plan.metadata, worktree: null },
      loadedSize: plan.size,
      leaf: Recovery.leafWith(leafOptions(plan.leaf)),
      ...(plan.reading !== undefined && { known: { reading: plan.reading, leaf: Recovery.leafOf(plan.state) } })
    })
  )
  const isCollapsed = collapse.commits.length > 0 || collapse.staged !== undefined
  yield* step(Host.ContextCollapse.use((port) => (isCollapsed ? port.restore(collapse) : port.reset)))
  yield* step(Host.Mode.use((port) => port.restore(plan.modes)))
  yield* step(Host.Skills.use((port) => port.restore(plan.skills)))

  const hasMoved = (yield* adopted.tail) !== (SessionState.leafOf(plan.state)?.uuid ?? null)
  const resumed: Resumed = { session: adopted, findings, hasMoved }
  return resumed
})

/** Acquires in a scope of its own within that of the session: undoing closes it, and else it ends with the session. */
const scoped = <A, E, R>(take: Undoing.Take, acquire: Effect.Effect<A, E, R | Scope.Scope>) =>
  Effect.gen(function* () {
    const outer = yield* Scope.Scope
    const inner = yield* take(Scope.fork(outer), (scope) => Scope.close(scope, Exit.void))
    return yield* Scope.provide(acquire, inner)
  })

/** Where, and on which branch, what is said next happens. */
const stamp = (
  { metadata }: ResumePlan.ResumePlan,
  options: AdoptOptions,
  entered: string | undefined
): Pick<SessionSource.Adopting, "cwd" | "gitBranch"> => {
  const cwd = entered ?? options.cwd ?? metadata.cwd
  const { gitBranch } = metadata
  return { ...(cwd === undefined ? {} : { cwd }), ...(gitBranch === undefined ? {} : { gitBranch }) }
}
