/**
 * Sift: which lines of a log may say something about its session, told by their first and last bytes.
 *
 *   {"type":"tag",…}                 of that kind             {"parentUuid":…   {"type":"user",…    messages: the lines
 *   {"sessionId":…,"type":"tag"}     it has to be read                                              of which logs are full
 *
 * 1. The kind of a line is that which it begins with. One that ends as metadata does though it began as a message, or
 *    holds a second object where its kind has none, or a second beginning, is two lines glued together: it has to be read.
 * 2. Messages are read at the start of a log, until prompt, directory and time of creation are known.
 */
import * as Entry from "@reprise/domain/Entry"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import { Buffer } from "node:buffer"

const TYPE = Buffer.from('{"type":"')
const LINKED = Buffer.from('{"parentUuid":')
const OBJECT = Buffer.from('{"')
const SESSION = Buffer.from(',"sessionId":"')
const QUOTE = 0x22
const BRACE = 0x7d

/** From the key of a session's id to the end of the line, with a UUID between. */
const LAST = SESSION.length + 36 + 2

const messages: ReadonlySet<string> = new Set(["user", "assistant", "attachment", "system", "progress"])
const known: ReadonlySet<string> = new Set(Entry.kinds)

/** Kinds whose values are no objects. */
const flat: ReadonlySet<string> = new Set([
  "custom-title",
  "ai-title",
  "tag",
  "agent-name",
  "agent-color",
  "agent-setting",
  "mode",
  "permission-mode",
  "last-prompt",
  "pr-link",
  "summary",
  "task-summary"
])

/** Kinds that count as often as they are said, or whose last one is never the same. */
const unlike: ReadonlySet<string> = new Set(["last-prompt", "pr-link", "summary", "task-summary"])

/** Kinds of which the last one counts and that writers say again and again: the same once more says nothing. */
const restated: ReadonlySet<string> = new Set(["worktree-state", ...[...flat].filter((kind) => !unlike.has(kind))])

const isAt = (bytes: Buffer, at: number, part: Buffer): boolean => {
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false
  return true
}

/**
 * The kind of the line `[from, to)`: `message` for all that link or are linked; undefined where it has to be read.
 */
export const kindOf = (bytes: Buffer, from: number, to: number): string | undefined => {
  if (bytes[to - 1] !== BRACE) return undefined
  const kind = beginning(bytes, from)
  if (kind === "message") return isAt(bytes, to - LAST, SESSION) ? undefined : kind
  if (kind === undefined || !known.has(kind)) return undefined
  const behind = bytes.subarray(from + 1, to)
  const isGlued = flat.has(kind) ? behind.includes(OBJECT) : behind.includes(TYPE) || behind.includes(LINKED)
  return isGlued ? undefined : kind
}

const beginning = (bytes: Buffer, from: number): string | undefined => {
  if (isAt(bytes, from, LINKED)) return "message"
  if (!isAt(bytes, from, TYPE)) return undefined
  const kind = bytes.toString("latin1", from + TYPE.length, bytes.indexOf(QUOTE, from + TYPE.length))
  return messages.has(kind) ? "message" : kind
}

/**
 * Whether the line `[from, to)` surely says nothing that is not known: a message, a value as before, a kind that nobody
 * hears.
 */
export const passing = (hears?: ReadonlySet<string>) => {
  const said = new Map<string, Buffer>()
  return (array: Uint8Array, from: number, to: number): boolean => {
    const bytes = array instanceof Buffer ? array : Buffer.from(array.buffer, array.byteOffset, array.length)
    const kind = kindOf(bytes, from, to)
    if (kind === "message") return true
    if (kind === undefined) {
      // Whatever it says, what was said before may not be the last any more.
      said.clear()
      return false
    }
    if (hears?.has(kind) === false) return true
    if (!restated.has(kind)) return false
    const before = said.get(kind)
    if (before !== undefined && bytes.compare(before, 0, before.length, from, to) === 0) return true
    said.set(kind, Buffer.from(bytes.subarray(from, to)))
    return false
  }
}

/** What a message says under a key; a time that is none is not said. */
export const saidBy = (entry: Entry.Message, key: string): unknown =>
  key === "timestamp" ? SessionMetadata.timeOf(entry) : (entry as { readonly [key: string]: unknown })[key]

/** Which messages at the start of a log have been read. */
export interface Start {
  readonly isRead: boolean
  /** Whether the next message adds anything. */
  readonly take: (entry: Entry.Message) => boolean
}

/**
 * The messages from which first prompt, directory and time of creation are taken; each is taken when it adds one. With
 * `first`, the first message of all is taken too, whatever its lane.
 */
export const starting = (options: { readonly first: boolean } = { first: false }): Start => {
  const missing = { first: options.first, prompt: true, command: true, cwd: true, timestamp: true }
  const takeFirst = (): boolean => {
    const { first } = missing
    missing.first = false
    return first
  }
  return {
    get isRead() {
      return !missing.first && !missing.prompt && !missing.cwd && !missing.timestamp
    },
    take: (entry) => {
      const isFirst = takeFirst()
      if (entry.isSidechain === true) return isFirst
      const time = SessionMetadata.timeOf(entry)
      const prompt = entry.type === "user" ? SessionMetadata.firstPromptOf(entry)?.kind : undefined
      const adds =
        (prompt !== undefined && missing.prompt && missing[prompt]) ||
        (missing.cwd && entry.cwd !== undefined) ||
        (missing.timestamp && time !== undefined)
      if (prompt !== undefined) missing[prompt] = false
      if (entry.cwd !== undefined) missing.cwd = false
      if (time !== undefined) missing.timestamp = false
      return isFirst || adds
    }
  }
}
