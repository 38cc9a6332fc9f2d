/**
 * A transcript in the shape of a real one, as large as asked for: talk, restated metadata, and, where wanted, a compaction
 * every so many bytes. Same options, same bytes.
 *
 *   … talk, metadata every 37 KB … │ boundary ─ summary ─ talk … │ boundary ─ summary ─ talk
 */
import * as fs from "node:fs"
import { entries } from "./entries.ts"

/**
 * `compactMb`: megabytes between two compactions, 0: none; `preserved`: messages that each of them keeps; `keys`: as the
 * newest versions write them, most of the envelope behind the payload, or as older ones did: before it, and without
 * `entrypoint` and `slug`.
 */
export interface Shape {
  readonly seed: number
  readonly mb: number
  readonly compactMb: number
  readonly preserved: number
  readonly keys: "newest" | "older"
}

/** The id of the session that is written. */
export const session = "00000000-0000-4000-8000-000000000001"

interface Line {
  readonly uuid?: string
  readonly [key: string]: unknown
}

const RESTATED = 37_000
const BATCH = 400

/** Writes the transcript and gives the number of its lines. */
export const write = (file: string, { compactMb, keys, mb, preserved, seed: first }: Shape): number => {
  const fd = fs.openSync(file, "w", 0o600)
  let [bytes, lines, sinceMetadata, sinceBoundary] = [0, 0, 0, 0]
  let buffered: Array<string> = []
  let parent: string | null = null
  let recent: Array<string> = []
  const rounds = rounding()
  const add = (entry: Line): number => {
    const line = `${JSON.stringify(keys === "newest" ? newest(entry) : entry)}\n`
    buffered.push(line)
    lines++
    return Buffer.byteLength(line)
  }
  let ids = 0
  let seconds = 0
  const time = (): string => new Date(1.76e12 + 1000 * seconds++).toISOString()
  const id = (): string => `b0000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`
  for (let seed = first; bytes < mb * 1e6; seed++) {
    for (const entry of entries(BATCH, seed)) {
      const { parentUuid: _, ...rest } = entry
      const size = add(rounds.entry({ parentUuid: parent, ...rest, timestamp: time() }))
      parent = entry.uuid
      recent = [...recent.slice(-preserved), entry.uuid].slice(-Math.max(preserved, 1))
      sinceMetadata += size
      sinceBoundary += size
      bytes += size
      if (sinceMetadata > RESTATED) {
        sinceMetadata = 0
        bytes += metadata(bytes, parent).reduce((sum, one) => sum + add(one), 0)
      }
      if (compactMb > 0 && sinceBoundary > compactMb * 1e6 && bytes < (mb - compactMb) * 1e6) {
        sinceBoundary = 0
        rounds.end()
        const [boundary, summary] = compaction({ uuid: id(), summary: id(), timestamp: time() }, recent, preserved)
        bytes += add(boundary) + add(summary)
        parent = summary.uuid
      }
    }
    fs.writeSync(fd, buffered.join(""))
    buffered = []
  }
  fs.closeSync(fd)
  return lines
}

/** The keys in the order of the newest versions, of an entry that is no metadata. */
const newest = (entry: Line): object => {
  if (entry.uuid === undefined) return entry
  const {
    cwd,
    gitBranch,
    isSidechain,
    parentUuid,
    sessionId,
    timestamp,
    toolUseResult,
    userType,
    uuid,
    version,
    ...payload
  } = entry
  const own = { parentUuid, isSidechain, ...payload, uuid, timestamp, toolUseResult }
  const where = { userType, entrypoint: "cli", cwd, sessionId, version, gitBranch, slug: "a-readable-name" }
  return { ...own, ...where }
}

/** Results answer the last call; one without a call behind the boundary is a prompt. */
const rounding = () => {
  let call: string | undefined
  return {
    end: () => {
      call = undefined
    },
    entry: (entry: { readonly [key: string]: any }): Line => {
      const [block] = Array.isArray(entry["message"]?.content) ? entry["message"].content : []
      if (block?.type === "tool_use") call = block.id
      if (block?.type !== "tool_result") return entry
      const content = call === undefined ? block.content : [{ ...block, tool_use_id: call }]
      return { ...entry, message: { ...entry["message"], content } }
    }
  }
}

const metadata = (bytes: number, leafUuid: string): ReadonlyArray<Line> => [
  { type: "last-prompt", lastPrompt: `prompt at ${bytes}`, leafUuid, sessionId: session },
  { type: "custom-title", customTitle: "A title", sessionId: session },
  { type: "mode", mode: "normal", sessionId: session },
  { type: "file-history-snapshot", messageId: leafUuid, snapshot: { messageId: leafUuid, trackedFileBackups: {} } }
]

const compaction = (
  { summary, timestamp, uuid }: { readonly [key in "summary" | "timestamp" | "uuid"]: string },
  recent: ReadonlyArray<string>,
  preserved: number
) => {
  const common = {
    isSidechain: false,
    timestamp,
    userType: "external",
    cwd: "/home/dev/project",
    sessionId: session,
    version: "2.1.0",
    gitBranch: "main"
  }
  const uuids = recent.slice(-preserved)
  const record = { anchorUuid: summary, headUuid: uuids[0], tailUuid: uuids.at(-1) }
  return [
    {
      parentUuid: null,
      ...common,
      type: "system",
      subtype: "compact_boundary",
      uuid,
      compactMetadata: { trigger: "auto", preTokens: 150_000, ...(preserved > 0 ? { preservedSegment: record } : {}) }
    },
    {
      parentUuid: uuid,
      ...common,
      type: "user",
      uuid: summary,
      isCompactSummary: true,
      message: { role: "user", content: "Summary." }
    }
  ] as const
}
