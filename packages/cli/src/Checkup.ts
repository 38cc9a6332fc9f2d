/**
 * Checkup: what is worth knowing about one transcript, small enough to be kept of many: its counts, whether they add
 * up, its drift, and its findings by kind. The state itself is let go.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Evidence from "@reprise/domain/Evidence"
import type * as Finding from "@reprise/domain/Finding"
import type { Located } from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import type * as Lanes from "@reprise/recovery/Lanes"
import * as Recovery from "@reprise/recovery/Recovery"
import * as Phrase from "./Phrase.ts"
import * as Resume from "./Resume.ts"

/**
 * How many findings of a kind there are.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found {
  readonly kind: Finding.Kind
  readonly severity: Finding.Severity
  readonly count: number
}

/**
 * Checkpoints that were compared, that could not be, and that differ (RECOVERY §13).
 *
 * @category models
 * @since 0.1.0
 */
export interface Drift {
  readonly checked: number
  readonly unchecked: number
  readonly mismatched: number
}

/**
 * One transcript. `written` are the messages in its lines, of all lanes, by their distinct ids; `holds` says whether
 * each of them is accounted for (RECOVERY §9).
 *
 * @category models
 * @since 0.1.0
 */
export interface Checkup {
  /** Whether what it holds may be a transcript. */
  readonly isTranscript: boolean
  readonly bytes: number
  readonly written: number
  readonly sum: Phrase.Counts
  readonly sidechains: number
  readonly holds: boolean
  readonly drift: Drift
  readonly findings: ReadonlyArray<Found>
}

/** The messages that the lines hold, counted past recovery: an id is a message's once in each lane. */
interface Lines {
  readonly main: Set<string>
  readonly others: Set<string>
}

const lines = (lane: Lanes.Choice): Projection.Projection<Located, Lines> =>
  Projection.make({
    initial: (): Lines => ({ main: new Set(), others: new Set() }),
    evolve: (draft, { entry }: Located) => {
      if (!Entry.isMessage(entry) || entry.uuid === "") return draft
      if (lane === "sidechain" || entry.isSidechain !== true) draft.main.add(entry.uuid)
      else draft.others.add(JSON.stringify([entry.agentId ?? "", entry.uuid]))
      return draft
    },
    extract: (draft) => draft
  })

/**
 * Checks a log as a main lane or as one agent's own.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection = (lane: Lanes.Choice): Projection.Projection<Located, Checkup> =>
  Projection.map(
    Projection.struct({ state: Recovery.make({ lane }), lines: lines(lane), held: Evidence.projection }),
    ({ held, lines, state }): Checkup => {
      const sum = Phrase.countsOf(state)
      const sidechains = state.sidechains.reduce((count, { entries }) => count + entries, 0)
      const { checked, drift, unchecked } = state.consistency
      const accounted = sum.conversation + sum.archived + sum.removed + sum.onBranches
      return {
        isTranscript: Evidence.isTranscript(held),
        bytes: state.extent.byteEnd,
        written: lines.main.size + lines.others.size,
        sum,
        sidechains,
        holds: accounted === lines.main.size && sum.messages === lines.main.size && sidechains === lines.others.size,
        drift: { checked, unchecked, mismatched: drift.length },
        findings: byKind([...state.findings, ...Resume.viewOf(state, lane).findings])
      }
    }
  )

const byKind = (findings: ReadonlyArray<Finding.Finding>): ReadonlyArray<Found> => {
  const counts = new Map<string, Found>()
  for (const { kind, severity } of findings) {
    const key = `${severity} ${kind}`
    counts.set(key, { kind, severity, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}

/**
 * How many findings say that something was lost.
 *
 * @category getters
 * @since 0.1.0
 */
export const lossOf = ({ findings }: Checkup): number =>
  findings.reduce((sum, { count, severity }) => (severity === "loss" ? sum + count : sum), 0)
