/**
 * SessionName: how every command is told which session: by the path of its transcript, by its id or the beginning of
 * it, or not at all, which is the latest of this directory.
 *
 *   session.jsonl ─ path ────────────────────────────────┐
 *   7d1f0c52 ────── id, in all projects of --projects ───┼─▶ the path of one log
 *   (nothing) ───── latest of this directory ────────────┘
 *
 * What looks like an id is a path all the same where there is such a file.
 */
import * as SessionSource from "@reprise/domain/SessionSource"
import type * as EntryLog from "@reprise/storage/EntryLog"
import * as StoredSessionSource from "@reprise/storage/StoredSessionSource"
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"

const named = "A transcript (.jsonl), or the id of a session of any project, or its beginning"
const latest = "without one, the latest session of this directory"

/**
 * The argument that names a session.
 *
 * @category arguments
 * @since 0.1.0
 */
export const argument: Argument.Argument<string> = Argument.String("session").pipe(Argument.withDescription(named))

/**
 * The same where it may be left out, and what that says.
 *
 * @category arguments
 * @since 0.1.0
 */
export const orElse = (without: string): Argument.Argument<string | undefined> =>
  Argument.String("session").pipe(
    Argument.withDescription(`${named}; ${without}`),
    Argument.optional,
    Argument.map(Option.getOrUndefined)
  )

/**
 * A session, or the latest.
 *
 * @category arguments
 * @since 0.1.0
 */
export const orLatest: Argument.Argument<string | undefined> = orElse(latest)

/**
 * Any number of names, in the order in which the sessions are to be shown.
 *
 * @category arguments
 * @since 0.1.0
 */
export const several: Argument.Argument<ReadonlyArray<string>> = Argument.String("session").pipe(
  Argument.withDescription(
    `Transcripts (.jsonl), or ids of sessions of any project, or their beginnings, in the order to show them; ${latest}`
  ),
  Argument.variadic()
)

/** An id, or as much of one as is shown of it. */
const isId = (name: string): boolean => /^[\da-f]{4,8}(-[\da-f-]*)?$/i.test(name) && !fs.existsSync(name)

/**
 * The file that a name leads to.
 *
 * @category reading
 * @since 0.1.0
 */
export const fileOf = Effect.fn("SessionName.fileOf")(function* (
  name: string | undefined
): Effect.fn.Return<string, SessionSource.Unresolved, EntryLog.EntryLog> {
  if (name !== undefined && !isId(name)) return name
  const source = name === undefined ? SessionSource.latest(process.cwd()) : SessionSource.id(name)
  return (yield* StoredSessionSource.resolve(source)).path
})

/**
 * What an error is about: the name that was given, else this directory.
 *
 * @category getters
 * @since 0.1.0
 */
export const shown = (name: string | undefined): string => name ?? process.cwd()
