/**
 * Projects: where the command looks for sessions: those of the working directory, or all; and below which directory.
 */
import type * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import type * as SessionCatalog from "@reprise/storage/SessionCatalog"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as TranscriptFile from "./TranscriptFile.ts"

/**
 * The flags of all commands that look for sessions.
 *
 * @category flags
 * @since 0.1.0
 */
export const flags = {
  all: Flag.Boolean("all").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Sessions of all projects, not only of this directory and its git worktrees")
  ),
  projects: Flag.String("projects").pipe(
    Flag.withMetavar("DIR"),
    Flag.optional,
    Flag.withDescription("The directory that holds a folder for each project (default: ~/.claude/projects)")
  )
}

/**
 * What the flags say.
 *
 * @category models
 * @since 0.1.0
 */
export interface Where {
  readonly all: boolean
  readonly projects: Option.Option<string>
}

/**
 * The scope that the flags name, seen from the working directory.
 *
 * @category getters
 * @since 0.1.0
 */
export const scope = ({ all }: Where): SessionCatalog.Scope => (all ? {} : { directory: process.cwd() })

/**
 * Fails when the flags name a directory that does not exist: what is looked for there would seem to be nowhere.
 *
 * @category running
 * @since 0.1.0
 */
export const mustExist = ({ projects }: Where): Effect.Effect<void, TranscriptFile.TranscriptUnreadable> =>
  Effect.suspend(() => {
    if (Option.isNone(projects)) return Effect.void
    if (fs.statSync(projects.value, { throwIfNoEntry: false }) !== undefined) return Effect.void
    const found = "nothing; check the path"
    const expected = "a directory that holds a folder for each project"
    return Effect.fail(
      new TranscriptFile.TranscriptUnreadable({ file: projects.value, expected, found, cause: undefined })
    )
  })

/**
 * Runs with the logs below the directory that the flags name.
 *
 * @category running
 * @since 0.1.0
 */
export const within = <A, E, R>(
  { projects }: Where,
  run: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | EntryLog.EntryLog> =>
  Option.match(projects, {
    onNone: (): Effect.Effect<A, E, R | EntryLog.EntryLog> => run,
    onSome: (directory) => Effect.provide(run, FileEntryLog.layerWith({ projects: directory }))
  })

/**
 * The session of a log, as its file is named.
 *
 * @category getters
 * @since 0.1.0
 */
export const sessionIdOf = (log: EntryLog.LogId): string | null => (log._tag === "Session" ? log.sessionId : null)
