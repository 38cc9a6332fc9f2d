/**
 * Staging: files that are made beside their place, and put there all together or not at all. Synchronous; it throws what
 * `node:fs` throws.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Bringing from "./bringing.ts"
import * as Directories from "./directories.ts"

/** A file, and where it belongs. */
export interface Staged {
  readonly file: string
  readonly to: string
}

/** All files of a folder, and their places in another one. */
export const below = (folder: string, to: string): ReadonlyArray<Staged> =>
  fs.existsSync(folder)
    ? fs.readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" }).flatMap((entry) => {
        const file = path.join(entry.parentPath, entry.name)
        return entry.isFile() ? [{ file, to: path.join(to, path.relative(folder, file)) }] : []
      })
    : []

/** A file whose place is free. */
export const missing = (file: string, to: string): ReadonlyArray<Staged> => (Bringing.isThere(to) ? [] : [{ file, to }])

/** Puts files in their places, in their order, and on the disk; should one fail, those before it are taken away again. */
export const place = (files: ReadonlyArray<Staged>): void => {
  const changed: Directories.Changed = new Set()
  const placed: Array<string> = []
  const made: Array<string> = []
  try {
    for (const { file, to } of files) {
      made.push(...missingAbove(to))
      Directories.make(path.dirname(to), changed)
      move(file, to)
      placed.push(to)
      changed.add(path.dirname(to))
    }
    const failure = Directories.sync(changed)
    if (failure !== null) throw failure
  } catch (cause) {
    for (const file of placed) fs.rmSync(file, { force: true })
    for (const folder of made) Directories.removeEmpty(folder)
    throw cause
  }
}

/** A place on another file system cannot be renamed to: then it is copied, under another name first. */
const move = (file: string, to: string): void => {
  try {
    fs.renameSync(file, to)
  } catch (cause) {
    if (Directories.codeOf(cause) !== "EXDEV") throw cause
    Bringing.whole(to, (part) => fs.copyFileSync(file, part, fs.constants.COPYFILE_EXCL))
  }
}

/** The highest folder above a file that does not exist. */
const missingAbove = (file: string): ReadonlyArray<string> => {
  let missing: string | undefined
  for (let at = path.dirname(file); !fs.existsSync(at); at = path.dirname(at)) missing = at
  return missing === undefined ? [] : [missing]
}
