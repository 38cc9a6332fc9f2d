/**
 * TranscriptFile: one transcript named by its path, folded as it is read. It is never written, and no more than a
 * window and a line of it is held beside the state.
 */
import * as Evidence from "@reprise/domain/Evidence"
import * as Identifier from "@reprise/domain/Identifier"
import type * as Line from "@reprise/domain/Line"
import type * as Projection from "@reprise/domain/Projection"
import * as SessionSource from "@reprise/domain/SessionSource"
import type * as Suffix from "@reprise/domain/Suffix"
import * as EntryLog from "@reprise/storage/EntryLog"
import type * as SessionCatalog from "@reprise/storage/SessionCatalog"
import * as History from "@reprise/storage/History"
import * as LineReader from "@reprise/storage/LineReader"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as path from "node:path"

/**
 * A path that cannot be read as what was expected there; `found` says what is there instead.
 *
 * @category errors
 * @since 0.1.0
 */
export class TranscriptUnreadable extends Schema.TaggedError<TranscriptUnreadable>()("TranscriptUnreadable", {
  file: Schema.String,
  expected: Schema.optionalKey(Schema.String),
  found: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `${this.file}: expected ${this.expected ?? "a transcript that can be read"}, found ${this.found}`
  }
}

/**
 * Folds the entries of a file.
 *
 * @category reading
 * @since 0.1.0
 */
export const fold = <S>(
  file: string,
  projection: Projection.Projection<Line.Located, S>
): Effect.Effect<S, TranscriptUnreadable, EntryLog.EntryLog> =>
  guarded(file, LineReader.fold(EntryLog.at(file), projection))

/**
 * Reads a file through one of the doors to its history.
 *
 * @category reading
 * @since 0.1.0
 */
export const read = <S, B>(
  file: string,
  doors: Suffix.Doors<S, B>,
  options: History.Options
): Effect.Effect<S, TranscriptUnreadable, EntryLog.EntryLog> =>
  guarded(
    file,
    Effect.map(History.read(EntryLog.at(file), doors, options), ({ answer }) => answer)
  )

const guarded = <S>(
  file: string,
  reading: Effect.Effect<S, EntryLog.EntryLogError, EntryLog.EntryLog>
): Effect.Effect<S, TranscriptUnreadable, EntryLog.EntryLog> =>
  reading.pipe(
    Effect.mapError(unreadable(file)),
    // What no program can hold (a line longer than the longest string) costs its file and not the ones after it.
    Effect.catchDefect((cause) =>
      Effect.fail(new TranscriptUnreadable({ file, found: `what stopped the reader: ${String(cause)}`, cause }))
    )
  )

/**
 * Whether the name of a file says that it is a transcript: of a session, or of an agent.
 *
 * @category getters
 * @since 0.1.0
 */
export const isNamed = (file: string): boolean => {
  const name = path.basename(file)
  return ProjectPath.laneOf([name]) !== undefined || ProjectPath.sessionOf(name) !== undefined
}

/**
 * Fails for a file that is no transcript, by its name and by what it holds.
 *
 * @category running
 * @since 0.1.0
 */
export const mustBeTranscript = (
  file: string,
  held: Evidence.Evidence
): Effect.Effect<void, SessionSource.NotATranscript> => {
  if (Evidence.isTranscript(held) || isNamed(file)) return Effect.void
  const lines = held.entries === 1 ? "one line, which is no entry" : `${held.entries} lines, none of which is an entry`
  return Effect.fail(
    new SessionSource.NotATranscript({ path: file, found: `${lines} of a transcript; check the path` })
  )
}

/**
 * Runs something that reads logs, and says how far it is in the one that is read: bytes.
 *
 * @category reading
 * @since 0.1.0
 */
export const watched = <A, E, R>(
  run: Effect.Effect<A, E, R>,
  watch: (progress: SessionCatalog.Progress) => Effect.Effect<void>
): Effect.Effect<A, E, R | EntryLog.EntryLog> =>
  Effect.flatMap(EntryLog.EntryLog, (port) =>
    Effect.provideService(run, EntryLog.EntryLog, {
      ...port,
      reader: (log) =>
        Effect.map(port.reader(log), ({ read, size }) => ({
          size,
          read: (offset, into) =>
            Effect.tap(read(offset, into), (count) => watch({ done: offset + count, total: size }))
        }))
    })
  )

/**
 * Says what a log could not be read for.
 *
 * @category errors
 * @since 0.1.0
 */
export const unreadable =
  (file: string) =>
  (cause: EntryLog.EntryLogError): TranscriptUnreadable =>
    new TranscriptUnreadable({ file, found: found(file, cause), cause })

const found = (file: string, { cause, reason }: EntryLog.EntryLogError): string => {
  const code = (cause as { readonly code?: unknown } | undefined)?.code
  if (code === "EISDIR") return "a directory; name the .jsonl files in it"
  if (reason === "NotFound") {
    const id = "by its id, as `reprise list` shows it, or at least 4 characters of its beginning"
    const hint = path.extname(file) === "" ? ` (or name a session ${id})` : ""
    return `no file; check the path${hint}`
  }
  if (reason === "Denied") return "a file that this user may not read; check its permissions"
  if (typeof code === "string") return `an error of the system (${code})`
  return cause instanceof Error ? cause.message : `an error (${reason})`
}

/**
 * The session that a transcript belongs to: its file name where that is a UUID, else the first that its lines name.
 *
 * @category getters
 * @since 0.1.0
 */
export const sessionIdOf = (file: string, written: string | undefined): string | null => {
  const name = path.basename(file, ".jsonl")
  return Identifier.isSessionId(name) ? name : (written ?? null)
}
