/**
 * ResumeJson: one line of `reprise resume --json`, the contract that other tools rely on. A function of the bytes read.
 */
import type * as Finding from "@reprise/domain/Finding"
import type { SessionMetadata } from "@reprise/domain/SessionMetadata"
import type * as Interruption from "@reprise/recovery/Interruption"
import type * as ModelMessages from "@reprise/recovery/ModelMessages"
import type { SessionState } from "@reprise/recovery/SessionState"
import * as Extent from "./Extent.ts"
import * as Style from "./Style.ts"

/**
 * What was recovered from one file.
 *
 * @category models
 * @since 0.1.0
 */
export interface Resumed {
  readonly file: string
  readonly sessionId: string | null
  readonly state: SessionState
  /** Legacy progress entries, which are looked through. */
  readonly progress: number
  readonly view: ModelMessages.ModelView
  readonly interruption: Interruption.Interruption
  readonly findings: ReadonlyArray<Finding.Finding>
}

/**
 * The line of a file that was read; `extent` where that was not all of it.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = ({ file, findings, interruption, sessionId, state, view }: Resumed): string =>
  Style.json({
    file,
    ok: true,
    sessionId,
    conversation: state.conversation.map(({ uuid }) => uuid),
    messages: view.messages.map(({ parts, role, uuids }) => ({ role, blocks: parts.map(block), uuids })),
    omitted: view.omitted,
    interruption,
    metadata: metadata(state.metadata),
    removed: state.removed,
    archived: state.archived,
    branches: state.branches,
    sidechains: state.sidechains,
    findings,
    drift: state.consistency.drift,
    extent: Extent.encode(state)
  })

const block = ({ block, synthetic }: ModelMessages.Part) => {
  const { id, tool_use_id } = block as { readonly id?: unknown; readonly tool_use_id?: unknown }
  const named = block.type === "tool_result" ? tool_use_id : id
  return {
    type: block.type,
    ...(typeof named === "string" ? { id: named } : undefined),
    ...(synthetic === true ? { synthetic } : undefined)
  }
}

const metadata = (folded: SessionMetadata) => {
  const { bridge, cost, pullRequests, summaries: _, worktree, ...plain } = folded
  const pr = pullRequests.at(-1)
  return {
    ...plain,
    ...(pr === undefined ? undefined : { prNumber: pr.prNumber, prUrl: pr.prUrl, prRepository: pr.prRepository }),
    ...(worktree === undefined ? undefined : { worktreeSession: worktree }),
    ...(bridge === undefined ? undefined : { bridgeSessionId: bridge.bridgeSessionId }),
    ...(cost === undefined ? undefined : { totalCostUSD: cost.totalCostUSD })
  }
}
