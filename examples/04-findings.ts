/**
 * Findings: what a program says of a log that was not in order.
 */
import * as fs from "node:fs"
// #region findings
import { Finding, Line } from "@reprise/domain"
import { ModelMessages, Recovery } from "@reprise/recovery"

export const findingsOf = (log: Uint8Array): ReadonlyArray<string> => {
  const state = Recovery.fold(Line.decodeAll(log))
  const view = ModelMessages.make(state)
  const findings = [...state.findings, ...view.findings]
  return findings.map((finding) => `${finding.severity}  line ${finding.line ?? "–"}  ${Finding.explain(finding)}`)
}
// #endregion

const log = fs.readFileSync(new URL("transcripts/repaired.jsonl", import.meta.url))
for (const line of findingsOf(log)) console.log(line)
