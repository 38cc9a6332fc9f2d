/**
 * Files: descriptors kept open for appending, and the rules that hold each time one is opened. Synchronous; it throws
 * what `node:fs` throws, and `FileEntryLog` turns that into typed errors.
 *
 *   stat(path) ── same file as the descriptor? ── no ──▶ open: directories 0700, file 0600, last byte
 *        └─ same size as our own end? ─────────── no ──▶ last byte, and the caller is told
 *   write [LF if torn] + lines
 *
 * 1. Path and descriptor are compared before each write: nothing goes to a file that was removed or moved away.
 * 2. The mode of what we create does not depend on the umask; a transcript or project folder that is wider is narrowed.
 * 3. After a failed write the descriptor is closed, so that the next one looks at the last byte again.
 * 4. When the system gives no more descriptors, half of ours are closed before that is an error.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "../EntryLog.ts"
import * as Directories from "./directories.ts"

/** A write stopped; `start` and `written` as in `EntryLogError`. */
export class ShortWrite {
  readonly cause: unknown
  readonly start: number
  readonly written: number

  constructor(cause: unknown, start: number, written: number) {
    this.cause = cause
    this.start = start
    this.written = written
  }
}

/** Where files are, which directories are accepted above them, and how many descriptors are kept. */
export interface Options {
  readonly projects: string
  readonly maxOpen: number
  readonly allowShared: boolean
}

interface Open {
  readonly fd: number
  readonly dev: number
  readonly ino: number
  end: number
  torn: boolean
  syncing: number
  closing: boolean
}

/** The end of what we know of a file; which file it is, once we have written to it. */
interface Ours {
  readonly end: number
  readonly dev?: number
  readonly ino?: number
}

/** Descriptors by path; the least recently used one is closed when there are too many. */
export interface Files {
  readonly append: (file: string, lines: Uint8Array) => EntryLog.Appended
  readonly rewrite: (file: string, start: number, lines: Uint8Array) => void
  readonly sync: (file: string, done: (error: Error | null) => void) => void
  readonly syncNow: (file: string) => void
  readonly foreign: (file: string) => EntryLog.Foreign | undefined
  readonly expect: (file: string, size: number) => void
  readonly release: (file: string) => void
  readonly releaseAll: () => void
}

const LF = 0x0a
const newline = Uint8Array.of(LF)
const { O_APPEND, O_CREAT, O_RDWR } = fs.constants
const O_NOFOLLOW = fs.constants.O_NOFOLLOW ?? 0

/** Files below `projects` and others. */
export const make = (options: Options): Files => {
  const changed: Directories.Changed = new Set()
  const kept = keeper(options.maxOpen, (file) => openFile(file, options, changed))
  const ours = new Map<string, Ours>()
  /** A descriptor of the file that we wrote to; there may be none any more. */
  const written = <A>(file: string, use: (fd: number) => A): A => {
    const open = kept.get(file)
    if (open !== undefined) return use(open.fd)
    const fd = fs.openSync(file, O_RDWR | O_NOFOLLOW)
    try {
      mustBe(fd, ours.get(file))
      return use(fd)
    } finally {
      fs.closeSync(fd)
    }
  }
  return {
    append: (file, lines) => {
      const open = current(kept, file)
      const foreign = difference(ours.get(file), open.end)
      const start = open.end + (open.torn ? 1 : 0)
      let count = 0
      try {
        if (open.torn) count = some(fs.writevSync(open.fd, [newline, lines])) - 1
        while (count < lines.length) count += some(fs.writeSync(open.fd, lines, count))
      } catch (cause) {
        remember(ours, file, open)
        kept.close(file, open)
        throw new ShortWrite(cause, start, EntryLog.wholeLines(lines, count))
      }
      open.end = start + lines.length
      open.torn = lines.length > 0 ? lines[lines.length - 1] !== LF : false
      ours.set(file, { dev: open.dev, ino: open.ino, end: open.end })
      return foreign === undefined ? { start, end: open.end } : { start, end: open.end, foreign }
    },
    // Not through the kept descriptor: a write at an offset appends where the descriptor is O_APPEND.
    rewrite: (file, start, lines) => {
      const fd = fs.openSync(file, O_RDWR | O_NOFOLLOW)
      try {
        const { dev, ino, size } = mustBe(fd, ours.get(file))
        const most = EntryLog.rewritable(lines, size - start, byteAt(fd, start + lines.length - 1))
        if (most < 0) throw gone()
        for (let count = 0; count < most;) count += some(fs.writeSync(fd, lines, count, most - count, start + count))
        if (start + most > size) ours.set(file, { dev, ino, end: start + most })
      } finally {
        fs.closeSync(fd)
      }
    },
    sync: (file, done) => {
      const open = kept.get(file)
      if (open === undefined) {
        written(file, (fd) => fs.fdatasyncSync(fd))
        return done(Directories.sync(changed))
      }
      open.syncing++
      fs.fdatasync(open.fd, (error) => {
        open.syncing--
        if (open.closing && open.syncing === 0) fs.closeSync(open.fd)
        done(error ?? Directories.sync(changed))
      })
    },
    syncNow: (file) => {
      written(file, (fd) => fs.fdatasyncSync(fd))
      const error = Directories.sync(changed)
      if (error !== null) throw error
    },
    foreign: (file) => difference(ours.get(file), sizeOf(file)),
    expect: (file, size) => void ours.set(file, { end: size }),
    release: (file) => {
      ours.delete(file)
      const open = kept.get(file)
      if (open !== undefined) kept.close(file, open)
    },
    releaseAll: kept.closeAll
  }
}

