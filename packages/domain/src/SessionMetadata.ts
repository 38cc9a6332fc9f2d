/**
 * SessionMetadata: what is known about a session as a whole, folded from its metadata entries and messages.
 *
 *   custom-title · ai-title · last-prompt · summary · first prompt     the title: the first of these that is not empty
 *
 * 1. The last entry of a kind wins, whichever session wrote the line (RECOVERY §12). Pull requests accumulate.
 * 2. An empty string clears its step: the next one answers. An entry without its value says nothing.
 * 3. `restate` is the way back: the entries that say the metadata again, so that a reader of the log's tail sees it.
 * 4. The one title rule and the one first-prompt rule of the library; lists and sessions agree because both use them.
 */
import * as Boundary from "./Boundary.ts"
import * as Content from "./Content.ts"
import type * as Entry from "./Entry.ts"
import type * as Message from "./Message.ts"
import * as Metadata from "./Metadata.ts"
import * as Projection from "./Projection.ts"

/**
 * The folded metadata; what no entry said is absent. Times are ISO 8601 as written.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionMetadata {
  readonly title?: string
  readonly customTitle?: string
  readonly aiTitle?: string
  readonly tag?: string
  readonly lastPrompt?: string
  readonly summary?: string
  /** Summaries by the leaf of the branch that each describes. */
  readonly summaries: ReadonlyMap<string, string>
  readonly firstPrompt?: string
  readonly mode?: string
  readonly permissionMode?: string
  readonly agentName?: string
  readonly agentColor?: string
  readonly agentSetting?: string
  /** Absent: no worktree was ever entered, null: the last one was left. */
  readonly worktree?: Metadata.WorktreeSession | null
  /** Each once, in the order in which they were last linked; the last one is current. */
  readonly pullRequests: ReadonlyArray<Metadata.Of<"pr-link">>
  readonly bridge?: Metadata.Of<"bridge-session">
  readonly cost?: Metadata.Of<"cost-state">
  readonly toolsUsed?: ReadonlyArray<string>
  readonly taskSummary?: string
  /** Working directory of the first message, branch and version of the last one. */
  readonly cwd?: string
  readonly gitBranch?: string
  readonly version?: string
  readonly entrypoint?: string
  readonly slug?: string
  readonly createdAt?: string
  readonly updatedAt?: string
}

type Draft = {
  -readonly [K in keyof Omit<SessionMetadata, "pullRequests">]: SessionMetadata[K]
} & {
  summaries: Map<string, string>
  /** By what they name: a link that is restated is the same one, and becomes the last. */
  pullRequests: Map<string, Metadata.Of<"pr-link">>
  /** The first slash command, which names a session that has no other prompt. */
  command?: string
}

/** Sets a key where the entry has a value for it. */
const set = <K extends keyof Draft>(draft: Draft, key: K, value: Draft[K] | undefined): Draft => {
  if (value !== undefined) draft[key] = value as Draft[K]
  return draft
}

const ofMessage = (draft: Draft, entry: Entry.Message): Draft => {
  if (entry.isSidechain === true) return draft
  const { cwd, entrypoint, gitBranch, slug, version } = entry
  const timestamp = timeOf(entry)
  if (draft.cwd === undefined && cwd !== undefined) draft.cwd = cwd
  if (draft.createdAt === undefined && timestamp !== undefined) draft.createdAt = timestamp
  // Lines stand out of order and are written twice: what an older message says is not the latest.
  if (timestamp !== undefined && draft.updatedAt !== undefined && timestamp < draft.updatedAt) return draft
  if (gitBranch !== undefined) draft.gitBranch = gitBranch
  if (version !== undefined) draft.version = version
  if (entrypoint !== undefined) draft.entrypoint = entrypoint
  if (slug !== undefined) draft.slug = slug
  if (timestamp !== undefined) draft.updatedAt = timestamp
  return draft
}

const ofUser = (draft: Draft, entry: Message.User): Draft => {
  ofMessage(draft, entry)
  if (draft.firstPrompt !== undefined || entry.isSidechain === true) return draft
  const found = firstPromptOf(entry)
  if (found === undefined) return draft
  if (found.kind === "command") draft.command ??= found.text
  else draft.firstPrompt = found.text
  return draft
}

