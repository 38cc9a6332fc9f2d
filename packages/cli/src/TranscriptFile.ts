/**
 * TranscriptFile: one transcript named by its path, folded as it is read. It is never written, and no more than a
 * window and a line of it is held beside the state.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Identifier from "@reprise/domain/Identifier"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as SessionSource from "@reprise/domain/SessionSource"
import * as EntryLog from "@reprise/storage/EntryLog"
import type * as SessionCatalog from "@reprise/storage/SessionCatalog"
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
  LineReader.fold(EntryLog.at(file), projection).pipe(
    Effect.mapError(unreadable(file)),
    // What no program can hold (a line longer than the longest string) costs its file and not the ones after it.
    Effect.catchDefect((cause) =>
      Effect.fail(new TranscriptUnreadable({ file, found: `what stopped the reader: ${String(cause)}`, cause }))
    )
  )

/**
 * What a file holds: entries of all kinds, those of a kind that transcripts have, and those that are something else. A
 * line that ends in the middle and bytes that are none may be what is left of an entry, so they count as neither.
 *
 * @category models
 * @since 0.1.0
 */
export interface Evidence {
  readonly entries: number
  readonly known: number
  readonly foreign: number
}

/**
 * Counts what a file holds.
 *
 * @category projections
 * @since 0.1.0
 */
export const evidence: Projection.Projection<Line.Located, Evidence> = Projection.entries(
  Projection.make({
    initial: () => ({ entries: 0, known: 0, foreign: 0 }),
    evolve: (draft, entry: Entry.Entry) => {
      draft.entries++
      const kind = Entry.kindOf(entry)
      if (kind !== "unknown" && kind !== "malformed") draft.known++
      else if (!(entry instanceof Entry.Malformed) || !remains.has(entry.reason)) draft.foreign++
      return draft
    },
    extract: (draft): Evidence => draft
  })
)

const remains: ReadonlySet<Entry.Malformed["reason"]> = new Set(["torn", "blank"])

/**
 * Whether what a file holds may be a transcript, damaged or not.
 *
 * @category getters
 * @since 0.1.0
 */
export const isTranscript = ({ foreign, known }: Evidence): boolean => known > 0 || foreign === 0

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
export const mustBeTranscript = (file: string, held: Evidence): Effect.Effect<void, SessionSource.NotATranscript> => {
  if (isTranscript(held) || isNamed(file)) return Effect.void
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
    const hint = path.extname(file) === "" ? " (or name a session by its id, as `reprise list` shows it)" : ""
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
