/**
 * SideFile: what a program keeps beside a log: small texts that are replaced as a whole, and drafts of logs.
 *
 *   <log>.jsonl.<name>          a text: written beside, on the disk, then renamed
 *   <log>.jsonl.draft           lines that may become the log: linked to its name, or read again and gone
 *
 * 1. Files are 0600, directories 0700, as those of logs; a link in the place of a file is not followed.
 * 2. A text is the old one or the new one, whenever the machine stops. A draft becomes a log whole or not at all, and
 *    never in the place of another.
 * 3. There is one draft of a log: whoever makes one holds the lock of the session, and what a dead program left is gone.
 */
import * as Effect from "effect/Effect"
import { Buffer } from "node:buffer"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import * as Directories from "./internal/directories.ts"
import * as Reasons from "./internal/reasons.ts"

const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK, O_RDONLY, O_RDWR } = fs.constants

/**
 * Reads a text; undefined where there is none.
 *
 * @category reading
 * @since 0.1.0
 */
export const read = (file: string): Effect.Effect<string | undefined, EntryLog.EntryLogError> =>
  attempt("read", file, () => {
    let fd: number
    try {
      fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } catch (cause) {
      if (Directories.codeOf(cause) === "ENOENT") return undefined
      throw cause
    }
    try {
      return fs.readFileSync(fd, "utf8")
    } finally {
      fs.closeSync(fd)
    }
  })

/**
 * Replaces a text; returns when the disk has it.
 *
 * @category writing
 * @since 0.1.0
 */
export const write = (file: string, text: string): Effect.Effect<void, EntryLog.EntryLogError> =>
  attempt("append", file, () => {
    const part = `${file}.part`
    const fd = create(part)
    try {
      fs.writeFileSync(fd, text)
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(part, file)
    syncDirectory(file)
  })

/**
 * A draft: lines that are put down to become a log, or to be read again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Draft {
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, EntryLog.EntryLogError>
  /** So many bytes from an offset on. */
  readonly read: (offset: number, length: number) => Effect.Effect<Uint8Array, EntryLog.EntryLogError>
  /** Makes it the log, on the disk; false where there is one by now. */
  readonly place: Effect.Effect<boolean, EntryLog.EntryLogError>
}

/**
 * A draft of the log at a path, gone with the scope.
 *
 * @category constructors
 * @since 0.1.0
 */
export const draft = Effect.fnUntraced(function* (file: string) {
  const part = `${file}.draft`
  const fd = yield* Effect.acquireRelease(
    attempt("append", part, () => create(part)),
    (fd) =>
      Effect.sync(() => {
        fs.closeSync(fd)
        fs.rmSync(part, { force: true })
      })
  )
  let size = 0
  const made: Draft = {
    append: (bytes) =>
      attempt("append", part, () => {
        for (let at = 0; at < bytes.length;) at += fs.writeSync(fd, bytes, at, bytes.length - at, size + at)
        size += bytes.length
      }),
    read: (offset, length) =>
      attempt("read", part, () => {
        const bytes = Buffer.allocUnsafe(Math.min(length, size - offset))
        for (let at = 0; at < bytes.length;) {
          const count = fs.readSync(fd, bytes, at, bytes.length - at, offset + at)
          if (count === 0) throw new Error("it became shorter while it was read")
          at += count
        }
        return bytes
      }),
    place: attempt("append", file, () => {
      fs.fsyncSync(fd)
      try {
        fs.linkSync(part, file)
      } catch (cause) {
        if (Directories.codeOf(cause) === "EEXIST") return false
        throw cause
      }
      syncDirectory(file)
      return true
    })
  }
  return made
})

/** A new file in a directory of our own; what had its name is gone. */
const create = (file: string): number => {
  const directory = path.dirname(file)
  Directories.refuseShared(directory)
  Directories.make(directory, new Set())
  fs.rmSync(file, { force: true })
  const fd = fs.openSync(file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  fs.fchmodSync(fd, 0o600)
  return fd
}

const syncDirectory = (file: string): void => {
  const failure = Directories.sync(new Set([path.dirname(file)]))
  if (failure !== null) throw failure
}

const attempt = <A>(
  operation: EntryLog.EntryLogError["operation"],
  file: string,
  run: () => A
): Effect.Effect<A, EntryLog.EntryLogError> =>
  Effect.try({
    try: run,
    catch: (cause) => new EntryLog.EntryLogError({ operation, path: file, reason: Reasons.of(cause), cause })
  })
