/**
 * SessionFile: a transcript that is to be written, named by its path: which session it is, and what its messages carry.
 *
 * A path that was mistyped must cost nothing: a file that does not exist, that holds no entry, or that is an agent's own
 * log is refused before anything is written.
 */
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TranscriptFile from "./TranscriptFile.ts"

/**
 * A file that is not the main log of a session.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoSessionFile extends Schema.TaggedError<NoSessionFile>()("NoSessionFile", {
  file: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.file}: expected the transcript of a session, found ${this.found}`
  }
}

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
  entries: number
  others: number
}

const keys = ["cwd", "version", "gitBranch"] as const

const envelope: Projection.Projection<Line.Located, Envelope> = Projection.entries(
  Projection.make({
    initial: (): Envelope => ({ entries: 0, others: 0 }),
    evolve: (draft: Envelope, entry: Entry.Entry) => {
      const kind = Entry.kindOf(entry)
      if (kind === "malformed" || kind === "unknown") draft.others++
      else draft.entries++
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
    return yield* new NoSessionFile({ file, found: "an agent's own log; name the log of its session" })
  }
  const { entries, others, sessionId, ...own } = yield* TranscriptFile.fold(file, envelope)
  if (entries === 0 && !(options.empty && others === 0)) {
    const found = others === 0 ? "an empty file" : "no entry of a transcript in it"
    return yield* new NoSessionFile({ file, found })
  }
  const session: SessionFile = { log, sessionId: TranscriptFile.sessionIdOf(file, sessionId), ...own }
  return session
})
