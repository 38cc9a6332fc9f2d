/**
 * Projects: where the command looks for sessions: those of the working directory, or all; and below which directory.
 */
import type * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import type * as SessionCatalog from "@reprise/storage/SessionCatalog"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as Flags from "./Flags.ts"
import * as TranscriptFile from "./TranscriptFile.ts"

/**
 * The flags of all commands that look for sessions.
 *
 * @category flags
 * @since 0.1.0
 */
export const flags = {
  all: Flags.on("all", "Sessions of all projects, not only of this directory and its git worktrees"),
  projects: Flags.text(
    "projects",
    "DIR",
    "The directory that holds a folder for each project (default: ~/.claude/projects)"
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
export const scope = ({ all }: Pick<Where, "all">): SessionCatalog.Scope => (all ? {} : { directory: process.cwd() })

/**
 * The directory that holds a folder for each project.
 *
 * @category getters
 * @since 0.1.0
 */
export const directory = ({ projects }: Pick<Where, "projects">) =>
  Option.match(projects, { onNone: () => ProjectPath.projectsDirectory, onSome: (named) => Effect.succeed(named) })

/**
 * Runs with the logs below the directory that the flags name, which may come into being.
 *
 * @category running
 * @since 0.1.0
 */
export const into = <A, E, R>(
  run: Effect.Effect<A, E, R>,
  { projects }: Pick<Where, "projects">
): Effect.Effect<A, E, R | EntryLog.EntryLog> =>
  Option.match(projects, {
    onNone: (): Effect.Effect<A, E, R | EntryLog.EntryLog> => run,
    onSome: (named) => Effect.provide(run, FileEntryLog.layerWith({ projects: named }))
  })

/**
 * The same for what is only read there: of a directory that does not exist, all that is sought would seem to be nowhere.
 *
 * @category running
 * @since 0.1.0
 */
export const within = <A, E, R>(
  run: Effect.Effect<A, E, R>,
  { projects }: Pick<Where, "projects">
): Effect.Effect<A, E | TranscriptFile.TranscriptUnreadable, R | EntryLog.EntryLog> =>
  Effect.andThen(Option.match(projects, { onNone: () => Effect.void, onSome: mustExist }), into(run, { projects }))

/**
 * Whether a directory that was named is one: a session of a mistyped one is found by nobody.
 *
 * @category guards
 * @since 0.1.0
 */
export const isDirectory = (named: string): boolean =>
  fs.statSync(named, { throwIfNoEntry: false })?.isDirectory() === true

const mustExist = (file: string): Effect.Effect<void, TranscriptFile.TranscriptUnreadable> =>
  Effect.suspend(() => {
    if (fs.statSync(file, { throwIfNoEntry: false }) !== undefined) return Effect.void
    const found = "nothing; check the path"
    const expected = "a directory that holds a folder for each project"
    return Effect.fail(new TranscriptFile.TranscriptUnreadable({ file, expected, found, cause: undefined }))
  })

/**
 * The session of a log, as its file is named.
 *
 * @category getters
 * @since 0.1.0
 */
export const sessionIdOf = (log: EntryLog.LogId): string | null => (log._tag === "Session" ? log.sessionId : null)
