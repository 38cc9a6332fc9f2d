/**
 * SessionState: what a log recovers to.
 *
 *   conversation   root to leaf, from the last boundary on
 *   branches       what the conversation left · removed, by snips · archived, before the boundary · sidechains
 *   metadata       titles, mode, worktree, … · snapshots of what stands beside the conversation
 *   findings       what was damaged or repaired · drift · extent, which bytes were read
 */
import type * as Finding from "@reprise/domain/Finding"
import type { SessionMetadata } from "@reprise/domain/SessionMetadata"
import type { History } from "@reprise/domain/Suffix"
import * as Equal from "effect/Equal"
import type { Branch } from "./Branches.ts"
import type { Consistency } from "./Consistency.ts"
import type { Sidechain } from "./Lanes.ts"
import type { Node } from "./SessionGraph.ts"
import type { SkillState } from "./SkillState.ts"
import type { Snapshots } from "./Snapshots.ts"
import type { Usage } from "./Usage.ts"

/**
 * Which part of the log was read: bytes from `byteStart` up to `byteEnd`, and how many lines. What only the whole log
 * can tell (branches, archived) belongs to this extent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Extent {
  readonly byteStart: number
  readonly byteEnd: number
  readonly lines: number
  /** Absent: the log was read from its first line on. */
  readonly partial?: Partial
}

/**
 * What was read of a log that was not read as a whole, and which keys of the state therefore tell of that part alone.
 * All others are those of the whole log. Where metadata was not read, line numbers count from `byteStart`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Partial {
  readonly history: Exclude<History, "full">
  readonly unknown: ReadonlyArray<keyof SessionState>
}

/**
 * What only the whole log can tell, by how much of it was read.
 *
 * @category constants
 * @since 0.1.0
 */
export const unknown: { readonly [H in Partial["history"]]: Partial["unknown"] } = {
  suffix: [
    "sessionId",
    "removed",
    "archived",
    "branches",
    "sidechains",
    "messages",
    "metadata",
    "snapshots",
    "skills",
    "usage",
    "consistency",
    "findings"
  ],
  metadata: ["removed", "archived", "branches", "sidechains", "messages", "skills", "usage", "consistency", "findings"]
}

/**
 * The recovered session.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionState {
  /** The session that wrote the first line which names one. */
  readonly sessionId: string | undefined
  readonly conversation: ReadonlyArray<Node>
  /** The message that whatever is said next hangs on: the last of the conversation, but for what was put back behind it. */
  readonly leaf: Node | undefined
  readonly removed: ReadonlyArray<string>
  readonly archived: number
  readonly branches: ReadonlyArray<Branch>
  readonly sidechains: ReadonlyArray<Sidechain>
  /** Distinct message ids of the lane: the sum of the five above, sidechains aside (RECOVERY §9). */
  readonly messages: number
  readonly metadata: SessionMetadata
  readonly snapshots: Snapshots
  readonly skills: SkillState
  readonly usage: Usage
  readonly consistency: Consistency
  readonly findings: ReadonlyArray<Finding.Finding>
  readonly extent: Extent
}

/**
 * The message that whatever is said next hangs on.
 *
 * @category getters
 * @since 0.1.0
 */
export const leafOf = (state: SessionState): Node | undefined => state.leaf

/**
 * What differs from one state to a later one of the same log.
 *
 * @category models
 * @since 0.1.0
 */
export interface Difference {
  /** Ids that the conversation gained and lost, in its order. */
  readonly gained: ReadonlyArray<string>
  readonly lost: ReadonlyArray<string>
  readonly leaf: { readonly from: string | undefined; readonly to: string | undefined } | undefined
  readonly archived: number
  readonly removed: ReadonlyArray<string>
  /** Keys of the metadata whose values differ. */
  readonly metadata: ReadonlyArray<keyof SessionMetadata>
  readonly findings: ReadonlyArray<Finding.Finding>
}

/**
 * What a later entry changed: the difference of the state with it from the state without it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const diff = (a: SessionState, b: SessionState): Difference => {
  const idsOf = (state: SessionState): ReadonlyArray<string> => state.conversation.map(({ uuid }) => uuid)
  const without = (ids: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> => {
    const known = new Set(others)
    return ids.filter((id) => !known.has(id))
  }
  const from = leafOf(a)?.uuid
  const to = leafOf(b)?.uuid
  const keys = new Set([...Object.keys(a.metadata), ...Object.keys(b.metadata)]) as Set<keyof SessionMetadata>
  return {
    gained: without(idsOf(b), idsOf(a)),
    lost: without(idsOf(a), idsOf(b)),
    leaf: from === to ? undefined : { from, to },
    archived: b.archived - a.archived,
    removed: without(b.removed, a.removed),
    metadata: [...keys].filter((key) => !Equal.equals(a.metadata[key], b.metadata[key])),
    findings: b.findings.filter((finding) => !a.findings.some((known) => Equal.equals(known, finding)))
  }
}
