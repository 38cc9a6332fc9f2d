/**
 * Sift: which lines of a log may say something about its session, told by their first and last bytes.
 *
 *   {"type":"tag",…}                 of that kind             {"parentUuid":…   {"type":"user",…    messages: the lines
 *   {"sessionId":…,"type":"tag"}     it has to be read                                              of which logs are full
 *
 * 1. The kind of a line is that which it begins with. One that ends as metadata does though it began as a message, or
 *    holds a second object where its kind has none, or a second beginning, is two lines glued together: it has to be read.
 * 2. Messages are read at the start of a log, until prompt, directory and time of creation are known.
 * 3. Of values that are said again and again, only the last one is read.
 */
import * as Entry from "@reprise/domain/Entry"
import type { Position } from "@reprise/domain/Finding"
import type * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Message from "@reprise/domain/Message"
import type * as Metadata from "@reprise/domain/Metadata"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import { Buffer } from "node:buffer"
import * as Flat from "./flat.ts"

const TYPE = Buffer.from('{"type":"')
const LINKED = Buffer.from('{"parentUuid":')
const SESSION = Buffer.from(',"sessionId":"')
const OBJECT = Buffer.from('{"')
const CLOSE = 0x7d

/** From the key of a session's id to the end of the line, with a UUID between. */
const LAST = SESSION.length + 36 + 2

/** Kinds whose values are no objects. */
const flat = [
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
] as const

/** Those of them that count as often as they are said. */
const accumulating: ReadonlySet<string> = new Set(["pr-link", "summary", "task-summary"])

/** A kind as its lines begin; `key` is that of a value of which only the last one counts. */
export interface Kind {
  readonly name: string
  readonly bytes: Buffer
  readonly isFlat: boolean
  readonly key: string | undefined
}

const message: Kind = { name: "message", bytes: LINKED, isFlat: false, key: undefined }

const isFlat: ReadonlySet<string> = new Set(flat)

const kinds: ReadonlyArray<Kind> = Entry.kinds.map((name) => {
  const bytes = Buffer.from(`{"type":"${name}"`)
  if (name === "progress" || Message.isMessageType(name)) return { ...message, bytes }
  const key = isFlat.has(name) && !accumulating.has(name) ? SessionMetadata.valueKey(name as Metadata.Kind) : undefined
  return { name, bytes, isFlat: isFlat.has(name), key }
})

/** Whether lines of the kind hold messages. */
export const isMessage = (kind: Kind | undefined): boolean => kind?.name === message.name

/** By the first letter of their names. */
const byLetter = new Map(
  kinds.map(({ bytes }) => [
    bytes[TYPE.length]!,
    kinds.filter((kind) => kind.bytes[TYPE.length] === bytes[TYPE.length])
  ])
)

/** Whether the part stands at a place. */
export const isAt = (bytes: Buffer, at: number, part: Buffer): boolean => {
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false
  return true
}

const beginning = (bytes: Buffer, from: number): Kind | undefined => {
  if (isAt(bytes, from, LINKED)) return message
  if (!isAt(bytes, from, TYPE)) return undefined
  return byLetter.get(bytes[from + TYPE.length]!)?.find((kind) => isAt(bytes, from, kind.bytes))
}

/**
 * The kind of the line `[from, to)`: `message` for all that link or are linked; undefined where it has to be read.
 */
export const kindOf = (bytes: Buffer, from: number, to: number): Kind | undefined => {
  if (bytes[to - 1] !== CLOSE) return undefined
  const kind = beginning(bytes, from)
  if (isMessage(kind)) return isAt(bytes, to - LAST, SESSION) ? undefined : kind
  return kind === undefined || isGlued(bytes, from, to, kind) ? undefined : kind
}

const isGlued = (bytes: Buffer, from: number, to: number, { isFlat }: Kind): boolean => {
  if (isFlat) {
    // The next line, as a rule, begins with one.
    const next = bytes.indexOf(OBJECT, from + 1)
    return next >= 0 && next < to
  }
  const behind = bytes.subarray(from + 1, to)
  return behind.includes(TYPE) || behind.includes(LINKED)
}

/** What the line `[from, to)` of a kind says, where only the last value of its kind counts and the line is flat. */
export const said = (bytes: Buffer, from: number, to: number, { key, name }: Kind): Entry.Entry | undefined => {
  const value = key === undefined ? undefined : Flat.find(bytes, from, to, key)
  return value && ({ type: name, [key!]: Flat.textOf(bytes, value) } as unknown as Entry.Known)
}

/** Lines that are passed by: `isPassed` tells one, `flush` reads what is held back of them. */
export interface Passing {
  readonly isPassed: LineSplitter.IsPassed
  readonly flush: () => void
}

/** A line that says the last value of its kind so far: the first bytes of these. */
interface Held {
  readonly bytes: Buffer
  readonly at: Position
}

/**
 * Passes by messages, kinds that nobody hears, and values that are said again later: of these only the last one is read,
 * when a line comes that may say the same in another way, or when all is flushed. `mark` tells where a line begins.
 */
export const passing = (
  read: (line: Uint8Array, at: Position) => void,
  mark: LineSplitter.LineSplitter["mark"],
  hears?: ReadonlySet<string>
): Passing => {
  const held = new Map<string, Held>()
  const flush = (): void => {
    for (const { at, bytes } of held.values()) read(bytes.subarray(0, at.byteEnd - at.byteStart), at)
    held.clear()
  }
  const hold = (kind: string, bytes: Buffer, from: number, to: number): void => {
    const { byte: byteStart, line } = mark()
    const before = held.get(kind)?.bytes
    const copy = before !== undefined && before.length >= to - from ? before : Buffer.allocUnsafe(2 * (to - from))
    bytes.copy(copy, 0, from, to)
    held.set(kind, { bytes: copy, at: { line, byteStart, byteEnd: byteStart + to - from } })
  }
  return {
    flush,
    isPassed: (array, from, to) => {
      const bytes = array instanceof Buffer ? array : Buffer.from(array.buffer, array.byteOffset, array.length)
      const kind = kindOf(bytes, from, to)
      if (isMessage(kind)) return true
      if (kind !== undefined) {
        if (hears?.has(kind.name) === false) return true
        if (kind.key === undefined) return false
        if (Flat.find(bytes, from, to, kind.key) !== undefined) {
          hold(kind.name, bytes, from, to)
          return true
        }
      }
      flush()
      return false
    }
  }
}

/** Which messages at the start of a log have been read. */
export interface Start {
  readonly isRead: boolean
  /** Whether the next message adds anything. */
  readonly take: (entry: Entry.Message) => boolean
}

/**
 * The messages from which first prompt, directory and time of creation are taken; each is taken when it adds one. With
 * `first`, the first message of all is taken too, whatever its lane. With `each`, all are taken until a session is named
 * as well: then what they say last is known up to there.
 */
export const starting = ({ each = false, first = false } = {}): Start => {
  const missing = { first, session: each, prompt: true, command: true, cwd: true, timestamp: true }
  const isRead = () => !missing.first && !missing.session && !missing.prompt && !missing.cwd && !missing.timestamp
  const takeFirst = (): boolean => {
    const { first } = missing
    missing.first = false
    return first
  }
  const adds = (entry: Entry.Message): boolean => {
    const isFirst = takeFirst()
    if (entry.sessionId !== undefined && entry.sessionId !== "") missing.session = false
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
  return {
    get isRead() {
      return isRead()
    },
    take: (entry) => {
      const isTaken = each && !isRead()
      return adds(entry) || isTaken
    }
  }
}