interface Keeper {
  readonly get: (file: string) => Open | undefined
  readonly open: (file: string) => Open
  /** Makes it the one that was used last. */
  readonly touch: (file: string, open: Open) => Open
  readonly close: (file: string, open: Open) => void
  readonly closeAll: () => void
}

const keeper = (maxOpen: number, openNew: (file: string) => Open): Keeper => {
  const kept = new Map<string, Open>()
  const close = (file: string, open: Open): void => {
    if (kept.get(file) === open) kept.delete(file)
    if (open.syncing > 0) open.closing = true
    else fs.closeSync(open.fd)
  }
  const closeOldest = (most: number, but?: string): void => {
    for (const [file, open] of kept) {
      if (kept.size <= most) break
      if (file !== but) close(file, open)
    }
  }
  const touch = (file: string, open: Open): Open => {
    kept.delete(file)
    kept.set(file, open)
    if (kept.size > maxOpen) closeOldest(maxOpen, file)
    return open
  }
  return {
    get: (file) => kept.get(file),
    open: (file) => {
      try {
        return touch(file, openNew(file))
      } catch (cause) {
        if (kept.size === 0 || !outOfDescriptors.has(Directories.codeOf(cause) ?? "")) throw cause
        closeOldest(kept.size >> 1)
        return touch(file, openNew(file))
      }
    },
    touch,
    close,
    closeAll: () => closeOldest(0)
  }
}

const outOfDescriptors = new Set(["EMFILE", "ENFILE"])

const openFile = (file: string, { allowShared, projects }: Options, changed: Directories.Changed): Open => {
  const directory = path.dirname(file)
  if (!allowShared) Directories.refuseShared(directory)
  Directories.make(directory, changed)
  Directories.narrow(projects, directory)
  const isNew = fs.statSync(file, { throwIfNoEntry: false }) === undefined
  const fd = fs.openSync(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
  try {
    if (isNew) changed.add(directory)
    const stat = fs.fstatSync(fd)
    // What is written to a pipe is kept by nobody.
    if (!stat.isFile() && !stat.isCharacterDevice()) throw new Error("no regular file")
    const { dev, ino, mode, size } = stat
    if (stat.isFile() && (mode & 0o777) !== 0o600) Directories.ifOurs(() => fs.fchmodSync(fd, 0o600))
    return { fd, dev, ino, end: size, torn: isTorn(fd, size), syncing: 0, closing: false }
  } catch (cause) {
    fs.closeSync(fd)
    throw cause
  }
}

/** The descriptor of the file that is at the path now, and what its end is. */
const current = (kept: Keeper, file: string): Open => {
  const open = kept.get(file)
  if (open === undefined) return kept.open(file)
  const now = fs.statSync(file, { throwIfNoEntry: false })
  if (now === undefined || now.ino !== open.ino || now.dev !== open.dev) {
    kept.close(file, open)
    return kept.open(file)
  }
  if (now.size !== open.end) {
    open.end = now.size
    open.torn = isTorn(open.fd, now.size)
  }
  return kept.touch(file, open)
}

/** What is no file has no bytes of anybody. */
const sizeOf = (file: string): number => {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  return stat?.isFile() === true ? stat.size : 0
}

const difference = (ours: Ours | undefined, size: number): EntryLog.Foreign | undefined =>
  ours === undefined || ours.end === size ? undefined : { ours: ours.end, size }

/** What a write that failed has left at the end is ours too. */
const remember = (ours: Map<string, Ours>, file: string, { dev, fd, ino }: Open): void => {
  try {
    ours.set(file, { dev, ino, end: fs.fstatSync(fd).size })
  } catch {
    ours.delete(file)
  }
}

/** Throws as if there were no file when it is known to be another than ours. */
const mustBe = (fd: number, ours: Ours | undefined): fs.Stats => {
  const stat = fs.fstatSync(fd)
  if (ours?.ino === undefined || (ours.ino === stat.ino && ours.dev === stat.dev)) return stat
  throw gone()
}

const gone = (): Error => Object.assign(new Error("another file is in its place"), { code: "ENOENT" })

/** A write that writes nothing would be tried for ever. */
const some = (count: number): number => {
  if (count <= 0) throw new Error("the system wrote nothing and gave no reason")
  return count
}

const isTorn = (fd: number, size: number): boolean => {
  const last = byteAt(fd, size - 1)
  return last !== undefined && last !== LF
}

const byteAt = (fd: number, at: number): number | undefined => {
  const byte = new Uint8Array(1)
  return at >= 0 && fs.readSync(fd, byte, 0, 1, at) === 1 ? byte[0] : undefined
}
