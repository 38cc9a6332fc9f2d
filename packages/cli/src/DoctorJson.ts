/**
 * DoctorJson: what `reprise doctor --json` prints: a line for each file, and one for all of them.
 */
import * as Checkup from "./Checkup.ts"
import * as ErrorJson from "./ErrorJson.ts"
import type * as Tally from "./Tally.ts"
import type * as TranscriptTree from "./TranscriptTree.ts"
import * as Style from "./Style.ts"
import * as TranscriptFile from "./TranscriptFile.ts"

/**
 * The line of a file that was checked.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = ({ file, lane }: TranscriptTree.Candidate, checkup: Checkup.Checkup): string => {
  const { bytes, drift, findings, holds, sidechains, sum, written } = checkup
  const counts = { bytes, written, ...sum, sidechains, holds, drift, loss: Checkup.lossOf(checkup), findings }
  return Style.json({ record: "file", file, lane, ...counts })
}

/**
 * The line of a file that was skipped, or could not be read.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encodePassed = (record: "skipped" | "unreadable", { file, why }: TranscriptTree.Passed): string =>
  Style.json({ record, file, why, ...(record === "unreadable" && ErrorJson.fields(unreadable(file, why))) })

const unreadable = (file: string, found: string) =>
  new TranscriptFile.TranscriptUnreadable({ file, found, cause: undefined })

/**
 * The last line.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encodeTotal = (directory: string, tally: Tally.Tally): string => {
  const { bytes, conversations, drift, files, loss, rows, sidechains, skipped, sum, unbalanced, unreadable, written } =
    tally
  return Style.json({
    record: "summary",
    directory,
    files,
    skipped: skipped.length,
    unreadable: unreadable.length,
    bytes,
    written,
    ...sum,
    sidechains,
    conversations,
    unbalanced: unbalanced.length,
    drift,
    filesWithLoss: loss.length,
    findings: rows
  })
}
