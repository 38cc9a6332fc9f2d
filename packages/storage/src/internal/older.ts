/**
 * What the part of a log before its last boundary says about the session: metadata and snapshots, and the few messages
 * from which metadata is taken.
 *
 *   {"type":"tag",…}                 decoded                 {"parentUuid":…   {"type":"user",…    passed over by
 *   {"sessionId":…,"type":"tag"}     decoded, it may be       their first bytes, once the first prompt is known
 *
 * 1. A line is told by its first bytes; the message lines of which a log is full are neither decoded nor copied.
 * 2. The messages at the start are read up to the first prompt, and those that last said what later ones do not say.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import type * as EntryLog from "../EntryLog.ts"
import type { Mark } from "../LineReader.ts"
import * as Backward from "./backward.ts"

const CHUNK = 1 << 20
const encoder = new TextEncoder()
const TYPE = encoder.encode('{"type":"')
const LINKED = encoder.encode('{"parentUuid":')
const QUOTE = 0x22
const BRACE = 0x7d

const messages: ReadonlySet<string> = new Set(["user", "assistant", "attachment", "system", "progress"])

/** Kinds of which the last one counts and that writers say again and again: the same once more says nothing. */
const restated: ReadonlySet<string> = new Set([
  "custom-title",
  "ai-title",
  "tag",
  "agent-name",
  "agent-color",
  "agent-setting",
  "mode",
  "permission-mode",
  "worktree-state"
])

const beginsWith = (line: Uint8Array, bytes: Uint8Array): boolean => {
  for (let i = 0; i < bytes.length; i++) if (line[i] !== bytes[i]) return false
  return true
}

/** The kind of a line that begins with it; undefined: the line has to be read. */
const kindOf = (line: Buffer): string | undefined =>
  beginsWith(line, TYPE) ? line.toString("latin1", TYPE.length, line.indexOf(QUOTE, TYPE.length)) : undefined

/** Whether a line surely says nothing that is not known: a message, a link between messages, a value as before. */
const passing = () => {
  const said = new Map<string, Buffer>()
  return (bytes: Uint8Array): boolean => {
    const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    if (line[line.length - 1] !== BRACE) return false
    if (beginsWith(line, LINKED)) return true
    const kind = kindOf(line)
    if (kind === undefined || messages.has(kind)) return kind !== undefined
    if (!restated.has(kind)) return false
    if (said.get(kind)?.equals(line) === true) return true
    said.set(kind, Buffer.from(line))
    return false
  }
}

/** The entries before `end` that say something about the session, in order, and the mark at `end`. */
export const read = Effect.fnUntraced(function* (reader: EntryLog.Reader, end: number) {
  const found: Array<Line.Located> = []
  // Of a Buffer, a byte is found five times as fast.
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(end, 1)))
  const isPassed = passing()
  const start = beginning()
  let mark: Mark = { line: 1, byte: 0 }
  const splitter = LineSplitter.make((line, at) => {
    mark = { line: at.line + 1, byte: at.byteEnd + 1 }
    if (start.isRead && isPassed(line)) return
    for (const located of Line.decode(line, at)) {
      if (!Entry.isMessage(located.entry) || start.take(located.entry)) found.push(located)
    }
  })
  for (let offset = 0; offset < end;) {
    const count = yield* reader.read(offset, buffer.subarray(0, Math.min(buffer.length, end - offset)))
    if (count === 0) break
    splitter.push(buffer.subarray(0, count))
    offset += count
    yield* Effect.yieldNow
  }
  splitter.end()
  return { found, mark }
})

/** The messages from which first prompt, directory and time of creation are taken; each is taken when it adds one. */
const beginning = () => {
  const missing = { prompt: true, command: true, cwd: true, timestamp: true }
  return {
    get isRead() {
      return !missing.prompt && !missing.cwd && !missing.timestamp
    },
    take: (entry: Entry.Message): boolean => {
      if (entry.isSidechain === true) return false
      const prompt = entry.type === "user" ? SessionMetadata.firstPromptOf(entry)?.kind : undefined
      const adds =
        (prompt !== undefined && missing.prompt && missing[prompt]) ||
        (missing.cwd && entry.cwd !== undefined) ||
        (missing.timestamp && entry.timestamp !== undefined)
      if (prompt !== undefined) missing[prompt] = false
      if (entry.cwd !== undefined) missing.cwd = false
      if (entry.timestamp !== undefined) missing.timestamp = false
      return adds
    }
  }
}

/** What the last message that says it says about the session. */
const lastSaid = ["gitBranch", "version", "entrypoint", "slug", "timestamp"] as const

/** The messages before `end` that last said what none of those behind it says, in order. */
export const lastSayings = Effect.fnUntraced(function* (
  reader: EntryLog.Reader,
  end: number,
  behind: ReadonlyArray<Line.Located>
) {
  const open = new Map<string, Uint8Array>(lastSaid.map((key) => [key, encoder.encode(`"${key}":`)]))
  const take = (entry: Entry.Entry): boolean => {
    if (!Entry.isMessage(entry) || entry.isSidechain === true) return false
    const before = open.size
    for (const key of open.keys())
      if ((entry as { readonly [key: string]: unknown })[key] !== undefined) open.delete(key)
    return open.size < before
  }
  for (let i = behind.length - 1; i >= 0 && open.size > 0; i--) take(behind[i]!.entry)
  const found: Array<Line.Located> = []
  if (open.size === 0) return found
  yield* Backward.linesWith(
    reader,
    () => [...open.values()],
    end,
    ({ bytes, end, start }) => {
      const located = Line.decode(bytes, { line: 1, byteStart: start, byteEnd: end })
      // Where it stands in lines is not known, and what was damaged on its line has been told if it matters.
      for (const { at, entry } of located.toReversed()) if (take(entry)) found.unshift({ at, entry, damage: [] })
      return open.size === 0
    }
  )
  return found
})
