/**
 * EntryLog: where the bytes of a log live. The port; files are `FileEntryLog`, memory is `layerMemory`.
 *
 *   append(log, bytes) ─▶ │ line LF line LF line LF │ ─▶ reader(log).read(offset, into)
 *
 * 1. Bytes are added at the end and never changed. `append` takes whole lines, each with its LF.
 * 2. A log that does not end in LF was torn: `append` writes one LF first, so a cut costs its line and not the next one.
 * 3. A failed `append` says how many bytes of whole lines it has written; the caller sends the rest again. A line that
 *    lacks its LF only is whole: the next append adds it.
 * 4. `append` gives the bytes to the system; `sync` returns when they are on the disk. After a `sync` that failed the
 *    system may have dropped them, and a second one would not say so: `rewrite` puts them where they were.
 * 5. A log that does not exist is read with `NotFound` and comes into being by `append`.
 * 6. What another program appends meanwhile is told by the next `append`, as `foreign`.
 */
import * as Identifier from "@reprise/domain/Identifier"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as path from "node:path"
import { keyOf, type LogId } from "./internal/address.ts"
import * as Changes from "./internal/changes.ts"
import { LF, rewritable } from "./internal/lines.ts"
import * as Memory from "./internal/memory.ts"
import * as ProjectPath from "./ProjectPath.ts"
import type { Locks } from "./SessionLock.ts"

export { at, keyOf, match, pathOf, session, withLane } from "./internal/address.ts"
export type { LogId } from "./internal/address.ts"
export { rewritable, wholeLines } from "./internal/lines.ts"

