/**
 * Host: what a program that embeds sessions gives for one to be resumed in it. Eleven ports, each a service.
 *
 *   asked by load     PlanStore · FileHistoryStore · SessionStartHooks
 *   asked by adopt    Sessions · Recordings · CostTracker · AgentRegistry · Worktrees · ContextCollapse · Mode · Skills
 *
 * 1. What changes the running program answers with how it is undone. A step that fails, dies or is interrupted has
 *    changed nothing, or has put it back; one that is done is undone by its answer.
 * 2. A host that lacks a thing provides its `layerNone`, which does nothing. `HostMemory` has each of them in memory.
 */
import type * as Message from "@reprise/domain/Message"
import type * as Metadata from "@reprise/domain/Metadata"
import type { SessionMetadata } from "@reprise/domain/SessionMetadata"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SkillState } from "./SkillState.ts"
import type { FileHistory, Snapshots } from "./Snapshots.ts"

/**
 * A port of the host did not do what it was asked for; `cause` says why.
 *
 * @category errors
 * @since 0.1.0
 */
export class HostFailed extends Schema.TaggedError<HostFailed>()("HostFailed", {
  port: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const found = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `the host's ${this.port} failed: ${found}. The session that ran before is as it was; try again`
  }
}

/**
 * Takes back what a step did.
 *
 * @category models
 * @since 0.1.0
 */
export type Undo = Effect.Effect<void>

/**
 * A step of taking over.
 *
 * @category models
 * @since 0.1.0
 */
export type Step = Effect.Effect<Undo, HostFailed>

/**
 * A step towards something that may be gone by now; then the host has fallen back to what it has without it.
 *
 * @category models
 * @since 0.1.0
 */
export type Search = Effect.Effect<{ readonly undo: Undo; readonly isGone: boolean }, HostFailed>

/**
 * The session that goes on, and where its log is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session {
  readonly sessionId: string
  readonly path: string
}

/**
 * From which session to which files are copied; they are the same unless the log is a fork, was renamed or comes from
 * elsewhere.
 *
 * @category models
 * @since 0.1.0
 */
export interface Copy {
  readonly from: string
  readonly to: Session
}

/**
 * How many files were copied, and those that are gone, by name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Copied {
  readonly copied: number
  readonly gone: ReadonlyArray<string>
}

/**
 * The agent that a session ran as: its setting, and the name and colour that it shows.
 *
 * @category models
 * @since 0.1.0
 */
export interface Agent {
  readonly setting?: string
  readonly name?: string
  readonly color?: string
}

/**
 * The modes of a session; what no entry said is absent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Modes {
  readonly mode?: string
  readonly permissionMode?: string
}

/**
 * How a session starts again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Start extends Session {
  readonly source: "resume" | "fork"
}

const unchanged: Step = Effect.succeed(Effect.void)
const found: Search = Effect.succeed({ undo: Effect.void, isGone: false })
const nothing = Effect.succeed<Copied>({ copied: 0, gone: [] })

/**
 * Which session the program runs.
 *
 * @category services
 * @since 0.1.0
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    readonly switchTo: (session: Session) => Step
    /** Forgets where the old session was written; the new place is bound when its file is adopted. */
    readonly resetPointer: (session: Session) => Step
    /** Restores the metadata that the program shows and goes by. */
    readonly restoreMetadata: (metadata: SessionMetadata) => Step
  }
>()("@reprise/recovery/Host/Sessions") {
  static readonly layerNone = Layer.succeed(Sessions)({
    switchTo: () => unchanged,
    resetPointer: () => unchanged,
    restoreMetadata: () => unchanged
  })
}

/**
 * Recordings of the terminal, named by their session.
 *
 * @category services
 * @since 0.1.0
 */
export class Recordings extends Context.Service<Recordings, { readonly rename: (session: Session) => Step }>()(
  "@reprise/recovery/Host/Recordings"
) {
  static readonly layerNone = Layer.succeed(Recordings)({ rename: () => unchanged })
}

/**
 * What a session has cost so far; nothing: its log does not say.
 *
 * @category services
 * @since 0.1.0
 */
export class CostTracker extends Context.Service<
  CostTracker,
  { readonly restore: (session: Session, cost: Metadata.Of<"cost-state"> | undefined) => Step }
>()("@reprise/recovery/Host/CostTracker") {
  static readonly layerNone = Layer.succeed(CostTracker)({ restore: () => unchanged })
}

/**
 * The agents that there are. One that no longer exists is gone: the program goes on as its default one.
 *
 * @category services
 * @since 0.1.0
 */
