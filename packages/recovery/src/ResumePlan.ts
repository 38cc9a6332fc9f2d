/**
 * ResumePlan: all that is needed to go on with a session, before anything of the running program has changed.
 *
 *   SessionState ─ view ─ interruption ─ what hooks say ─▶ messages
 *                └ agent, modes, worktree, cost, file history, …, findings, drift
 *
 * A plan is a value: it can be looked at, thrown away, or adopted (`Resume.adopt`).
 */
import * as Content from "@reprise/domain/Content"
import type * as Finding from "@reprise/domain/Finding"
import * as Identifier from "@reprise/domain/Identifier"
import type * as Message from "@reprise/domain/Message"
import type * as Metadata from "@reprise/domain/Metadata"
import type { SessionMetadata } from "@reprise/domain/SessionMetadata"
import type * as SessionSource from "@reprise/domain/SessionSource"
import type { Drift } from "./Consistency.ts"
import type * as Host from "./Host.ts"
import * as Interruption from "./Interruption.ts"
import * as ModelContent from "./ModelContent.ts"
import * as ModelMessages from "./ModelMessages.ts"
import type { LeafPolicy } from "./SessionGraph.ts"
import * as SessionState from "./SessionState.ts"
import type { SkillState } from "./SkillState.ts"
import type { Snapshots } from "./Snapshots.ts"

/**
 * What was done to make a plan, in its order. `unchanged`: there was nothing to do.
 *
 * @category models
 * @since 0.1.0
 */
export interface Step {
  readonly name:
    | "resolve"
    | "complete"
    | "recover"
    | "copy-plan"
    | "copy-file-history"
    | "consistency"
    | "skills"
    | "messages"
    | "hooks"
  readonly outcome: "done" | "unchanged"
}

/**
 * The plan. `size` is that of the log in bytes when it was read.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResumePlan {
  readonly sessionId: string
  readonly place: SessionSource.Place
  readonly size: number
  /** What the source remembers of the log: adopting reads it again only where it changed. */
  readonly reading: SessionSource.Reading | undefined
  readonly isFork: boolean
  /** By which rule the leaf was chosen, where it was not the log's own. */
  readonly leaf: LeafPolicy | undefined
  readonly steps: ReadonlyArray<Step>
  /** What is sent to the model: the view of the conversation, what makes an interrupted turn go on, what hooks say. */
  readonly messages: ReadonlyArray<ModelMessages.ModelMessage>
  /** What of the conversation is not sent, and why. */
  readonly omitted: ModelMessages.ModelView["omitted"]
  /** What the hooks said, to be appended with the next prompt; nothing of it is in the log yet. */
  readonly hooks: ReadonlyArray<Message.MessageBody>
  readonly interruption: Interruption.Interruption
  readonly metadata: SessionMetadata
  readonly agent: Host.Agent
  readonly modes: Host.Modes
  readonly worktree: Metadata.WorktreeSession | null
  readonly cost: Metadata.Of<"cost-state"> | undefined
  readonly fileHistory: Snapshots["fileHistory"]
  readonly attribution: Snapshots["attribution"]
  readonly replacements: Snapshots["replacements"]
  readonly collapse: Snapshots["collapse"]
  readonly skills: SkillState
  readonly findings: ReadonlyArray<Finding.Finding>
  readonly drift: ReadonlyArray<Drift>
  /** All else that was recovered: the conversation, its leaf, branches. */
  readonly state: SessionState.SessionState
}

/**
 * The session that a log is resumed as: that of its name, else that of its leaf; nothing where neither tells one.
 *
 * @category getters
 * @since 0.1.0
 */
export const sessionIdOf = (
  { sessionId }: SessionSource.Place,
  state: SessionState.SessionState
): string | undefined => {
  const written = SessionState.leafOf(state)?.entry.sessionId ?? state.sessionId
  return sessionId ?? (Identifier.isSessionId(written) ? written : undefined)
}

/**
 * The session whose files belong to a log: that which wrote its leaf, before the log was forked from it.
 *
 * @category getters
 * @since 0.1.0
 */
export const writerOf = (state: SessionState.SessionState): string | undefined => {
  const leaf = SessionState.leafOf(state)?.entry
  return leaf?.forkedFrom?.sessionId ?? leaf?.sessionId ?? state.sessionId
}

/**
 * What a plan is made of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parts extends Pick<
  ResumePlan,
  "sessionId" | "place" | "size" | "reading" | "isFork" | "leaf" | "steps" | "hooks" | "state"
> {
  readonly view: ModelMessages.ModelView
  /** What was found while the plan was made. */
  readonly found: ReadonlyArray<Finding.Finding>
}

/**
 * The plan of a recovered session.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ found, view, ...parts }: Parts): ResumePlan => {
  const { consistency, conversation, findings, metadata, skills, snapshots } = parts.state
  const { agentColor: color, agentName: name, agentSetting: setting, mode, permissionMode } = metadata
  const interruption = Interruption.judge(conversation, view)
  const { messages, omitted } = Interruption.inject(view, interruption)
  return {
    ...parts,
    messages: parts.hooks.reduce((said, body) => ModelMessages.followedBy(said, sentOf(body)), messages),
    omitted,
    interruption,
    metadata,
    agent: defined({ setting, name, color }),
    modes: defined({ mode, permissionMode }),
    worktree: metadata.worktree ?? null,
    cost: metadata.cost,
    fileHistory: snapshots.fileHistory,
    attribution: snapshots.attribution,
    replacements: snapshots.replacements,
    collapse: snapshots.collapse,
    skills,
    findings: [...findings, ...view.findings, ...found],
    drift: consistency.drift
  }
}

/** The blocks of a body that a hook said; a reply is none that it could say. */
const sentOf = (body: Message.MessageBody): ReadonlyArray<Content.Block> => {
  if (body.type === "assistant") return []
  return body.type === "user" ? ModelContent.ofUser(Content.blocks(body.message.content)) : ModelContent.ofNote(body)
}

const defined = <K extends string>(keys: {
  readonly [P in K]: string | undefined
}): { readonly [P in K]?: string } =>
  Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined)) as { readonly [P in K]?: string }