const reasons = {
  NotFound: "it does not exist. Check session id and directory.",
  NoSpace: "there is no space left. Free some and try again.",
  Denied: "permission denied. The log and its directory must belong to this user.",
  ReadOnly: "the file system is read-only. Remount it, or set CLAUDE_CONFIG_DIR to another place.",
  Symlink: "a transcript may not be a symlink. Put the file itself there; its directories may be links.",
  SharedDirectory: "others may write a directory above it. Take that right away, or set allowSharedDirectories.",
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
 * An operation on a log failed. `written` counts the bytes of whole lines that a failed `append` has put into the log,
 * from `start` on.
 *
 * @category errors
 * @since 0.1.0
 */
export class EntryLogError extends Schema.TaggedError<EntryLogError>()("EntryLogError", {
  operation: Schema.Literals(["append", "rewrite", "sync", "read", "stat", "list", "project", "lock"]),
  path: Schema.String,
  reason: Schema.Literals(Object.keys(reasons) as ReadonlyArray<Reason>),
  written: Schema.optionalKey(Schema.Number),
  start: Schema.optionalKey(Schema.Number),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    const code = (this.cause as { readonly code?: unknown } | undefined)?.code
    const what = typeof code === "string" ? ` (${code})` : ""
    const written = this.written === undefined ? "" : ` after ${this.written} bytes of whole lines`
    const why = (this.reason === "Other" ? saidBy(this.cause) : undefined) ?? reasons[this.reason]
    return `${this.operation} failed${what}${written} at ${this.path}: ${why}`
  }
}

/** What an error says; one of the system also says at which path, which stands in ours already. */
const saidBy = (cause: unknown): string | undefined => {
  if (!(cause instanceof Error)) return undefined
  const { message, syscall } = cause as NodeJS.ErrnoException
  return `${syscall === undefined ? message : message.split(`, ${syscall}`)[0]}.`
}

/**
 * Where appended bytes stand: offsets into the log, the end exclusive, right as long as one writer writes. `foreign` is
 * there when the log was found with another size than ours before the append.
 *
 * @category models
 * @since 0.1.0
 */
export interface Appended {
  readonly start: number
  readonly end: number
  readonly foreign?: Foreign
}

/**
 * Another program changed a log: it ended at `ours` when we were done with it, and is `size` bytes long now. A size
 * below ours: it was cut.
 *
 * @category models
 * @since 0.1.0
 */
export interface Foreign {
  readonly ours: number
  readonly size: number
}

/**
 * Operations that are done when they return, for a program that has no later.
 *
 * @category models
 * @since 0.1.0
 */
export interface Blocking {
  readonly append: (log: LogId, lines: Uint8Array) => Result.Result<Appended, EntryLogError>
  readonly rewrite: (log: LogId, start: number, lines: Uint8Array) => Result.Result<void, EntryLogError>
  readonly sync: (log: LogId) => Result.Result<void, EntryLogError>
}

/**
 * Size in bytes, and the time of the last change in milliseconds since 1970. `file` tells a log from another in its place;
 * absent: the port cannot tell.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stat {
  readonly size: number
  readonly mtime: number
  readonly file?: string
}

/**
 * What of both ends of a log was read at once: the first `head` bytes of it, and the last `tail`. No byte is read twice.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ends extends Stat {
  readonly head: number
  readonly tail: number
}

/**
 * A main log of a project; `archived`: a file beside it says that it was put away.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listed extends Stat {
  readonly log: LogId
  readonly path: string
  readonly archived: boolean
}

/**
 * What is named as logs are and is none of a session: its name is no UUID, it is a directory, a symlink, no regular file,
 * or it could not be looked at (`error`).
 *
 * @category models
 * @since 0.1.0
 */
export interface Passed {
  readonly path: string
  readonly why: "Name" | "Directory" | "Symlink" | "NoFile" | "Unreadable"
  readonly error?: EntryLogError
}

/**
 * All that is named as logs are in a project.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listing {
  readonly logs: ReadonlyArray<Listed>
  readonly passed: ReadonlyArray<Passed>
}

/**
 * A log open for reading: `read` fills `into` from a byte offset on and gives the number of bytes, 0 at the end; `size`
 * is that at the time of opening; `isReplaced`: its name leads to another log by now.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reader {
  readonly size: number
  readonly isReplaced: Effect.Effect<boolean, EntryLogError>
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
    /** Writes again what `append` wrote at `start`; `NotFound` when that place is no more, so that it must be appended. */
    readonly rewrite: (log: LogId, start: number, lines: Uint8Array) => Effect.Effect<void, EntryLogError>
    /** The same at once; none where a log cannot. */
    readonly blocking: Blocking | undefined
    /** What others appended since our last append, or since `expect`; nothing when the log is as we left it. */
    readonly foreign: (log: LogId) => Effect.Effect<Foreign | undefined, EntryLogError>
    /** Says up to where the log is known, by reading it: what is behind is foreign, until the log is released. */
    readonly expect: (log: LogId, size: number) => Effect.Effect<void>
    /** Opens the log for reading; needs no permission to write and changes nothing. */
    readonly reader: (log: LogId) => Effect.Effect<Reader, EntryLogError, Scope.Scope>
    /**
     * Reads both ends of a log at once. The first half of `into` takes its beginning, the other half its end: one piece
     * where the log fits.
     */
    readonly ends: (log: LogId, into: Uint8Array) => Effect.Effect<Ends, EntryLogError>
    readonly stat: (log: LogId) => Effect.Effect<Stat, EntryLogError>
    /** Hints that the log may have changed: late, twice or, where the system tells nothing, never. */
    readonly changes: (log: LogId) => Stream.Stream<void>
    /** Frees what is kept open for appending; a later append opens it again. */
    readonly release: (log: LogId) => Effect.Effect<void>
    /** The project of a directory: its key, the same for every spelling of the directory. */
    readonly project: (directory: string) => Effect.Effect<string, EntryLogError>
    /** Keys of all projects. */
    readonly projects: Effect.Effect<ReadonlyArray<string>, EntryLogError>
    /** Main logs of a project, those named by a UUID; a project that does not exist has none. */
    readonly sessions: (project: string) => Effect.Effect<ReadonlyArray<LogId>, EntryLogError>
    /** The same with size and time of each, and what else is named so; a project that does not exist has none. */
    readonly listing: (project: string) => Effect.Effect<Listing, EntryLogError>
    /** Logs of a session's sidechains. */
    readonly sidechains: (log: LogId) => Effect.Effect<ReadonlyArray<LogId>, EntryLogError>
    /** What locks its sessions; where a log has none of its own, the `SessionLock` of the program does. */
    readonly locks?: Locks
    /** The file of a log; absent: its logs are no files. */
    readonly fileOf?: (log: LogId) => string
  }
>()("@reprise/storage/EntryLog") {}

/**
 * Where a log is: its file where logs are files, else its key.
 *
 * @category getters
 * @since 0.1.0
 */
export const placeOf = (port: EntryLog["Service"], log: LogId): string => port.fileOf?.(log) ?? keyOf(log)

