/**
 * Consistency: what the writer counted against what was recovered (RECOVERY §13).
 *
 *   u1 ─ a1 ─ u2 ─ a2 ─ system/turn_duration { messageCount: 4 }      its index in the conversation is 4
 *
 * The index counts from the boundary that the conversation starts at. A checkpoint that is not on the conversation is
 * unchecked, and so is one that counted another conversation: what a later snip took out, or what stood before the
 * boundary that keeps it. A mismatch is drift: a fact about the log, never an error.
 */
import * as Boundary from "@reprise/domain/Boundary"
import type * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import type { Node } from "./SessionGraph.ts"

/**
 * A checkpoint whose count differs from its place.
 *
 * @category models
 * @since 0.1.0
 */
export interface Drift {
  readonly uuid: string
  readonly expected: number
  readonly found: number
}

/**
 * How the checkpoints of a log compare.
 *
 * @category models
 * @since 0.1.0
 */
export interface Consistency {
  readonly checked: number
  readonly unchecked: number
  readonly drift: ReadonlyArray<Drift>
}

/**
 * The count that a checkpoint states; nothing for other entries.
 *
 * @category getters
 * @since 0.1.0
 */
export const countOf = (entry: Entry.Message): number | undefined =>
  entry.type === "system" && entry.subtype === "turn_duration" && typeof entry.messageCount === "number"
    ? entry.messageCount
    : undefined

/**
 * Compares every checkpoint of the lane with the conversation; of `nodes`, only system entries matter.
 *
 * @category combinators
 * @since 0.1.0
 */
export const check = (nodes: ReadonlyArray<Node>, conversation: ReadonlyArray<Node>): Consistency => {
  const counts = new Map<Node, number>()
  let lastSnip = -1
  for (const node of nodes) {
    const count = countOf(node.entry)
    if (count !== undefined) counts.set(node, count)
    if (Boundary.isSnip(node.entry)) lastSnip = node.index
  }
  if (counts.size === 0) return { checked: 0, unchecked: 0, drift: [] }
  const first = conversation[0]
  const start = Math.max(lastSnip, first !== undefined && Boundary.isCompact(first.entry) ? first.index : -1)
  let checked = 0
  const drift: Array<Drift> = []
  conversation.forEach((node, found) => {
    const expected = counts.get(node)
    if (expected === undefined || node.index < start) return
    checked++
    if (expected !== found) drift.push({ uuid: node.uuid, expected, found })
  })
  return { checked, unchecked: counts.size - checked, drift }
}

/**
 * The drift as findings.
 *
 * @category combinators
 * @since 0.1.0
 */
export const findings = (
  { drift }: Consistency,
  conversation: ReadonlyArray<Node> = []
): ReadonlyArray<Finding.Finding> => drift.map((one) => Finding.make("drift", one, conversation[one.found]?.at))
