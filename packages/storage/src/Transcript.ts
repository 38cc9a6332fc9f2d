/**
 * Transcript: one open session of a program.
 *
 *   body ─ stamp ─▶ entry ─ Routing ─▶ waits │ SessionWriter ─▶ main log
 *                                                          └─▶ log of an agent
 *
 * 1. `append` answers when the entry is accepted, `flush` when it is written; closing the scope flushes.
 * 2. Only accepted entries are parents. Accepting an entry and moving the tail to it is one step.
 * 3. A session without a prompt or a reply leaves no log: what comes before one waits, and is then written first.
 * 4. The main lane holds each id once; each agent has a lane of its own, with its own tail.
 * 5. One transcript at a time has a session (`SessionLock`). What another program writes all the same is taken into
 *    account, and told by `foreign`.
 * 6. The last 64 KiB of the log show title, tag and the other metadata (`MetadataTail`).
 */
import type * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import type * as Message from "@reprise/domain/Message"
import type * as Metadata from "@reprise/domain/Metadata"
import type * as Projection from "@reprise/domain/Projection"
import type * as Routing from "@reprise/domain/Routing"
import type * as SessionMetadata from "@reprise/domain/SessionMetadata"
import type * as SessionSource from "@reprise/domain/SessionSource"
import type * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import type * as Follow from "./Follow.ts"
import { typed, type AppendError } from "./internal/appendError.ts"
import * as Closing from "./internal/closing.ts"
import { make } from "./internal/doors.ts"
import * as Opening from "./internal/opening.ts"
import * as Session from "./internal/session.ts"
import * as Unnamed from "./internal/unnamed.ts"
import * as Redactor from "./Redactor.ts"
import type * as SessionLock from "./SessionLock.ts"
import type * as SessionWriter from "./SessionWriter.ts"

/**
 * Which session to open, and what is stamped on its entries.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** A UUID; by default a new one. */
  readonly sessionId?: string
  /** The directory at the start of the session; it decides about the project. */
  readonly cwd: string
  /** The version of the format family (`2.1.x`) that the entries claim. */
  readonly version: string
  readonly gitBranch?: string
  /** How the program is used: `cli`, `sdk-ts`, … (open). */
  readonly entrypoint?: string
  /** Where the main lane lies, when that is not below the project of `cwd`. */
  readonly log?: EntryLog.LogId
  /**
   * What finds, in a log that exists, where the next message hangs: `Recovery.leaf` does. It is asked once the session is
   * claimed, so nobody writes in between; of a log with compactions, its end alone is decoded where that tells. By default
   * the next message hangs on the last one of the log.
   */
  readonly leaf?: SessionSource.FindLeaf
  /** The entry that the next message hangs on, where it is known already; it wins over `leaf`. */
  readonly parent?: string | null
  /** The number of entries of the conversation up to `parent`, as recovery counts them. */
  readonly messageCount?: number
  /** False: the session is not claimed. It can be read, and metadata be added; it takes no messages. */
  readonly lock?: boolean
}

/**
 * Where the next message hangs (null: it is a root), and the ids of the conversation up to there.
 *
 * @category models
 * @since 0.1.0
 */
export type Leaf = SessionSource.Leaf

/**
 * Which session to take over. `metadata` is what the program holds of it since it was loaded, when its log had
 * `loadedSize` bytes: what the log got later wins over `metadata`, and that over what it held before.
 *
 * @category models
 * @since 0.1.0
 */
export interface AdoptOptions extends Options {
  readonly sessionId: string
  readonly metadata?: SessionMetadata.SessionMetadata
  readonly loadedSize?: number
  /** The claim to the session where it was made before; the session takes it over, and ends it. */
  readonly held?: SessionLock.Held
  /** What the log held when it was loaded: as long as it is as it was then, it is not read again. */
  readonly known?: { readonly read: Read; readonly leaf: Leaf }
}

/**
 * How one body is appended.
 *
 * @category models
 * @since 0.1.0
 */
export interface AppendOptions {
  /** The subagent that it belongs to. */
  readonly agentId?: string
  /** The folders below `subagents` for the log of an agent that is new to the session. */
  readonly subPath?: ReadonlyArray<string>
  /**
   * The accepted entry that it hangs on. By default the last one of its lane; tool results hang on the entry that made
   * their call, as long as only that reply, its results and notes on those came since.
   */
  readonly parent?: string | null
  /** Its id, when it has one already; a second append of the same id changes nothing. */
  readonly uuid?: string
  /** The working directory, when it has changed since the session began. */
  readonly cwd?: string
  readonly gitBranch?: string
}