/**
 * Folds entries to the metadata of their session.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection: Projection.Projection<Entry.Entry, SessionMetadata> = Projection.map(
  Projection.match<Draft>(() => ({ summaries: new Map(), pullRequests: new Map() }), {
    user: ofUser,
    assistant: ofMessage,
    attachment: ofMessage,
    system: ofMessage,
    "custom-title": (draft, entry) => set(draft, "customTitle", entry.customTitle),
    "ai-title": (draft, entry) => set(draft, "aiTitle", entry.aiTitle),
    tag: (draft, entry) => set(draft, "tag", entry.tag),
    "last-prompt": (draft, entry) => set(draft, "lastPrompt", entry.lastPrompt),
    summary: (draft, entry) => {
      if (entry.summary !== undefined && entry.leafUuid !== undefined)
        draft.summaries.set(entry.leafUuid, entry.summary)
      return set(draft, "summary", entry.summary)
    },
    "task-summary": (draft, entry) => set(set(draft, "summary", entry.summary), "taskSummary", entry.summary),
    mode: (draft, entry) => set(draft, "mode", entry.mode),
    "permission-mode": (draft, entry) => set(draft, "permissionMode", entry.permissionMode),
    "agent-name": (draft, entry) => set(draft, "agentName", entry.agentName),
    "agent-color": (draft, entry) => set(draft, "agentColor", entry.agentColor),
    "agent-setting": (draft, entry) => set(draft, "agentSetting", entry.agentSetting),
    "worktree-state": (draft, entry) => set(draft, "worktree", entry.worktreeSession),
    "pr-link": (draft, entry) => {
      if (entry.prUrl === undefined && entry.prNumber === undefined) return draft
      const key = JSON.stringify([entry.prRepository, entry.prNumber, entry.prUrl])
      draft.pullRequests.delete(key)
      draft.pullRequests.set(key, entry)
      return draft
    },
    "bridge-session": (draft, entry) => set(draft, "bridge", entry),
    "cost-state": (draft, entry) => set(draft, "cost", entry),
    "tools-used": (draft, entry) => set(draft, "toolsUsed", entry.tools)
  }),
  ({ command, ...draft }) => {
    const firstPrompt = draft.firstPrompt ?? command
    const metadata = {
      ...draft,
      summaries: new Map(draft.summaries),
      pullRequests: [...draft.pullRequests.values()],
      ...(firstPrompt === undefined ? undefined : { firstPrompt })
    }
    const title = titleOf(metadata)
    return title === undefined ? metadata : { ...metadata, title }
  }
)

/** The kinds that are restated, in the order of FORMAT §8, each with the key that holds its value. */
const values: { readonly [K in Metadata.Kind]?: keyof Metadata.Of<K> } = {
  "last-prompt": "lastPrompt",
  "custom-title": "customTitle",
  "ai-title": "aiTitle",
  tag: "tag",
  "agent-name": "agentName",
  "agent-color": "agentColor",
  "agent-setting": "agentSetting",
  mode: "mode",
  "permission-mode": "permissionMode",
  "worktree-state": "worktreeSession",
  "pr-link": "prNumber"
}

/**
 * The key that holds the value of a kind which {@link restate} says again.
 *
 * @category getters
 * @since 0.1.0
 */
export const valueKey = (kind: Metadata.Kind): string | undefined => values[kind]

/**
 * Whether the entry sets a value that {@link restate} says again; one without its value says nothing.
 *
 * @category guards
 * @since 0.1.0
 */
export const isRestated = (entry: Entry.Entry): entry is Metadata.Metadata => {
  const key = Metadata.isKind(entry.type) ? valueKey(entry.type) : undefined
  return key !== undefined && (entry as { readonly [key: string]: unknown })[key] !== undefined
}

/**
 * The bodies that say the metadata again, in the order of FORMAT §8; `leafUuid` goes with the last prompt. An empty value
 * is said as well: what was cleared stays cleared for a reader of the tail.
 *
 * @category combinators
 * @since 0.1.0
 */
