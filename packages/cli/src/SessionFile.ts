/**
 * SessionFile: a transcript that is to be written, named by its path: which session it is, and what its messages carry.
 *
 * A path that was mistyped must cost nothing: a file that does not exist, that holds no entry, or that is an agent's own
 * log is refused before anything is written.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Evidence from "@reprise/domain/Evidence"
import * as Identifier from "@reprise/domain/Identifier"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as SessionSource from "@reprise/domain/SessionSource"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import type * as Transcript from "@reprise/storage/Transcript"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TranscriptFile from "./TranscriptFile.ts"

/**
 * A session by its file. `sessionId` is null where neither the name nor a line tells it; the rest is what the last
 * message says that has it.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionFile {
  readonly log: EntryLog.LogId
  readonly sessionId: string | null
  readonly cwd?: string
  readonly version?: string
  readonly gitBranch?: string
}

interface Envelope {
  sessionId?: string
  cwd?: string
  version?: string
  gitBranch?: string
}

const keys = ["cwd", "version", "gitBranch"] as const

const envelope: Projection.Projection<Line.Located, Envelope> = Projection.entries(
  Projection.make({
    initial: (): Envelope => ({}),
    evolve: (draft: Envelope, entry: Entry.Entry) => {
      const from = entry as { readonly [key: string]: unknown }
      if (draft.sessionId === undefined && isText(from["sessionId"])) draft.sessionId = from["sessionId"]
      if (!Entry.isMessage(entry)) return draft
      for (const key of keys) if (isText(from[key])) draft[key] = from[key]
      return draft
    },
    extract: (draft) => draft
  })
)

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/**
 * Finds the session of a file. `empty`: a file without any byte is a session that has not begun.
 *
 * @category reading
 * @since 0.1.0
 */
export const find = Effect.fn("SessionFile.find")(function* (
  file: string,
  options: { readonly empty: boolean } = { empty: false }
) {
  const log = EntryLog.at(file)
  if (log._tag === "Session" && log.lane._tag === "Sidechain") {
    return yield* new SessionSource.NotATranscript({
      path: file,
      found: "an agent's own log; name the log of its session"
    })
  }
  const both = Projection.struct({ said: envelope, held: Evidence.projection })
  const {
    held: { entries, known },
    said: { sessionId, ...own }
  } = yield* TranscriptFile.fold(file, both)
  if (known === 0 && !(options.empty && entries === 0)) {
    const found = entries === 0 ? "an empty file" : "no entry of a transcript in it"
    return yield* new SessionSource.NotATranscript({ path: file, found })
  }
  const session: SessionFile = { log, sessionId: TranscriptFile.sessionIdOf(file, sessionId), ...own }
  return session
})

/**
 * The version of the format that entries claim in a session which names none.
 *
 * @category constants
 * @since 0.1.0
 */
export const formatVersion = "2.1.332"

/**
 * What is stamped on the entries of a session that names no directory and version of its own.
 *
 * @category constructors
 * @since 0.1.0
 */
export const stamp = (cwd: string) => ({ cwd, version: formatVersion, entrypoint: "cli" })

/**
 * How the session of a file is opened so that it goes on as it is; its id must be one that a session may have.
 *
 * @category reading
 * @since 0.1.0
 */
export const opening = Effect.fnUntraced(function* (file: string, options?: { readonly empty: boolean }) {
  const { log, sessionId, ...own } = yield* find(file, options)
  if (sessionId !== null && !Identifier.isSessionId(sessionId)) {
    const found = `one whose id ${JSON.stringify(sessionId)} is no UUID; \`reprise fork\` copies it to one that can go on`
    return yield* new SessionSource.NotATranscript({ path: file, found })
  }
  const opened: Transcript.Options = {
    ...stamp(process.cwd()),
    log,
    ...own,
    ...(sessionId !== null && { sessionId })
  }
  return opened
})

/** One attempt more at the end: who waits at a terminal is told soon that the disk is full. */
const writer = SessionWriter.layerWith({ retry: { onClose: 2 } })

/** What a session logs as it ends, the command tells itself; its standard output is for what it prints. */
const silent = Logger.layer([])

/**
 * Runs with a writer of its own. What that could not write by its end is what the command fails with, also where it was to
 * fail with something else: nothing of it is kept.
 *
 * @category running
 * @since 0.1.0
 */
export const writing = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.catchDefect(Effect.provide(Effect.scoped(run), Layer.merge(writer, silent)), (defect) =>
    isUnwritten(defect) ? Effect.fail(defect) : Effect.die(defect)
  )

const isUnwritten = (defect: unknown): defect is SessionWriter.UnwrittenError | SessionWriter.FlushError =>
  defect instanceof SessionWriter.UnwrittenError || defect instanceof SessionWriter.FlushError
