/**
 * Tally: many checkups added up, one at a time. It grows with the kinds of findings and the names of the files that are
 * worth naming, not with what the files hold.
 */
import type * as Finding from "@reprise/domain/Finding"
import type * as Checkup from "./Checkup.ts"
import * as Phrase from "./Phrase.ts"
import type * as TranscriptTree from "./TranscriptTree.ts"

/**
 * One kind of finding over all files; `worst` is the file that has most of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly kind: Finding.Kind
  readonly severity: Finding.Severity
  readonly findings: number
  readonly files: number
  readonly worst: { readonly name: string; readonly findings: number }
}

/**
 * What was found in all files that were read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tally {
  readonly files: number
  readonly bytes: number
  /** Messages in the lines of all files, sidechains included. */
  readonly written: number
  /** The lanes that were recovered, added up. */
  readonly sum: Phrase.Counts
  /** Files that have a conversation. */
  readonly conversations: number
  readonly sidechains: number
  readonly drift: Checkup.Drift
  /** Files in which a message is not accounted for. */
  readonly unbalanced: ReadonlyArray<string>
  readonly loss: ReadonlyArray<{ readonly name: string; readonly findings: ReadonlyArray<Checkup.Found> }>
  readonly rows: ReadonlyArray<Row>
  readonly skipped: ReadonlyArray<TranscriptTree.Passed>
  readonly unreadable: ReadonlyArray<TranscriptTree.Passed>
}

/**
 * A tally under way.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run {
  readonly add: (name: string, checkup: Checkup.Checkup) => void
  readonly skip: (passed: TranscriptTree.Passed) => void
  readonly fail: (passed: TranscriptTree.Passed) => void
  readonly total: () => Tally
}

/**
 * Starts a tally.
 *
 * @category constructors
 * @since 0.1.0
 */
export const run = (): Run => {
  const none: Tally = {
    files: 0,
    bytes: 0,
    written: 0,
    sum: { messages: 0, conversation: 0, archived: 0, removed: 0, onBranches: 0, branches: 0 },
    conversations: 0,
    sidechains: 0,
    drift: { checked: 0, unchecked: 0, mismatched: 0 },
    unbalanced: [],
    loss: [],
    rows: [],
    skipped: [],
    unreadable: []
  }
  let counts = none
  const unbalanced: Array<string> = []
  const loss: Array<Tally["loss"][number]> = []
  const skipped: Array<TranscriptTree.Passed> = []
  const unreadable: Array<TranscriptTree.Passed> = []
  const rows = new Map<string, Row>()
  return {
    add: (name, checkup) => {
      counts = counted(counts, checkup)
      if (!checkup.holds) unbalanced.push(name)
      const lost = checkup.findings.filter(({ severity }) => severity === "loss")
      if (lost.length > 0) loss.push({ name, findings: lost })
      for (const found of checkup.findings) {
        const key = `${found.severity} ${found.kind}`
        rows.set(key, grown(rows.get(key), name, found))
      }
    },
    skip: (passed) => void skipped.push(passed),
    fail: (passed) => void unreadable.push(passed),
    total: () => ({ ...counts, unbalanced, loss, rows: [...rows.values()].toSorted(order), skipped, unreadable })
  }
}

const counted = (counts: Tally, { bytes, drift, sidechains, sum, written }: Checkup.Checkup): Tally => ({
  ...counts,
  files: counts.files + 1,
  bytes: counts.bytes + bytes,
  written: counts.written + written,
  sum: each(counts.sum, sum),
  conversations: counts.conversations + (sum.conversation > 0 ? 1 : 0),
  sidechains: counts.sidechains + sidechains,
  drift: each(counts.drift, drift)
})

/** Two records of numbers, added key by key. */
const each = <R extends { readonly [K in keyof R]: number }>(a: R, b: R): R => {
  const sum = { ...a } as { [K in keyof R]: number }
  for (const key in b) sum[key] = a[key] + b[key]
  return sum as R
}

const grown = (row: Row | undefined, name: string, { count, kind, severity }: Checkup.Found): Row => ({
  kind,
  severity,
  findings: (row?.findings ?? 0) + count,
  files: (row?.files ?? 0) + 1,
  worst: row !== undefined && row.worst.findings >= count ? row.worst : { name, findings: count }
})

/** What is worst first, of equal severity the most frequent. */
const order = (a: Row, b: Row): number =>
  Phrase.severities.indexOf(a.severity) - Phrase.severities.indexOf(b.severity) ||
  b.findings - a.findings ||
  (a.kind < b.kind ? -1 : 1)
