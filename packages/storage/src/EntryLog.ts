/**
 * EntryLog: where the bytes of a log live. The port; files are `FileEntryLog`, memory is `layerMemory`.
 *
 *   append(log, bytes) ─▶ │ line LF line LF line LF │ ─▶ reader(log).read(offset, into)
 *
 * 1. Bytes are added at the end and never changed. `append` takes whole lines, each with its LF.
 * 2. A log that does not end in LF was torn: `append` writes one LF first, so a cut costs its line and not the next one.
 * 3. A failed `append` says how many bytes of whole lines it has written; the caller sends the rest again. A line that
 *    lacks its LF only is whole: the next append adds it.
 * 4. `append` gives the bytes to the system; `sync` returns when they are on the disk.
 * 5. A log that does not exist is read with `NotFound` and comes into being by `append`.
 */
import * as Identifier from "@reprise/domain/Identifier"
import * as Lane from "@reprise/domain/Lane"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as path from "node:path"
import * as ProjectPath from "./ProjectPath.ts"

/**
 * The address of a log: a lane of a session, where `project` is a key below the projects directory or an absolute
 * directory of its own; or any one file.
 *
 * @category models
 * @since 0.1.0
 */
export type LogId = Data.TaggedEnum<{
  readonly Session: ProjectPath.Place
  readonly File: { readonly path: string }
}>

const { $match, File, Session } = Data.taggedEnum<LogId>()

/**
 * The log of a session's lane, by default of its main lane.
 *
 * @category constructors
 * @since 0.1.0
 */
export const session = (project: string, sessionId: string, lane: Lane.Lane = Lane.main): LogId =>
  Session({ project, sessionId, lane })

/**
 * The log at a path: a lane of a session if it is named like one, else that one file.
 *
 * @category constructors
 * @since 0.1.0
 */
export const at = (file: string): LogId => {
  const place = ProjectPath.parse(path.resolve(file))
  return place === undefined ? File({ path: path.resolve(file) }) : Session(place)
}

/**
 * The log of another lane of the same session.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withLane = (log: LogId, lane: Lane.Lane): LogId =>
  log._tag === "Session"
    ? session(log.project, log.sessionId, lane)
    : session(path.dirname(log.path), path.parse(log.path).name, lane)

/**
 * Branches on the kind of address.
 *
 * @category combinators
 * @since 0.1.0
 */
export const match = $match

/**
 * The path of a log, where `projects` is the directory that project keys are below. Equal for equal logs.
 *
 * @category combinators
 * @since 0.1.0
 */
export const pathOf = (projects: string, log: LogId): string =>
  log._tag === "File" ? log.path : ProjectPath.transcript({ ...log, project: path.resolve(projects, log.project) })

/**
 * A string that is equal for equal addresses, for use as a map key.
 *
 * @category combinators
 * @since 0.1.0
 */
export const keyOf = (log: LogId): string => pathOf("/", log)

const reasons = {
  NotFound: "it does not exist. Check session id and directory.",
  NoSpace: "there is no space left. Free some; what was accepted is kept.",
  Denied: "permission denied. The log and its directory must belong to this user.",
  ReadOnly: "the file system is read-only. Remount it, or set CLAUDE_CONFIG_DIR to another place.",
  Symlink: "a transcript may not be a symlink. Put the file itself there; its directories may be links.",
  TooManyFiles: "too many files are open. Raise the limit (ulimit -n).",
  InputOutput: "the device reported an error. Check the disk.",
  Other: "see the cause."
} as const

/**
 * Why an operation on a log failed.
 *
 * @category errors
 * @since 0.1.0
 */
export type Reason = keyof typeof reasons

/**
 * An operation on a log failed. `written` counts the bytes of whole lines that a failed `append` has put into the log.
 *
 * @category errors
 * @since 0.1.0
 */
export class EntryLogError extends Schema.TaggedError<EntryLogError>()("EntryLogError", {
  operation: Schema.Literals(["append", "sync", "read", "stat", "list", "project"]),
  path: Schema.String,
  reason: Schema.Literals(Object.keys(reasons) as ReadonlyArray<Reason>),
  written: Schema.optionalKey(Schema.Number),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    const code = (this.cause as { readonly code?: unknown } | undefined)?.code
    const what = typeof code === "string" ? ` (${code})` : ""
    const written = this.written === undefined ? "" : ` after ${this.written} bytes of whole lines`
    return `${this.operation} failed${what}${written} at ${this.path}: ${reasons[this.reason]}`
  }
}

/**
 * Where appended bytes stand: offsets into the log, the end exclusive, right as long as one writer writes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Appended {
  readonly start: number
  readonly end: number
}

/**
 * Size in bytes, and the time of the last change in milliseconds since 1970.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stat {
  readonly size: number
  readonly mtime: number
}

/**
 * A log open for reading: `read` fills `into` from a byte offset on and gives the number of bytes, 0 at the end; `size`
 * is that at the time of opening.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reader {
  readonly size: number
  readonly read: (offset: number, into: Uint8Array) => Effect.Effect<number, EntryLogError>
}

/**
 * The port.
 *
 * @category services
 * @since 0.1.0
 */