/**
 * What became of an entry: accepted for writing; waiting for the first prompt or reply; or in the main lane already.
 *
 * @category models
 * @since 0.1.0
 */
export type Appended = Data.TaggedEnum<{
  readonly Accepted: { readonly uuid: string }
  readonly Pending: { readonly uuid: string }
  readonly AlreadyThere: { readonly uuid: string }
}>

export { AppendError } from "./internal/appendError.ts"

/**
 * What a session needs to know of its log, read when that was loaded; good for one session.
 *
 * @category models
 * @since 0.1.0
 */
export type Read = Opening.Read

/**
 * The projection to it, of the log as it was (`stat`) when reading began.
 *
 * @category projections
 * @since 0.1.0
 */
export const reading: (stat: EntryLog.Stat) => Projection.Projection<Line.Located, Read> = Opening.reading

/**
 * Why an append fails; nothing of it is accepted then.
 *
 * @category errors
 * @since 0.1.0
 */
export type Failure =
  | AppendError
  | Routing.Refused
  | SessionLock.SessionLocked
  | EntryLog.EntryLogError
  | SessionWriter.SessionWriterClosed

/**
 * Why reading a session that is open fails.
 *
 * @category errors
 * @since 0.1.0
 */
export type ReadFailure = EntryLog.EntryLogError | SessionWriter.FlushError | SessionWriter.SessionWriterClosed

/**
 * What closing left: entries that waited for a prompt which never came, and why the rest could not be written yet.
 *
 * @category models
 * @since 0.1.0
 */
export interface Closed {
  readonly discarded: ReadonlyArray<Entry.Known | Entry.Unknown>
  readonly unwritten: SessionWriter.FlushError | SessionWriter.SessionWriterClosed | undefined
}

/**
 * An open session.
 *
 * @category models
 * @since 0.1.0
 */
export interface Transcript {
  readonly sessionId: string
  readonly log: EntryLog.LogId
  /** The entry that the next message of the main lane hangs on. */
  readonly tail: Effect.Effect<string | null>
  /** Stamps a body and accepts it. */
  readonly append: (body: Message.MessageBody, options?: AppendOptions) => Effect.Effect<Appended, Failure>
  /** The same, and returns when the disk has it, whatever the policy; what waits for a prompt is not written yet. */
  readonly appendDurable: (
    body: Message.MessageBody,
    options?: AppendOptions
  ) => Effect.Effect<Appended, Failure | SessionWriter.FlushError>
  /** Accepts an entry as it is: a copy, a snapshot, a queue operation, a kind of one's own. */
  readonly appendEntry: (entry: Entry.Known | Entry.Unknown) => Effect.Effect<Appended["_tag"], Failure>
  /** Accepts metadata, made with `Metadata`; the session id is added. */
  readonly record: (body: Metadata.Body) => Effect.Effect<Appended["_tag"], Failure>
  readonly title: Setter<string>
  readonly aiTitle: Setter<string>
  readonly tag: Setter<string>
  readonly agentName: Setter<string>
  readonly agentColor: Setter<string>
  readonly agentSetting: Setter<string>
  readonly mode: Setter<string>
  readonly permissionMode: Setter<string>
  /** The worktree that the session entered, or null where it left. */
  readonly worktree: Setter<Metadata.WorktreeSession | null>
  readonly pullRequest: Setter<Omit<Metadata.Of<"pr-link">, "type" | "sessionId">>
  /** Names the last typed prompt, with the tail as its leaf. */
  readonly lastPrompt: Setter<string>
  /** The metadata that is restated, as it is now. */
  readonly metadata: Effect.Effect<SessionMetadata.SessionMetadata>
  /** Ends a turn with a checkpoint: how long it took, and how many entries the conversation holds. */
  readonly endTurn: (options?: { readonly durationMs?: number }) => Effect.Effect<Appended, Failure>
  /** Goes back: the next message hangs on `to`, an accepted entry of the main lane. */
  readonly rewind: (to: string) => Effect.Effect<Appended, Failure>
  /** Starts the context anew with a summary and the `kept` messages, in their order. */
  readonly compact: (
    summary: string,
    kept?: ReadonlyArray<string>,
    options?: { readonly trigger?: string; readonly preTokens?: number }
  ) => Effect.Effect<{ readonly boundary: string; readonly summary: string }, Failure>
  /** Takes messages off the chain; the log still holds them. */
  readonly snip: (ids: ReadonlyArray<string>) => Effect.Effect<Appended, Failure>
  /** Returns when all that was accepted for this session is written. */
  readonly flush: Effect.Effect<void, SessionWriter.FlushError | SessionWriter.SessionWriterClosed>
  /** Restates metadata and writes all at once, for a program's own exit hook: `Effect.runSync(transcript.flushSync)`. */
  readonly flushSync: Effect.Effect<void, SessionWriter.FlushError | SessionWriter.SessionWriterClosed>
  /** Closes now and says what is left; the scope does it too. */
  readonly close: Effect.Effect<Closed>
  /** Bytes of other programs, those that are metadata alone apart; the last ones also for who comes later. */
  readonly foreign: Stream.Stream<SessionWriter.ForeignWriter>
  /** The entries of the main lane, after a flush. */
  readonly entries: Stream.Stream<Line.Located, ReadFailure>
  /** What is written to the main lane from the mark on, by whomever, as long as somebody listens. */
  readonly follow: (options?: Follow.Options) => Stream.Stream<Follow.Followed, EntryLog.EntryLogError>
  /** Runs a projection over the main lane, or over an agent's, after a flush. */
  readonly project: <S>(
    projection: Projection.Projection<Line.Located, S>,
    options?: { readonly agentId?: string }
  ) => Effect.Effect<S, ReadFailure | AppendError>
}