export const restate = (metadata: SessionMetadata, leafUuid?: string): ReadonlyArray<Metadata.Body> => {
  const { agentColor, agentName, agentSetting, aiTitle, customTitle, lastPrompt, mode, permissionMode, tag } = metadata
  const { worktree } = metadata
  const link = metadata.pullRequests.at(-1)
  const { sessionId: _, type: __, ...pullRequest } = link ?? { type: "pr-link" as const }
  return [
    lastPrompt === undefined
      ? undefined
      : Metadata.lastPrompt({ lastPrompt, ...(leafUuid === undefined ? {} : { leafUuid }) }),
    customTitle === undefined ? undefined : Metadata.customTitle(customTitle),
    aiTitle === undefined ? undefined : Metadata.aiTitle(aiTitle),
    tag === undefined ? undefined : Metadata.tag(tag),
    agentName === undefined ? undefined : Metadata.agentName(agentName),
    agentColor === undefined ? undefined : Metadata.agentColor(agentColor),
    agentSetting === undefined ? undefined : Metadata.agentSetting(agentSetting),
    mode === undefined ? undefined : Metadata.mode(mode),
    permissionMode === undefined ? undefined : Metadata.permissionMode(permissionMode),
    worktree === undefined ? undefined : Metadata.worktreeState(worktree),
    link === undefined ? undefined : Metadata.make("pr-link", pullRequest)
  ].filter((body) => body !== undefined)
}

/**
 * When a message was written, ISO 8601; undefined where it says none. Times are compared as text, so what is none would
 * stay the latest for ever.
 *
 * @category getters
 * @since 0.1.0
 */
export const timeOf = ({ timestamp }: Entry.Message): string | undefined =>
  timestamp !== undefined && /^\d{4}-\d\d-\d\dT/.test(timestamp) ? timestamp : undefined

/**
 * The title of a session: custom, else generated, else last prompt, else summary, else first prompt (FORMAT §6).
 *
 * @category getters
 * @since 0.1.0
 */
export const titleOf = (
  metadata: Pick<SessionMetadata, "customTitle" | "aiTitle" | "lastPrompt" | "summary" | "firstPrompt">
): string | undefined =>
  metadata.customTitle ||
  metadata.aiTitle ||
  metadata.lastPrompt ||
  metadata.summary ||
  metadata.firstPrompt ||
  undefined

/**
 * What a user entry offers as the first prompt: its text, or the name of the command that it runs, which counts only
 * when no entry offers a text (FORMAT §6).
 *
 * @category getters
 * @since 0.1.0
 */
export const firstPromptOf = (
  entry: Message.User
): { readonly kind: "prompt" | "command"; readonly text: string } | undefined => {
  if (entry.isMeta === true || Boundary.isCompactSummary(entry)) return undefined
  const blocks = Content.blocks(entry.message.content)
  if (blocks.some((block) => block.type === "tool_result")) return undefined
  let command: string | undefined
  for (const block of blocks) {
    if (!Content.isText(block)) continue
    const text = block.text.replaceAll("\n", " ").trim()
    const name = within(text, "command-name")
    if (name !== undefined) {
      command ??= name
      continue
    }
    const bash = within(text, "bash-input")
    if (bash !== undefined) return { kind: "prompt", text: `! ${bash}` }
    if (text === "" || isInjected.test(text)) continue
    return { kind: "prompt", text: cut(text) }
  }
  return command === undefined ? undefined : { kind: "command", text: command }
}

/** What stands within the first pair of a tag. */
const within = (text: string, tag: string): string | undefined => {
  const start = text.indexOf(`<${tag}>`) + tag.length + 2
  const end = text.indexOf(`</${tag}>`, start)
  return start < tag.length + 2 || end < 0 ? undefined : text.slice(start, end)
}

/** A tag that programs wrap their texts in, or the marker of an interruption. */
const isInjected = /^\s*(?:<[a-z][\w-]*[\s>]|\[Request interrupted by user)/

const limit = 200

const cut = (text: string): string => {
  if (text.length <= limit) return text
  const splitsPair = text.codePointAt(limit - 1)! > 0xffff
  return `${text.slice(0, splitsPair ? limit - 1 : limit).trim()}…`
}
