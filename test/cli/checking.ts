/** Checkups made by hand, and trees of transcripts. */
import type * as Checkup from "@reprise/cli/Checkup"
import * as Notation from "@reprise/domain/testing/Notation"
import * as fs from "node:fs"
import * as path from "node:path"

/** A checkup of a file in order, of which some parts differ. */
export const checkup = (parts: Partial<Checkup.Checkup> = {}): Checkup.Checkup => ({
  isTranscript: true,
  bytes: 0,
  written: 0,
  sum: { messages: 0, conversation: 0, archived: 0, removed: 0, onBranches: 0, branches: 0 },
  sidechains: 0,
  holds: true,
  drift: { checked: 0, unchecked: 0, mismatched: 0 },
  findings: [],
  ...parts
})

/** Files below a directory: pictures of logs, or any bytes. */
export const grow = (directory: string, files: { readonly [name: string]: string | Uint8Array }): void => {
  for (const [name, log] of Object.entries(files)) {
    const file = path.join(directory, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, typeof log === "string" ? Notation.bytes(log) : log)
  }
}

/** All that is below a directory: names, bytes, and the times of the last change. */
export const snapshot = (directory: string): ReadonlyArray<readonly [name: string, mtime: number, bytes: string]> =>
  fs
    .readdirSync(directory, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const file = path.join(directory, name)
      const stat = fs.lstatSync(file)
      return [name, stat.mtimeMs, stat.isFile() ? fs.readFileSync(file, "base64") : ""] as const
    })

/** The id of a session, as a file name has it. */
export const session = "1c9a5b7e-40d3-4f86-8e2b-95d7a6c3f014"

/** A tree as a client leaves it: two sessions, agents at two depths, a journal, and what is no transcript. */
export const tree = {
  [`shop/${session}.jsonl`]: "u1-a1 x9-u2-a2(A) ?",
  [`shop/${session}/subagents/agent-ab.jsonl`]: "u1~ab-a1~ab",
  [`shop/${session}/subagents/workflows/wf_1/agent-cd.jsonl`]: "u1~cd-a1~cd x9-u2~cd",
  [`shop/${session}/subagents/workflows/wf_1/journal.jsonl`]: bytes('{"type":"started","key":"k"}\n'),
  [`shop/${session}/tool-results/out.txt`]: bytes("no transcript"),
  "shop/notes.jsonl": bytes('{"display":"no entry"}\n'),
  "house/old.jsonl": "u1-a1@m(A)-a2@m(B)-rB-a3 a1-rA a3-u2-a4 a4-u3 a4-u4"
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
