/**
 * Phrase: the words that all of the command's texts share: counts, ids, rows, findings.
 *
 * 1. Each thing is one line, also where the log put line feeds into it.
 * 2. UUIDs are shown by their first eight digits where that is enough to tell them apart.
 */
import * as Finding from "@reprise/domain/Finding"
import type { SessionState } from "@reprise/recovery/SessionState"
import * as Style from "./Style.ts"

/**
 * A count with its noun.
 *
 * @category combinators
 * @since 0.1.0
 */
export const times = (count: number, one: string, many: string = `${one}s`): string =>
  count === 1 ? `1 ${one}` : `${count} ${many}`

/**
 * A number of bytes, in kilobytes or megabytes.
 *
 * @category rendering
 * @since 0.1.0
 */
export const bytes = (count: number): string =>
  count < 1e6 ? `${Math.ceil(count / 1e3)} kB` : `${(count / 1e6).toFixed(count < 1e7 ? 1 : 0)} MB`

/**
 * A time as a log has it, to the minute.
 *
 * @category rendering
 * @since 0.1.0
 */
export const minute = (time: string): string => Style.cut(oneLine(time.slice(0, 16).replace("T", " ")), 16)

/**
 * What became of so many messages; what there is none of is not named.
 *
 * @category models
 * @since 0.1.0
 */
export interface Counts {
  readonly messages: number
  readonly conversation: number
  readonly archived: number
  readonly removed: number
  readonly onBranches: number
  readonly branches: number
}

/**
 * What became of the messages of a recovered lane.
 *
 * @category getters
 * @since 0.1.0
 */
export const countsOf = ({ archived, branches, conversation, messages, removed }: SessionState): Counts => ({
  messages,
  conversation: conversation.length,
  archived,
  removed: removed.length,
  onBranches: branches.reduce((sum, { entries }) => sum + entries, 0),
  branches: branches.length
})

/**
 * The sum of a log (RECOVERY §9) as a sentence. The counts add up: nothing that the log holds is passed over.
 *
 * @category rendering
 * @since 0.1.0
 */
export const sum = ({ archived, branches, conversation, messages, onBranches, removed }: Counts): string => {
  const counts = [
    `${conversation} in the conversation`,
    archived > 0 && `${archived} archived`,
    removed > 0 && `${removed} removed`,
    onBranches > 0 && `${onBranches} on ${times(branches, "branch", "branches")}`
  ].filter((count) => count !== false)
  return messages === 0 ? "0 messages" : `${times(messages, "message")}: ${counts.join(", ")}`
}

/**
 * As much of a text as a line can show; what follows need not be looked at.
 *
 * @category combinators
 * @since 0.1.0
 */
export const oneLine = (text: string): string => Style.clean(text.slice(0, 2000))

/**
 * How ids are shown within a text.
 *
 * @category models
 * @since 0.1.0
 */
export type Short = (text: string) => string

const uuids = /\b([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi
const firstDigits: Short = (text) => text.replace(uuids, "$1")

/**
 * Shortens the UUIDs in a text, unless two of the given ids would then look the same (made by hand, or by the clock).
 *
 * @category constructors
 * @since 0.1.0
 */
export const shorten = (ids: Iterable<string>): Short => {
  const all = new Set(ids)
  const shown = new Set<string>()
  for (const id of all) shown.add(firstDigits(id))
  return shown.size === all.size ? firstDigits : (text) => text
}

/**
 * A label, a text, and the tone of the label.
 *
 * @category models
 * @since 0.1.0
 */
export type Row = readonly [label: string, text: string, tone?: Style.Tone | undefined]

/**
 * Rows of a label and a text, aligned.
 *
 * @category rendering
 * @since 0.1.0
 */
export const rows = (style: Style.Style, all: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const labels = all.reduce((most, [label]) => Math.max(most, label.length), 0)
  return all.map(([label, text, tone]) => {
    const shown = label.padEnd(labels)
    return `  ${tone === undefined ? shown : style.paint(tone, shown)}  ${Style.clean(text)}`.trimEnd()
  })
}

/**
 * Severities, what is worst first.
 *
 * @category constants
 * @since 0.1.0
 */
export const severities: ReadonlyArray<Finding.Severity> = ["loss", "repair", "note"]

/**
 * The tone of a severity; a note has none.
 *
 * @category getters
 * @since 0.1.0
 */
export const toneOf = (severity: Finding.Severity): Style.Tone | undefined =>
  severity === "note" ? undefined : severity

/**
 * Findings, one to a line: what is lost, what was repaired, what is worth knowing, each by its line.
 *
 * @category rendering
 * @since 0.1.0
 */
export const findings = (
  style: Style.Style,
  all: ReadonlyArray<Finding.Finding>,
  short: Short
): ReadonlyArray<string> => {
  const sorted = all.toSorted(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      (a.line ?? Number.MAX_SAFE_INTEGER) - (b.line ?? Number.MAX_SAFE_INTEGER)
  )
  const lines = sorted.reduce((most, { line }) => Math.max(most, String(line ?? "").length), 0)
  return rows(
    style,
    sorted.map((finding): Row => {
      const { line, severity } = finding
      const place = line === undefined ? "" : `line ${String(line).padStart(lines)}`
      const label = `${severity.padEnd(6)}  ${place.padEnd(lines + 5)}`
      return [label, short(Finding.explain(finding)), toneOf(severity)]
    })
  )
}

/**
 * How many findings there are of each severity, what is worst first.
 *
 * @category rendering
 * @since 0.1.0
 */
export const tally = (all: ReadonlyArray<Finding.Finding>): string =>
  severities
    .map((severity) => [severity, all.filter((finding) => finding.severity === severity).length] as const)
    .filter(([, count]) => count > 0)
    .map(([severity, count]) => times(count, severity, severity === "loss" ? "losses" : `${severity}s`))
    .join(", ")

/**
 * A text as an argument of a command that somebody is to type.
 *
 * @category rendering
 * @since 0.1.0
 */
export const argument = (text: string): string =>
  /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${Style.clean(text).replaceAll("'", "'\\''")}'`

/**
 * The first of a list that may be long, and how many are not shown; `limit` may be infinite.
 *
 * @category combinators
 * @since 0.1.0
 */
export const first = <A>(
  all: ReadonlyArray<A>,
  limit: number
): { readonly shown: ReadonlyArray<A>; readonly more: number } => {
  // One line that says that one is left out takes as much room as that one.
  const shown = all.length <= limit + 1 ? all : all.slice(0, limit)
  return { shown, more: all.length - shown.length }
}

/**
 * Words in lines of so many columns.
 *
 * @category rendering
 * @since 0.1.0
 */
export const wrap = (words: ReadonlyArray<string>, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of words) {
    if (line !== "" && Style.width(line) + 1 + Style.width(word) > columns) {
      lines.push(line)
      line = ""
    }
    line = line === "" ? word : `${line} ${word}`
  }
  return line === "" ? lines : [...lines, line]
}