export class EntryLog extends Context.Service<
  EntryLog,
  {
    /** Adds whole lines; the buffer may be used again when the effect is done. */
    readonly append: (log: LogId, lines: Uint8Array) => Effect.Effect<Appended, EntryLogError>
    /** Returns when all that was appended is on the disk. */
    readonly sync: (log: LogId) => Effect.Effect<void, EntryLogError>
    /** Opens the log for reading; needs no permission to write and changes nothing. */
    readonly reader: (log: LogId) => Effect.Effect<Reader, EntryLogError, Scope.Scope>
    readonly stat: (log: LogId) => Effect.Effect<Stat, EntryLogError>
    /** Frees what is kept open for appending; a later append opens it again. */
    readonly release: (log: LogId) => Effect.Effect<void>
    /** The project of a directory: its key, the same for every spelling of the directory. */
    readonly project: (directory: string) => Effect.Effect<string, EntryLogError>
    /** Keys of all projects. */
    readonly projects: Effect.Effect<ReadonlyArray<string>, EntryLogError>
    /** Main logs of a project, those named by a UUID; a project that does not exist has none. */
    readonly sessions: (project: string) => Effect.Effect<ReadonlyArray<LogId>, EntryLogError>
    /** Logs of a session's sidechains. */
    readonly sidechains: (log: LogId) => Effect.Effect<ReadonlyArray<LogId>, EntryLogError>
  }
>()("@reprise/storage/EntryLog") {}

/**
 * Logs in memory, for tests and for sessions that nobody wants to keep.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<EntryLog> = Layer.sync(EntryLog, () => {
  const logs = new Map<string, MemoryLog>()
  const find = (operation: "read" | "stat", log: LogId) => {
    const found = logs.get(keyOf(log))
    return found !== undefined
      ? Effect.succeed(found)
      : Effect.fail(new EntryLogError({ operation, path: keyOf(log), reason: "NotFound" }))
  }
  const sessions = () => Array.from(logs.values(), ({ id }) => id).filter((id) => id._tag === "Session")
  return EntryLog.of({
    append: (id, lines) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const log = logs.get(keyOf(id)) ?? { id, bytes: new Uint8Array(1024), size: 0, mtime: now }
        logs.set(keyOf(id), log)
        if (log.size > 0 && log.bytes[log.size - 1] !== LF) add(log, newline)
        const start = log.size
        add(log, lines)
        log.mtime = now
        return { start, end: log.size }
      }),
    sync: () => Effect.void,
    reader: (id) =>
      Effect.map(find("read", id), (log) => ({
        size: log.size,
        read: (offset, into) =>
          Effect.sync(() => {
            const part = log.bytes.subarray(offset, Math.min(log.size, offset + into.length))
            into.set(part)
            return part.length
          })
      })),
    stat: (id) => Effect.map(find("stat", id), ({ mtime, size }) => ({ size, mtime })),
    release: () => Effect.void,
    project: (directory) => Effect.sync(() => ProjectPath.keyOf(path.resolve(directory))),
    projects: Effect.sync(() => [...new Set(sessions().map(({ project }) => project))].toSorted()),
    sessions: (project) =>
      Effect.sync(() =>
        sessions().filter(
          (id) => id.project === project && id.lane._tag === "Main" && Identifier.isSessionId(id.sessionId)
        )
      ),
    sidechains: (log) =>
      Effect.sync(() =>
        sessions().filter(
          (id) =>
            log._tag === "Session" &&
            id.project === log.project &&
            id.sessionId === log.sessionId &&
            id.lane._tag === "Sidechain"
        )
      )
  })
})

interface MemoryLog {
  readonly id: LogId
  bytes: Uint8Array
  size: number
  mtime: number
}

const LF = 0x0a

/**
 * The bytes of those lines that are in a log when `written` bytes of all are; for adapters.
 *
 * @category combinators
 * @since 0.1.0
 */
export const wholeLines = (lines: Uint8Array, written: number): number => {
  if (lines[written] === LF) return written + 1
  return written === 0 ? 0 : lines.lastIndexOf(LF, written - 1) + 1
}

const newline = Uint8Array.of(LF)

const add = (log: MemoryLog, bytes: Uint8Array): void => {
  if (log.size + bytes.length > log.bytes.length) {
    const grown = new Uint8Array(Math.max(2 * log.bytes.length, log.size + bytes.length))
    grown.set(log.bytes.subarray(0, log.size))
    log.bytes = grown
  }
  log.bytes.set(bytes, log.size)
  log.size += bytes.length
}
