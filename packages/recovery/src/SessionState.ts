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
import type { Branch } from "./Branches.ts"
import type { Consistency } from "./Consistency.ts"
import type { Sidechain } from "./Lanes.ts"
import type { Node } from "./SessionGraph.ts"
import type { Snapshots } from "./Snapshots.ts"

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
  readonly removed: ReadonlyArray<string>
  readonly archived: number
  readonly branches: ReadonlyArray<Branch>
  readonly sidechains: ReadonlyArray<Sidechain>
  /** Distinct message ids of the lane: the sum of the five above, sidechains aside (RECOVERY §9). */
  readonly messages: number
  readonly metadata: SessionMetadata
  readonly snapshots: Snapshots
  readonly consistency: Consistency
  readonly findings: ReadonlyArray<Finding.Finding>
  readonly extent: Extent
}

/**
 * The last message of the conversation: the parent of whatever is said next.
 *
 * @category getters
 * @since 0.1.0
 */
export const leafOf = (state: SessionState): Node | undefined => state.conversation.at(-1)
