/**
 * DoctorText: what was found in a tree of transcripts, for people.
 *
 *   severity  kind            findings  files  worst file
 *   loss      torn-line             12      9  shop/5b0d7f21….jsonl (3)
 *   …
 *   totals · files with loss · files that were skipped · files that could not be read
 *
 * 1. Every line of the table fits the terminal; names of files lose their beginning first.
 * 2. What is not in order is named even where there is nothing to name: a sum that holds says so.
 */
import * as Phrase from "./Phrase.ts"
import * as Style from "./Style.ts"
import type * as Tally from "./Tally.ts"

/**
 * The tally of a directory, without a line feed at the end; `limit` is how many files of a list are named.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (directory: string, tally: Tally.Tally, style: Style.Style, limit: number): string =>
  [table(tally, style), totals(directory, tally, style), ...lists(tally, style, limit)]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")

/** Below so many columns the name of a file says nothing. */
const readable = 16

const table = ({ rows }: Tally.Tally, style: Style.Style): ReadonlyArray<string> => {
  if (rows.length === 0) return []
  const cells = [
    ["kind", "findings", "files"] as const,
    ...rows.map(({ files, findings, kind }) => [kind, String(findings), String(files)] as const)
  ]
  const [kinds, findings, files] = [0, 1, 2].map((column) =>
    cells.reduce((most, row) => Math.max(most, row[column]!.length), 0)
  ) as [number, number, number]
  // Before the name of a file: the severity, three columns, and the gaps between them.
  const room = style.columns - ("severity".length + kinds + findings + files + 4 * gap.length)
  const named = room >= readable
  const line = (index: number, file: string): string => {
    const [kind, count, of] = cells[index]!
    const numbers = [kind.padEnd(kinds), count.padStart(findings), of.padStart(files)].join(gap)
    return Style.cut(named ? `${gap}${numbers}${gap}${file}` : gap + numbers, style.columns - "severity".length)
  }
  return [
    style.paint("title", `severity${line(0, "worst file")}`),
    ...rows.map(({ severity, worst }, index) => {
      const tone = Phrase.toneOf(severity)
      const count = ` (${worst.findings})`
      const file = Style.cutStart(Style.clean(worst.name), room - count.length) + count
      const shown = severity.padEnd("severity".length)
      return (tone === undefined ? shown : style.paint(tone, shown)) + line(index + 1, file)
    })
  ]
}

const gap = "  "

const totals = (directory: string, tally: Tally.Tally, style: Style.Style): ReadonlyArray<string> => {
  if (tally.files === 0 && tally.unreadable.length === 0) return [Style.clean(`No transcripts below ${directory}.`)]
  const { bytes, conversations, drift, files, loss, rows, sidechains, skipped, sum, unbalanced, unreadable } = tally
  const found = rows.reduce((all, { findings }) => all + findings, 0)
  const beside = [
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
    ...(unreadable.length > 0 ? [`${unreadable.length} not read`] : [])
  ]
  const read = `${Phrase.times(files, "transcript")} of ${Phrase.bytes(bytes)} below ${directory}`
  const all: ReadonlyArray<Phrase.Row> = [
    ["files", [read, ...beside].join(", ")],
    ["messages", Phrase.sum(sum)],
    ...(sidechains > 0 ? [["sidechains", `${sidechains} messages more, inside of main transcripts`] as const] : []),
    ["conversations", `${conversations} of ${files} files`],
    [
      "sum",
      unbalanced.length === 0
        ? `every message accounted for, in ${files} of ${files} files`
        : `messages not accounted for in ${unbalanced.length} of ${files} files`,
      unbalanced.length === 0 ? undefined : "loss"
    ],
    [
      "drift",
      `${Phrase.times(drift.checked, "checkpoint")} checked, ${drift.mismatched} ${drift.mismatched === 1 ? "differs" : "differ"}, ${drift.unchecked} not checked`,
      drift.mismatched === 0 ? undefined : "repair"
    ],
    ["findings", found === 0 ? "none" : `${found}, with loss in ${Phrase.times(loss.length, "file")}`]
  ]
  return [style.paint("title", "Totals"), ...Phrase.rows(style, all)]
}

const lists = (
  { loss, skipped, unbalanced, unreadable }: Tally.Tally,
  style: Style.Style,
  limit: number
): ReadonlyArray<ReadonlyArray<string>> => {
  const list = (title: string, files: ReadonlyArray<Phrase.Row>, max = limit): ReadonlyArray<string> => {
    if (files.length === 0) return []
    const { more, shown } = Phrase.first(files, max)
    const left = more === 0 ? [] : [`  … and ${more} more (--full shows them)`]
    return [`${style.paint("title", title)} (${files.length})`, ...named(shown, style), ...left]
  }
  return [
    list(
      "Files with loss",
      loss
        .toSorted((a, b) => total(b.findings) - total(a.findings))
        .map(({ findings, name }) => [name, findings.map(({ count, kind }) => `${count} ${kind}`).join(", ")])
    ),
    list(
      "Messages not accounted for",
      unbalanced.map((name) => [name, "the sum of RECOVERY §9 does not hold: please report it", "loss"])
    ),
    list(
      "Skipped",
      skipped.map(({ name, why }) => [name, why])
    ),
    list(
      "Not read",
      unreadable.map(({ name, why }) => [name, why, "loss"]),
      Infinity
    )
  ]
}

const total = (findings: ReadonlyArray<{ readonly count: number }>): number =>
  findings.reduce((sum, { count }) => sum + count, 0)

/** Names of files and what is said of each; names that are long lose their beginning. */
const named = (files: ReadonlyArray<Phrase.Row>, style: Style.Style): ReadonlyArray<string> => {
  const texts = files.reduce((most, [, text]) => Math.max(most, Style.width(Style.clean(text))), 0)
  const room = Math.max(readable, style.columns - texts - 4)
  const cut = files.map(([name, text, tone]) => [Style.cutStart(Style.clean(name), room), text, tone] as const)
  return Phrase.rows(style, cut)
}
