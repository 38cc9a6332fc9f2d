/**
 * SessionSource: the port through which resuming reaches a log. Where logs are, and what locks them, it does not say.
 *
 *   latest · id · path · loaded ─ resolve ─▶ place ─ read ─▶ answer
 *                                              └─ claim ─▶ claimed ─ adopt ─▶ open session
 *
 * 1. `resolve` and `read` change nothing and need no claim.
 * 2. A claim is let go with its scope, unless `adopt` took it over; then it ends with the open session.
 * 3. `adopt` binds the writer to the log at once and says again what its end does not show: what is set before the next
 *    message is kept. A log that is as it was when it was loaded is not read again.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Line from "./Line.ts"
import type * as Message from "./Message.ts"
import type * as Metadata from "./Metadata.ts"
import type * as SessionMetadata from "./SessionMetadata.ts"
import type * as Suffix from "./Suffix.ts"

/**
 * Which session: the latest of a directory; that of an id, in any project (its first eight characters do where they name
 * one alone); that of a file; one whose entries a program holds already, or of which it holds a summary only: without
 * `entries` the log is read.
 *
 * @category models
 * @since 0.1.0
 */
export type Source = Data.TaggedEnum<{
  readonly Latest: { readonly directory: string }
  readonly Id: { readonly sessionId: string }
  readonly Path: { readonly path: string }
  readonly Loaded: { readonly path: string; readonly entries?: ReadonlyArray<Line.Located> | undefined }
}>

const { Id, Latest, Loaded, Path, $match } = Data.taggedEnum<Source>()

/**
 * The session of a directory whose last message is the newest.
 *
 * @category constructors
 * @since 0.1.0
 */
export const latest = (directory: string): Source => Latest({ directory })

/**
 * The session of an id, in whichever project it is.
 *
 * @category constructors
 * @since 0.1.0
 */
export const id = (sessionId: string): Source => Id({ sessionId })

/**
 * The session of a file.
 *
 * @category constructors
 * @since 0.1.0
 */
export const path = (path: string): Source => Path({ path })

/**
 * A session that a program has loaded, or (without entries) knows from a list.
 *
 * @category constructors
 * @since 0.1.0
 */
export const loaded = (log: { readonly path: string; readonly entries?: ReadonlyArray<Line.Located> }): Source =>
  Loaded({ path: log.path, entries: log.entries })

/**
 * Branches on the kind of source.
 *
 * @category combinators
 * @since 0.1.0
 */
export const match = $match

/**
 * Where a log is, as its port names it, and the session that its name tells.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly path: string
  readonly sessionId: string | undefined
}

/**
 * What a port remembers of having read a log: as long as that is as it was then, `adopt` need not read it again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reading {
  readonly place: Place
}

/**
 * What was folded, and the bytes that the log had when reading began.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer<out S> {
  readonly answer: S
  readonly size: number
  readonly reading?: Reading
}

/**
 * A log that is ours until its scope closes or a session adopts it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claimed {
  readonly place: Place
}

/**
 * Where the next message hangs (null: it is a root), and the ids of the conversation up to there.
 *
 * @category models
 * @since 0.1.0
 */
export interface Leaf {
  readonly parent: string | null
  readonly conversation: ReadonlyArray<string>
}

/**
 * What finds, in a log, where the next message hangs; of a long one, in its end where that is enough.
 *
 * @category models
 * @since 0.1.0
 */
export type FindLeaf = Suffix.Doors<Leaf, undefined>

/**
 * The session that takes over a log. `metadata` is what was loaded, when the log had `loadedSize` bytes: what came later
 * wins. `leaf` finds where the next message hangs; `known` is what it found when the log was loaded. `cwd`, `gitBranch`
 * and `version` are stamped on what is appended, unless the program has its own.
 *
 * @category models
 * @since 0.1.0
 */
export interface Adopting {
  readonly sessionId: string
  readonly metadata: SessionMetadata.SessionMetadata
  readonly loadedSize: number
  readonly leaf: FindLeaf
  readonly known?: { readonly reading: Reading; readonly leaf: Leaf }
  readonly cwd?: string
  readonly gitBranch?: string
  readonly version?: string
}