/**
 * Sets a value that the tail of the log shows from then on.
 *
 * @category models
 * @since 0.1.0
 */
export type Setter<A> = (value: A) => Effect.Effect<Appended["_tag"], Failure>

/**
 * Opens a session: a new one, or one whose log exists, which is read for the ids that it holds and its last message. With
 * `leaf`, what is archived before the last boundary is not decoded, but for metadata: its ids are told by its bytes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = Effect.fn("Transcript.open")(function* (options: Options) {
  const { transcript } = yield* opened(options)
  return transcript
})

/**
 * Takes over a session that was loaded: binds to its log at once, so that what is set before a new message is kept, and
 * restates what the tail of the log does not show.
 *
 * @category constructors
 * @since 0.1.0
 */
export const adopt = Effect.fn("Transcript.adopt")(function* (options: AdoptOptions) {
  const { session, transcript } = yield* opened(options, options)
  yield* Session.restate(session)
  return transcript
})

/**
 * Adds metadata to a session that another program may have open: one line in one write, which needs no lock. For a
 * session that this program has open, use its setters. `sessionId` where the log is not named by it.
 *
 * @category writing
 * @since 0.1.0
 */
export const annotate = Effect.fn("Transcript.annotate")(function* (
  log: EntryLog.LogId,
  body: Metadata.Body,
  options: { readonly sessionId?: string } = {}
) {
  const port = yield* EntryLog.EntryLog
  yield* port.stat(log)
  yield* typed(Unnamed.mustBeTranscript(port, log))
  const named = log._tag === "Session" ? log.sessionId : path.parse(log.path).name
  const sessionId = options.sessionId ?? named
  const entry = Redactor.redact({ ...body, sessionId } as Entry.Known, yield* Redactor.Redactor)
  yield* port.append(log, new TextEncoder().encode(`${Line.encode(entry)}\n`))
})

/** A session that is open is one that the scope closes, wherever an interruption comes. */
const opened = (options: Options, adopted?: AdoptOptions) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(typed(Opening.open(options, restore, adopted)), (session) =>
      Effect.map(started(session), (transcript) => ({ session, transcript }))
    )
  )

/** The doors of a session that its scope closes; who closes it in person is told what is left, else the log is. */
const started = Effect.fnUntraced(function* (session: Session.Session) {
  const close = yield* Effect.cached(Closing.close(session))
  let isTold = false
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(close, ({ discarded, unwritten }) => {
      if (isTold) return Effect.void
      const left = `session ${session.sessionId} had no prompt; ${discarded.length} entries that waited are discarded`
      return Effect.andThen(
        discarded.length > 0 ? Effect.logInfo(left) : Effect.void,
        unwritten === undefined ? Effect.void : Effect.logError(unwritten.message)
      )
    })
  )
  const told = Effect.suspend(() => {
    isTold = true
    return close
  })
  return make(session, told)
})
