/**
 * Conflicts: lines that have the id of another one, beside the log that keeps its own.
 *
 *   <log>.jsonl.conflicts     {"from":"remote","k":"<key>","e":<entry>}     a line for each, each once
 *
 * Not `.jsonl`: what ends so beside the logs of agents is taken for one.
 */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import * as StreamLine from "../StreamLine.ts"

/** The file of a log's conflicts. */
export const fileOf = (log: string): string => `${log}.conflicts`

/** A line that was refused, with its LF: where it is from, and the line. */
export const encode = (from: "local" | "remote", line: Pick<StreamLine.StreamLine, "key" | "text">): Uint8Array =>
  Buffer.from(`{"from":"${from}",${StreamLine.encode(line).slice(1)}\n`)

/** Adds lines to a file, those that it lacks. */
export const record = Effect.fnUntraced(function* (file: string, lines: Uint8Array) {
  const port = yield* EntryLog.EntryLog
  const log = EntryLog.at(file)
  const known = new Set<string>()
  const digest = (line: Uint8Array) => hash("sha256", line, "base64url")
  yield* LineReader.forEachLine(log, (line) => void known.add(digest(line))).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "NotFound",
      () => Effect.void
    )
  )
  const added: Array<Uint8Array> = []
  for (let start = 0, end = lines.indexOf(LF); end >= 0; start = end + 1, end = lines.indexOf(LF, start)) {
    const line = lines.subarray(start, end)
    if (known.has(digest(line))) continue
    known.add(digest(line))
    added.push(line, newline)
  }
  if (added.length === 0) return
  yield* port.append(log, Buffer.concat(added))
  yield* port.sync(log)
  yield* port.release(log)
})

/** Is the text the same JSON as the line, whatever its spelling and the order of its keys? */
export const saysTheSame = (text: string, { value }: Pick<StreamLine.StreamLine, "value">): boolean => {
  if (value === undefined) return false
  try {
    return isDeepStrictEqual(JSON.parse(text), value)
  } catch {
    return false
  }
}

const LF = 0x0a
const newline = Buffer.from("\n")
