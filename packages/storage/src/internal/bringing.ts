/**
 * Bringing: a file that a session has, where another session looks for its own. Synchronous; it throws what `node:fs`
 * throws. No link is followed, nothing is overwritten, and what is made half is not left.
 */
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "../EntryLog.ts"
import * as Directories from "./directories.ts"
import * as Reasons from "./reasons.ts"

/** Whether a name from a log names one file of a folder, and nothing elsewhere. */
export const isName = (name: string): boolean =>
  name !== "" && name !== "." && name !== ".." && !/[/\\\p{Cc}]/u.test(name) && Buffer.byteLength(name) <= 255

/** What became of a file: it is there now, it was there before, or it is nowhere. */
export type Brought = "brought" | "there" | "gone"

/**
 * Brings the first file that is there: as a link where what it holds never changes and the file system has links, else as
 * a copy for its owner alone.
 */
export const bring = (
  from: ReadonlyArray<string>,
  to: string,
  how: "link" | "copy",
  changed: Directories.Changed
): Brought => {
  if (isThere(to)) return "there"
  const file = from.find((one) => fileAt(one) !== undefined)
  if (file === undefined) return "gone"
  makeFolder(path.dirname(to), changed)
  if (how === "copy" || !link(file, to)) {
    whole(to, (part) => {
      fs.copyFileSync(file, part, fs.constants.COPYFILE_EXCL)
      fs.chmodSync(part, 0o600 | (fileAt(part)!.mode & 0o100))
    })
  }
  changed.add(path.dirname(to))
  return "brought"
}

const fileAt = (file: string): fs.Stats | undefined => {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false })
  return stat?.isFile() === true && isFolder(path.dirname(file)) ? stat : undefined
}

/** Whether a file is there; throws where it is something else. */
export const isThere = (to: string): boolean => {
  const stat = fs.lstatSync(to, { throwIfNoEntry: false })
  if (stat?.isFile() === false) throw inTheWay(to, "EEXIST")
  return stat !== undefined
}

/** Writes a file that is not there. */
export const write = (to: string, text: string, changed: Directories.Changed): void => {
  makeFolder(path.dirname(to), changed)
  whole(to, (part) => fs.writeFileSync(part, text, { mode: 0o600, flag: "wx" }))
  changed.add(path.dirname(to))
}

const isFolder = (folder: string): boolean => fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true

const makeFolder = (folder: string, changed: Directories.Changed): void => {
  Directories.make(folder, changed)
  if (!isFolder(folder)) throw inTheWay(folder, "ELOOP")
}

const inTheWay = (at: string, code: string): Error =>
  Object.assign(new Error(`something else in its place: ${at}`), { code, path: at })

/** The error of an append, at the path that it came from. */
export const errorOf =
  (otherwise: string) =>
  (cause: unknown): EntryLog.EntryLogError => {
    const at = (cause as { readonly path?: unknown } | null)?.path
    const found = typeof at === "string" ? at : otherwise
    return new EntryLog.EntryLogError({ operation: "append", path: found, reason: Reasons.of(cause), cause })
  }

/** True: it is there. A file system, or a place on another one, may have no links. */
const link = (from: string, to: string): boolean => {
  try {
    fs.linkSync(from, to)
    return true
  } catch (cause) {
    return Directories.codeOf(cause) === "EEXIST"
  }
}

/**
 * Gives a finished file the name that it was made for, which has to be free: no other file is ever replaced. Without links,
 * the name is taken by an empty file first.
 */
export const name = (part: string, to: string): void => {
  try {
    fs.linkSync(part, to)
    return
  } catch (cause) {
    if (!Directories.isLinkless(cause)) throw cause
  }
  fs.closeSync(fs.openSync(to, "wx", 0o600))
  try {
    fs.renameSync(part, to)
  } catch (cause) {
    fs.rmSync(to, { force: true })
    throw cause
  }
}

/** Makes a file under another name first, so that its own never leads to half of it. */
export const whole = (to: string, make: (part: string) => void): void => {
  const part = `${to}.${randomUUID().slice(0, 8)}.part`
  try {
    make(part)
    fs.renameSync(part, to)
  } finally {
    fs.rmSync(part, { force: true })
  }
}
