/**
 * Files: descriptors kept open for appending, and the rules that hold each time one is opened. Synchronous; it throws
 * what `node:fs` throws, and `FileEntryLog` turns that into typed errors.
 *
 *   stat(path) ── same file as the descriptor? ── no ──▶ open: directories 0700, file 0600, last byte
 *        └─ same size as our own end? ─────────── no ──▶ last byte
 *   write [LF if torn] + lines
 *
 * 1. Path and descriptor are compared before each write: nothing goes to a file that was removed or moved away.
 * 2. The mode of what we create does not depend on the umask; a transcript or project folder that is wider is narrowed.
 * 3. After a failed write the descriptor is closed, so that the next one looks at the last byte again.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "../EntryLog.ts"

/** A write stopped; `written` as in `EntryLogError`. */
export class ShortWrite {
  readonly cause: unknown
  readonly written: number

  constructor(cause: unknown, written: number) {
    this.cause = cause
    this.written = written
  }
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

/** Descriptors by path; the least recently used one is closed when there are too many. */
export interface Files {
  readonly append: (file: string, lines: Uint8Array) => { readonly start: number; readonly end: number }
  readonly sync: (file: string, done: (error: Error | null) => void) => void
  readonly release: (file: string) => void
  readonly releaseAll: () => void
}

const LF = 0x0a
const newline = Uint8Array.of(LF)
const { O_APPEND, O_CREAT, O_RDWR } = fs.constants
const O_NOFOLLOW = fs.constants.O_NOFOLLOW ?? 0

/** Files below `projects` and others; at most `maxOpen` descriptors are kept. */
export const make = (projects: string, maxOpen: number): Files => {
  const kept = new Map<string, Open>()
  /** Directories whose own entries are not yet known to be on the disk. */
  const changed = new Set<string>()

  const close = (file: string, open: Open): void => {
    if (kept.get(file) === open) kept.delete(file)
    if (open.syncing > 0) open.closing = true
    else fs.closeSync(open.fd)
  }
  const keep = (file: string, open: Open): Open => {
    kept.delete(file)
    kept.set(file, open)
    for (const [oldest, other] of kept) {
      if (kept.size <= maxOpen) break
      if (oldest !== file) close(oldest, other)
    }
    return open
  }
  const openFile = (file: string): Open => {
    makeDirectory(path.dirname(file), changed)
    narrowDirectories(projects, path.dirname(file))
    const isNew = fs.statSync(file, { throwIfNoEntry: false }) === undefined
    const fd = fs.openSync(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
    try {
      if (isNew) changed.add(path.dirname(file))
      const stat = fs.fstatSync(fd)
      const { dev, ino, mode, size } = stat
      if (stat.isFile() && (mode & 0o777) !== 0o600) ifOurs(() => fs.fchmodSync(fd, 0o600))
      return { fd, dev, ino, end: size, torn: isTorn(fd, size), syncing: 0, closing: false }
    } catch (cause) {
      fs.closeSync(fd)
      throw cause
    }
  }
  const current = (file: string): Open => {
    const open = kept.get(file)
    if (open === undefined) return keep(file, openFile(file))
    const now = fs.statSync(file, { throwIfNoEntry: false })
    if (now === undefined || now.ino !== open.ino || now.dev !== open.dev) {
      close(file, open)
      return keep(file, openFile(file))
    }
    if (now.size !== open.end) {
      open.end = now.size
      open.torn = isTorn(open.fd, now.size)
    }
    return keep(file, open)
  }
  return {
    append: (file, lines) => {
      const open = current(file)
      const start = open.end + (open.torn ? 1 : 0)
      let written = 0
      try {
        if (open.torn) written = some(fs.writevSync(open.fd, [newline, lines])) - 1
        while (written < lines.length) written += some(fs.writeSync(open.fd, lines, written))
      } catch (cause) {
        close(file, open)
        throw new ShortWrite(cause, EntryLog.wholeLines(lines, written))
      }
      open.end = start + lines.length
      open.torn = lines.length > 0 ? lines[lines.length - 1] !== LF : false
      return { start, end: open.end }
    },
    sync: (file, done) => {
      const open = kept.get(file) ?? keep(file, openFile(file))
      open.syncing++
      fs.fdatasync(open.fd, (error) => {
        open.syncing--
        if (open.closing && open.syncing === 0) fs.closeSync(open.fd)
        done(error ?? syncDirectories(changed))
      })
    },
    release: (file) => {
      const open = kept.get(file)
      if (open !== undefined) close(file, open)
    },
    releaseAll: () => {
      for (const [file, open] of kept) close(file, open)
    }
  }
}

/** A write that writes nothing would be tried for ever. */
const some = (count: number): number => {
  if (count <= 0) throw new Error("the system wrote nothing and gave no reason")
  return count
}

const isTorn = (fd: number, size: number): boolean => {
  if (size === 0) return false
  const last = new Uint8Array(1)
  return fs.readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== LF
}

/** Makes the directory and what is missing above it, each 0700. */
const makeDirectory = (directory: string, changed: Set<string>): void => {
  if (fs.statSync(directory, { throwIfNoEntry: false }) !== undefined) return
  const parent = path.dirname(directory)
  makeDirectory(parent, changed)
  try {
    fs.mkdirSync(directory, 0o700)
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return
    throw cause
  }
  fs.chmodSync(directory, 0o700)
  changed.add(parent)
}

/** Narrows the folder of a project and the folders below it, down to `directory`. */
const narrowDirectories = (projects: string, directory: string): void => {
  const below = path.relative(projects, directory)
  if (below === "" || below.startsWith("..") || path.isAbsolute(below)) return
  let folder = projects
  for (const part of below.split(path.sep)) {
    folder = path.join(folder, part)
    if ((fs.statSync(folder).mode & 0o077) !== 0) ifOurs(() => fs.chmodSync(folder, 0o700))
  }
}

/** The mode of what belongs to another user is that user's matter. */
const ifOurs = (change: () => void): void => {
  try {
    change()
  } catch (cause) {
    if (codeOf(cause) !== "EPERM") throw cause
  }
}

/** A new name is on the disk when its directory is; systems that cannot sync directories need not. */
const syncDirectories = (changed: Set<string>): Error | null => {
  for (const directory of changed) {
    try {
      const fd = fs.openSync(directory, fs.constants.O_RDONLY)
      try {
        fs.fsyncSync(fd)
      } finally {
        fs.closeSync(fd)
      }
    } catch (cause) {
      if (!unsyncable.has(codeOf(cause) ?? "")) return cause as Error
    }
    changed.delete(directory)
  }
  return null
}

const unsyncable = new Set(["EISDIR", "EINVAL", "EPERM", "EACCES", "ENOTSUP", "ENOENT"])

/** The code of a system error (`ENOENT`, …). */
export const codeOf = (cause: unknown): string | undefined => {
  const code = (cause as { readonly code?: unknown } | null | undefined)?.code
  return typeof code === "string" ? code : undefined
}

/** The real path of a directory; where its last parts do not exist, that of the part which does, and the rest. */
export const resolve = (directory: string): string => {
  try {
    return fs.realpathSync.native(directory)
  } catch (cause) {
    const parent = path.dirname(directory)
    if (codeOf(cause) !== "ENOENT" || parent === directory) throw cause
    return path.join(resolve(parent), path.basename(directory))
  }
}