/**
 * Why an open session does not take something; each says so in its message.
 *
 * @category errors
 * @since 0.1.0
 */
export type Refusal = Error & { readonly _tag: string }

/**
 * A session that was taken over, open until its scope closes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Adopted {
  readonly sessionId: string
  /** The entry that the next message hangs on; null: it is a root. */
  readonly tail: Effect.Effect<string | null>
  readonly append: (body: Message.MessageBody) => Effect.Effect<{ readonly uuid: string }, Refusal>
  readonly record: (body: Metadata.Body) => Effect.Effect<unknown, Refusal>
  readonly flush: Effect.Effect<void, Refusal>
}

const listed = (names: ReadonlyArray<string>): string => names.join(", ")

/**
 * There is no such session. `sought` is the id, file or directory, `near` what is named much like it.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionNotFound extends Schema.TaggedError<SessionNotFound>()("SessionNotFound", {
  expected: Schema.String,
  sought: Schema.String,
  near: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const meant = this.near.length === 0 ? "" : ` did you mean ${listed(this.near)}? Otherwise`
    return `expected ${this.expected} ${this.sought}, found none;${meant} list the sessions (\`reprise list --all\`) and name one of them`
  }
}

/**
 * More than one session fits; `paths` are their logs.
 *
 * @category errors
 * @since 0.1.0
 */
export class AmbiguousSession extends Schema.TaggedError<AmbiguousSession>()("AmbiguousSession", {
  sought: Schema.String,
  paths: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `expected one session ${this.sought}, found ${this.paths.length}; name one by its path: ${listed(this.paths)}`
  }
}

/**
 * A file that is not the main log of a session; `found` says what it is.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotATranscript extends Schema.TaggedError<NotATranscript>()("NotATranscript", {
  path: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.path}: expected the transcript of a session, found ${this.found}`
  }
}

/**
 * Another program writes the session. `file` is the lock; `since` is ISO 8601.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionLocked extends Schema.TaggedError<SessionLocked>()("SessionLocked", {
  file: Schema.String,
  host: Schema.String,
  pid: Schema.Number,
  since: Schema.String
}) {
  override get message(): string {
    return (
      `the session is written by process ${this.pid} on ${this.host} since ${this.since}. ` +
      `Close it there and try again; it can be read and forked meanwhile. ` +
      `Only if that program is gone and this message stays, remove ${this.file}.`
    )
  }
}

/**
 * A log could not be read or bound; `found` is what its port says, and what to do.
 *
 * @category errors
 * @since 0.1.0
 */
export class SourceFailed extends Schema.TaggedError<SourceFailed>()("SourceFailed", {
  operation: Schema.Literals(["resolve", "read", "claim", "adopt"]),
  path: Schema.String,
  found: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `${this.path}: expected to ${this.operation} the log of a session, found: ${this.found}`
  }
}

/**
 * Why a source leads to no session.
 *
 * @category errors
 * @since 0.1.0
 */
export type Unresolved = SessionNotFound | AmbiguousSession | NotATranscript | SourceFailed

/**
 * The port.
 *
 * @category services
 * @since 0.1.0
 */
export class SessionSource extends Context.Service<
  SessionSource,
  {
    readonly resolve: (source: Source) => Effect.Effect<Place, Unresolved>
    /** Folds a log, or so much of it as `history` asks for and the answer needs; by default all. */
    readonly read: <S, B>(
      place: Place,
      doors: Suffix.Doors<S, B>,
      history?: Suffix.History
    ) => Effect.Effect<Answer<S>, SourceFailed>
    readonly claim: (place: Place) => Effect.Effect<Claimed, SessionLocked | SourceFailed, Scope.Scope>
    /** Opens the session for the scope; the claim is its own from then on. */
    readonly adopt: (
      claimed: Claimed,
      session: Adopting
    ) => Effect.Effect<Adopted, SessionLocked | SourceFailed, Scope.Scope>
    /** An id for a session whose log tells none. */
    readonly newSessionId: Effect.Effect<string>
  }
>()("@reprise/domain/SessionSource") {}