/**
 * Logs in memory, for tests and for sessions that nobody wants to keep.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<EntryLog> = Layer.effect(
  EntryLog,
  Effect.map(Clock.Clock, (clock) => {
    const logs = new Map<string, Memory.Log>()
    const expected = new Map<string, number>()
    const changes = Changes.make()
    const fail = (operation: EntryLogError["operation"], log: LogId) =>
      Result.fail(new EntryLogError({ operation, path: keyOf(log), reason: "NotFound" }))
    const find = (operation: "read" | "stat", log: LogId) => {
      const found = logs.get(keyOf(log))
      return Effect.fromResult(found === undefined ? fail(operation, log) : Result.succeed(found))
    }
    const foreign = (log: LogId): Foreign | undefined => {
      const ours = expected.get(keyOf(log))
      const size = logs.get(keyOf(log))?.size ?? 0
      return ours === undefined || ours === size ? undefined : { ours, size }
    }
    const sessions = () => Array.from(logs.values(), ({ id }) => id).filter((id) => id._tag === "Session")
    const mainOf = (project: string) =>
      sessions().filter(
        (id) => id.project === project && id.lane._tag === "Main" && Identifier.isSessionId(id.sessionId)
      )
    const blocking: Blocking = {
      append: (id, lines) => {
        const mtime = clock.currentTimeMillisUnsafe()
        const log = logs.get(keyOf(id)) ?? Memory.make(id, mtime)
        const found = foreign(id)
        logs.set(keyOf(id), log)
        if (log.size > 0 && log.bytes[log.size - 1] !== LF) Memory.add(log, newline)
        const start = log.size
        Memory.add(log, lines)
        log.mtime = mtime
        expected.set(keyOf(id), log.size)
        changes.tell(keyOf(id))
        return Result.succeed({ start, end: log.size, ...(found && { foreign: found }) })
      },
      rewrite: (id, start, lines) => {
        const log = logs.get(keyOf(id))
        if (log === undefined) return fail("rewrite", id)
        const count = rewritable(lines, log.size - start, log.bytes[start + lines.length - 1])
        if (count < 0) return fail("rewrite", id)
        const there = Math.min(count, log.size - start)
        log.bytes.set(lines.subarray(0, there), start)
        Memory.add(log, lines.subarray(there, count))
        if (there < count) expected.set(keyOf(id), log.size)
        return Result.void
      },
      sync: () => Result.void
    }
    return EntryLog.of({
      ...deferred(blocking),
      blocking,
      foreign: (id) => Effect.sync(() => foreign(id)),
      expect: (id, size) => Effect.sync(() => void expected.set(keyOf(id), size)),
      reader: (id) =>
        Effect.map(find("read", id), (log) => ({
          size: log.size,
          isReplaced: Effect.succeed(false),
          read: (offset, into) =>
            Effect.sync(() => {
              const part = log.bytes.subarray(offset, Math.min(log.size, offset + into.length))
              into.set(part)
              return part.length
            })
        })),
      ends: (id, into) => Effect.map(find("read", id), (log) => Memory.ends(log, into)),
      stat: (id) => Effect.map(find("stat", id), ({ mtime, size }) => ({ size, mtime })),
      changes: (id) => changes.of(keyOf(id)),
      release: (id) => Effect.sync(() => void expected.delete(keyOf(id))),
      project: (directory) => Effect.sync(() => ProjectPath.keyOf(path.resolve(directory))),
      projects: Effect.sync(() => [...new Set(sessions().map(({ project }) => project))].toSorted()),
      sessions: (project) => Effect.sync(() => mainOf(project)),
      listing: (project) =>
        Effect.sync(() => ({
          logs: mainOf(project).map((log) => {
            const { mtime, size } = logs.get(keyOf(log))!
            return { log, path: keyOf(log), size, mtime, archived: false }
          }),
          passed: []
        })),
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
)

/**
 * The effects of blocking operations; for adapters.
 *
 * @category combinators
 * @since 0.1.0
 */
export const deferred = ({
  append,
  rewrite,
  sync
}: Blocking): Pick<EntryLog["Service"], "append" | "rewrite" | "sync"> => ({
  append: (log, lines) => Effect.suspend(() => Effect.fromResult(append(log, lines))),
  rewrite: (log, start, lines) => Effect.suspend(() => Effect.fromResult(rewrite(log, start, lines))),
  sync: (log) => Effect.suspend(() => Effect.fromResult(sync(log)))
})

const newline = Uint8Array.of(LF)
