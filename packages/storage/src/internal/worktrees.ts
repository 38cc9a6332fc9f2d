/**
 * Worktrees: the checkouts of one git repository, by what git keeps in files.
 *
 *   repo/.git/worktrees/fix/gitdir ─▶ /elsewhere/fix/.git ─ "gitdir: repo/.git/worktrees/fix" ─▶ commondir ─▶ repo/.git
 *
 * What is not there or cannot be read is no worktree: outside of a repository there is none.
 */
import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Directories from "./directories.ts"

const reading = <A>(read: () => A, otherwise: A): A => Result.getOrElse(Result.try(read), () => otherwise)

const textOf = (file: string): string => reading(() => fs.readFileSync(file, "utf8").trim(), "")

/** The roots of all worktrees of the repository that a directory is in. */
export const rootsOf = (directory: string): ReadonlyArray<string> => {
  const common = commonOf(reading(() => Directories.resolve(path.resolve(directory)), path.resolve(directory)))
  if (common === undefined) return []
  const records = path.join(common, "worktrees")
  const linked = reading<ReadonlyArray<string>>(() => fs.readdirSync(records), []).flatMap((name) => {
    const record = path.join(records, name)
    const dotGit = textOf(path.join(record, "gitdir"))
    return dotGit === "" ? [] : [path.dirname(path.resolve(record, dotGit))]
  })
  return path.basename(common) === ".git" ? [path.dirname(common), ...linked] : linked
}

/** The directory that all worktrees of a repository share. */
const commonOf = (directory: string): string | undefined => {
  for (let at = directory; ; at = path.dirname(at)) {
    const dotGit = path.join(at, ".git")
    const stat = reading(() => fs.statSync(dotGit, { throwIfNoEntry: false }), undefined)
    if (stat?.isDirectory() === true) return dotGit
    if (stat?.isFile() === true) {
      const [, gitDir] = /^gitdir: (.+)$/m.exec(textOf(dotGit)) ?? []
      if (gitDir === undefined) return undefined
      const own = path.resolve(at, gitDir)
      const common = textOf(path.join(own, "commondir"))
      return common === "" ? own : path.resolve(own, common)
    }
    if (at === path.dirname(at)) return undefined
  }
}