export class AgentRegistry extends Context.Service<AgentRegistry, { readonly restore: (agent: Agent) => Search }>()(
  "@reprise/recovery/Host/AgentRegistry"
) {
  static readonly layerNone = Layer.succeed(AgentRegistry)({ restore: () => found })
}

/**
 * The worktrees: enters that of the session, or leaves the one that the program is in (null). One whose directory is gone
 * is not entered.
 *
 * @category services
 * @since 0.1.0
 */
export class Worktrees extends Context.Service<
  Worktrees,
  { readonly enter: (worktree: Metadata.WorktreeSession | null) => Search }
>()("@reprise/recovery/Host/Worktrees") {
  static readonly layerNone = Layer.succeed(Worktrees)({ enter: () => found })
}

/**
 * Context collapse: takes the commits in their order with the last staged snapshot, or starts anew where there is none.
 *
 * @category services
 * @since 0.1.0
 */
export class ContextCollapse extends Context.Service<
  ContextCollapse,
  { readonly restore: (collapse: Snapshots["collapse"]) => Step; readonly reset: Step }
>()("@reprise/recovery/Host/ContextCollapse") {
  static readonly layerNone = Layer.succeed(ContextCollapse)({ restore: () => unchanged, reset: unchanged })
}

/**
 * The mode in which the program works, and what it may do without asking.
 *
 * @category services
 * @since 0.1.0
 */
export class Mode extends Context.Service<Mode, { readonly restore: (modes: Modes) => Step }>()(
  "@reprise/recovery/Host/Mode"
) {
  static readonly layerNone = Layer.succeed(Mode)({ restore: () => unchanged })
}

/**
 * What a later compaction has to say again: invoked skills, todos, the plan.
 *
 * @category services
 * @since 0.1.0
 */
export class Skills extends Context.Service<Skills, { readonly restore: (skills: SkillState) => Step }>()(
  "@reprise/recovery/Host/Skills"
) {
  static readonly layerNone = Layer.succeed(Skills)({ restore: () => unchanged })
}

/**
 * Runs when a session starts; what it answers is said to the model behind all else.
 *
 * @category services
 * @since 0.1.0
 */
export class SessionStartHooks extends Context.Service<
  SessionStartHooks,
  { readonly run: (start: Start) => Effect.Effect<ReadonlyArray<Message.MessageBody>, HostFailed> }
>()("@reprise/recovery/Host/SessionStartHooks") {
  static readonly layerNone = Layer.succeed(SessionStartHooks)({ run: () => Effect.succeed([]) })
}

/**
 * The backups of files that a session changed: links or copies those of its history to the session that goes on. What is
 * there already is left alone.
 *
 * @category services
 * @since 0.1.0
 */
export class FileHistoryStore extends Context.Service<
  FileHistoryStore,
  { readonly copy: (copy: Copy, history: ReadonlyArray<FileHistory>) => Effect.Effect<Copied, HostFailed> }
>()("@reprise/recovery/Host/FileHistoryStore") {
  static readonly layerNone = Layer.succeed(FileHistoryStore)({ copy: () => nothing })
}

/**
 * The plans of sessions: copies that of the log, or writes it from its last text where the file is gone. What is there
 * already is left alone.
 *
 * @category services
 * @since 0.1.0
 */
export class PlanStore extends Context.Service<
  PlanStore,
  { readonly copy: (copy: Copy, plan: SkillState["plan"]) => Effect.Effect<Copied, HostFailed> }
>()("@reprise/recovery/Host/PlanStore") {
  static readonly layerNone = Layer.succeed(PlanStore)({ copy: () => nothing })
}

/**
 * The ports that loading asks.
 *
 * @category services
 * @since 0.1.0
 */
export type Loading = PlanStore | FileHistoryStore | SessionStartHooks

/**
 * The ports that taking over asks.
 *
 * @category services
 * @since 0.1.0
 */
export type Adopting = Sessions | Recordings | CostTracker | AgentRegistry | Worktrees | ContextCollapse | Mode | Skills

/**
 * A host that has none of it: a program that only wants the messages.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNone: Layer.Layer<Loading | Adopting> = Layer.mergeAll(
  Sessions.layerNone,
  Recordings.layerNone,
  CostTracker.layerNone,
  AgentRegistry.layerNone,
  Worktrees.layerNone,
  ContextCollapse.layerNone,
  Mode.layerNone,
  Skills.layerNone,
  SessionStartHooks.layerNone,
  FileHistoryStore.layerNone,
  PlanStore.layerNone
)
