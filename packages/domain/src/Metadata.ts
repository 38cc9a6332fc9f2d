/**
 * Metadata: entries about the session as a whole, outside the parent chain (FORMAT §3.7).
 *
 * 1. They have no id of their own: a `uuid` that one carries is not a message id.
 * 2. How they fold into a state is the matter of SessionMetadata.ts; here is only what each says.
 * 3. Every value may be absent or of another type in a log, so every key is optional; an entry without its value says
 *    nothing. Null is not a value, but for `worktreeSession`.
 *
 * Constructors make bodies: the writer adds `sessionId`, which clients need to see the line (FORMAT §6).
 */
import * as Schema from "effect/Schema"
import * as Wire from "./internal/wire.ts"

const { count, each, text, texts } = Wire

const metadata = <const T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.tag(type), ...fields, sessionId: text })

const WorktreeSession = Schema.Struct({
  ...each(text, "originalCwd", "preEnterOriginalCwd", "worktreePath", "worktreeName", "worktreeBranch"),
  ...each(text, "originalBranch", "originalHeadCommit", "sessionId", "tmuxSessionName"),
  hookBased: Wire.any
})

/**
 * The schema of each metadata entry, by its wire type.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schemas = {
  /** Generated title of the branch that ends in `leafUuid`, usually another session's (until 2.1.29). */
  summary: metadata("summary", { summary: text, leafUuid: text }),
  /** Title set by the user; `""` clears it. */
  "custom-title": metadata("custom-title", { customTitle: text }),
  "ai-title": metadata("ai-title", { aiTitle: text }),
  /** Label; `""` clears it. */
  tag: metadata("tag", { tag: text }),
  "agent-name": metadata("agent-name", { agentName: text }),
  "agent-color": metadata("agent-color", { agentColor: text }),
  /** The agent definition in use. */
  "agent-setting": metadata("agent-setting", { agentSetting: text }),
  /** `normal`, `coordinator` (open). */
  mode: metadata("mode", { mode: text }),
  /** `default`, `acceptEdits`, `plan`, `auto`, `dontAsk`, `bypassPermissions` (open). */
  "permission-mode": metadata("permission-mode", { permissionMode: text }),
  /** The last typed prompt, and the leaf when it was written. */
  "last-prompt": metadata("last-prompt", { lastPrompt: text, leafUuid: text }),
  "pr-link": metadata("pr-link", { prNumber: count, ...each(text, "prUrl", "prRepository", "timestamp") }),
  /** `null`: the session left its worktree. */
  "worktree-state": metadata("worktree-state", { worktreeSession: Wire.nullable(WorktreeSession) }),
  "bridge-session": metadata("bridge-session", {
    bridgeSessionId: text,
    lastSequenceNum: count,
    ...each(text, "ownerAccountUuid", "ownerOrganizationUuid")
  }),
  "atis-latch": metadata("atis-latch", { atis: Wire.any }),
  /** All tools used so far. */
  "tools-used": metadata("tools-used", { tools: texts }),
  /** Running totals of the process that wrote it: US dollars, milliseconds, lines; `startTime` is Unix time in ms. */
  "cost-state": metadata("cost-state", {
    ...each(count, "totalCostUSD", "totalAPIDuration", "totalAPIDurationWithoutRetries", "totalToolDuration"),
    ...each(count, "totalDuration", "totalLinesAdded", "totalLinesRemoved", "startTime"),
    modelUsage: Wire.nullable(Schema.Record(Schema.String, Schema.Unknown)),
    hasUnknownModelCost: Wire.flag
  }),
  /** What a background task is doing (known from third parties). */
  "task-summary": metadata("task-summary", { summary: text, timestamp: text })
} as const

/**
 * The wire type of a metadata entry.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = keyof typeof schemas

/**
 * The metadata entry of a wire type.
 *
 * @category models
 * @since 0.1.0
 */
export type Of<K extends Kind> = (typeof schemas)[K]["Type"]

/**
 * Any metadata entry.
 *
 * @category models
 * @since 0.1.0
 */
export type Metadata = { readonly [K in Kind]: Of<K> }[Kind]

/**
 * The worktree that a session runs in.
 *
 * @category models
 * @since 0.1.0
 */
export type WorktreeSession = typeof WorktreeSession.Type

/**
 * A metadata entry without its session, which the writer adds.
 *
 * @category models
 * @since 0.1.0
 */
export type Body<K extends Kind = Kind> = { readonly [P in K]: Omit<Of<P>, "sessionId"> }[K]

/**
 * All schemas, for a union.
 *
 * @category schemas
 * @since 0.1.0
 */
export const all = Object.values(schemas)

/**
 * Does an entry of this wire type hold metadata?
 *
 * @category guards
 * @since 0.1.0
 */
export const isKind = (type: unknown): type is Kind => typeof type === "string" && Object.hasOwn(schemas, type)

/**
 * The body of a metadata entry of any kind, `type` first.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <K extends Kind>(type: K, value: Omit<Of<K>, "type" | "sessionId">): Body<K> =>
  ({ type, ...value }) as unknown as Body<K>

/**
 * Title set by the user; `""` clears it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const customTitle = (customTitle: string) => make("custom-title", { customTitle })

/**
 * Generated title.
 *
 * @category constructors
 * @since 0.1.0
 */
export const aiTitle = (aiTitle: string) => make("ai-title", { aiTitle })

/**
 * Label of the session; `""` clears it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const tag = (tag: string) => make("tag", { tag })

/**
 * Name of the session or teammate.
 *
 * @category constructors
 * @since 0.1.0
 */
export const agentName = (agentName: string) => make("agent-name", { agentName })

/**
 * Colour in which the agent is shown.
 *
 * @category constructors
 * @since 0.1.0
 */
export const agentColor = (agentColor: string) => make("agent-color", { agentColor })

/**
 * Agent definition in use.
 *
 * @category constructors
 * @since 0.1.0
 */
export const agentSetting = (agentSetting: string) => make("agent-setting", { agentSetting })

/**
 * Mode of the session.
 *
 * @category constructors
 * @since 0.1.0
 */
export const mode = (mode: string) => make("mode", { mode })

/**
 * What the agent may do without asking.
 *
 * @category constructors
 * @since 0.1.0
 */
export const permissionMode = (permissionMode: string) => make("permission-mode", { permissionMode })

/**
 * The last typed prompt, and the leaf of the chain when it is written.
 *
 * @category constructors
 * @since 0.1.0
 */
export const lastPrompt = (value: { readonly lastPrompt?: string; readonly leafUuid?: string }) =>
  make("last-prompt", value)

/**
 * A pull request that the session works on; `timestamp` is ISO 8601.
 *
 * @category constructors
 * @since 0.1.0
 */
export const prLink = (value: {
  readonly prNumber: number
  readonly prUrl: string
  readonly prRepository: string
  readonly timestamp: string
}) => make("pr-link", value)

/**
 * The worktree that the session entered, or null where it left.
 *
 * @category constructors
 * @since 0.1.0
 */
export const worktreeState = (worktreeSession: WorktreeSession | null) => make("worktree-state", { worktreeSession })
