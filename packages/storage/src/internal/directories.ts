/**
 * Directories: the rules for what is above a log. Synchronous; it throws what `node:fs` throws.
 *
 * 1. What we make is 0700 whatever the umask; the folder of a project and what is below it is narrowed when wider,
 *    but for one with the sticky bit.
 * 2. A directory that others may write, without the sticky bit and not ours, is refused: they could put another in its
 *    place.
 * 3. A new name is on the disk when its directory is, so changed directories are synced with the first log that is.
 */
import * as fs from "node:fs"
import * as path from "node:path"

/** Directories whose own entries are not yet known to be on the disk. */
export type Changed = Set<string>

/** A directory above a log can be written by others. */
class Shared extends Error {
  readonly code = "ESHARED"
}

/**
 * Makes the directory and what is missing above it, each 0700. Not with the system's own `recursive`, which never ends
 * where a directory that is there says of a new name that it does not exist, as /proc does.
 */
export const make = (directory: string, changed: Changed): void => {
  if (fs.statSync(directory, { throwIfNoEntry: false }) !== undefined) return
  const parent = path.dirname(directory)
  make(parent, changed)
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
export const narrow = (projects: string, directory: string): void => {
  const below = path.relative(projects, directory)
  if (below === "" || below.startsWith("..") || path.isAbsolute(below)) return
  let folder = projects
  for (const part of below.split(path.sep)) {
    folder = path.join(folder, part)
    const { mode } = fs.statSync(folder)
    // The sticky bit says that a directory is there for all.
    if ((mode & 0o077) !== 0 && (mode & 0o1000) === 0) ifOurs(() => fs.chmodSync(folder, 0o700))
  }
}

/** Throws `Shared` when others could replace the directory or one above it; where there are no users, it does not. */
export const refuseShared = (directory: string): void => {
  const user = process.geteuid?.()
  if (user === undefined) return
  for (let at = directory; ; at = path.dirname(at)) {
    const stat = fs.statSync(at, { throwIfNoEntry: false })
    if (stat !== undefined && stat.uid !== user && (stat.mode & 0o022) !== 0 && (stat.mode & 0o1000) === 0) {
      throw new Shared(at)
    }
    if (at === path.dirname(at)) return
  }
}

/** The mode of what belongs to another user is that user's matter. */
export const ifOurs = (change: () => void): void => {
  try {
    change()
  } catch (cause) {
    if (codeOf(cause) !== "EPERM") throw cause
  }
}

/** Puts new names on the disk; systems that cannot sync directories need not. */
export const sync = (changed: Changed): Error | null => {
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

/** Removes a folder and those in it, as far as they hold no file. */
export const removeEmpty = (folder: string): void => {
  if (fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmpty(path.join(folder, entry.name))
  }
  if (fs.readdirSync(folder).length === 0) fs.rmdirSync(folder)
}

const unsyncable = new Set(["EISDIR", "EINVAL", "EPERM", "EACCES", "ENOTSUP", "ENOENT"])

/** What systems without hard links answer to who makes one. */
export const isLinkless = (cause: unknown): boolean => linkless.has(codeOf(cause) ?? "")

const linkless = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"])

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
