/**
 * Folders: where the sessions of a directory may be, in whichever spelling it was recorded.
 */
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import type * as EntryLog from "../EntryLog.ts"
import * as ProjectPath from "../ProjectPath.ts"
import * as Worktrees from "./worktrees.ts"

/** The projects of a directory, its own first; also those of its other spellings, and those that hash a long path otherwise. */
export const of = Effect.fnUntraced(function* (port: EntryLog.EntryLog["Service"], directory: string) {
  const own = yield* port.project(directory)
  const projects = new Set([own])
  for (const spelling of ProjectPath.spellings(directory)) {
    if (isSame(spelling, directory)) projects.add(yield* port.project(spelling))
  }
  if (ProjectPath.isCut(own)) {
    for (const folder of yield* port.projects) if (ProjectPath.isFolderOf(own, folder)) projects.add(folder)
  }
  return projects
})

/** The projects of a directory and, where its repository has several, of the roots of all worktrees. */
export const withWorktrees = Effect.fnUntraced(function* (port: EntryLog.EntryLog["Service"], directory: string) {
  const projects = new Set(yield* of(port, directory))
  const roots = Worktrees.rootsOf(directory)
  if (roots.length > 1) for (const root of roots) for (const project of yield* of(port, root)) projects.add(project)
  return projects
})

/** Whether two paths lead to one directory. */
export const isSame = (a: string, b: string): boolean => {
  if (a === b) return true
  const [one, other] = [a, b].map((directory) => fs.statSync(directory, { throwIfNoEntry: false }))
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev
}
