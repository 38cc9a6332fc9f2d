/**
 * Ingress: a remote that keeps sessions, as a client sees it. The port; over HTTP it is `IngressClient`.
 *
 *   profile   append                              read
 *   compat    put     one entry, of the main      loglines   all entries of the main stream
 *   native    append  lines of any stream         streams, lines   all lines of each
 *
 * 1. A stream has one request of ours on its way at a time: what is appended later arrives later.
 * 2. What failed may have been done all the same: ask again, which stores nothing twice in the native profile. In the
 *    compat profile the next answer says where the log ends, and the log whether the entry is in it.
 * 3. Nothing is tried again here but once with a new token, and at each other address where one does not answer.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as ErrorAnswer from "./ErrorAnswer.ts"
import type { NotALog } from "./RemoteLog.ts"
import type * as IngressApi from "./IngressApi.ts"
import type { StreamAddress } from "./StreamAddress.ts"
import type { StreamLine } from "./StreamLine.ts"

/**
 * No server answered: none could be reached, or none in time. `cause` is what the last one came to.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  urls: Schema.Array(Schema.String),
  found: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `expected an answer of ${this.urls.join(" or ")}, found none: ${this.found}. Check addresses and network.`
  }
}

/**
 * A server answered what the protocol does not know. `status` is its status, `found` the beginning of what it said.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnexpectedAnswer extends Schema.TaggedError<UnexpectedAnswer>()("UnexpectedAnswer", {
  status: Schema.Int,
  found: Schema.String
}) {
  override get message(): string {
    return `expected an answer of an ingress server, found status ${this.status}: ${this.found}. Check the address.`
  }
}

/**
 * Why a remote does not do what it is asked.
 *
 * @category errors
 * @since 0.1.0
 */
export type Failure = ErrorAnswer.Answered | Unreachable | UnexpectedAnswer

/**
 * A stream of the tenant that the token is of.
 *
 * @category models
 * @since 0.1.0
 */
export type Target = Pick<StreamAddress, "session" | "sub">

/**
 * Who writes: what a claim gave.
 *
 * @category models
 * @since 0.1.0
 */
export interface Writer {
  readonly id: string
  readonly epoch: number
}

/**
 * Lines to append behind the line with the id `lastUuid`: undefined where none is known, `*` for the end wherever it is.
 * `backend` is the store that is known: another one appends nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Batch {
  readonly lines: ReadonlyArray<Pick<StreamLine, "key" | "text">>
  readonly lastUuid?: string | undefined
  readonly writer?: Writer | undefined
  readonly backend?: string | undefined
}

/**
 * Where a stream ends: the id of the last line that has one, and how many lines it has; and which store said so.
 *
 * @category models
 * @since 0.1.0
 */
export interface End {
  readonly head: string | undefined
  readonly seq: number
  readonly backend: string | undefined
}

/**
 * What became of one entry in the compat profile: stored; or refused, since the log ends with `head`, or nobody says
 * with what.
 *
 * @category models
 * @since 0.1.0
 */
export type Put = { readonly _tag: "Stored" } | { readonly _tag: "Refused"; readonly head: string | undefined }

/**
 * A stream of a session as the remote names it, and where it ends.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found extends End {
  readonly stream: string
  readonly bytes: number
  readonly updatedAt: number
}

/**
 * The port.
 *
 * @category services
 * @since 0.1.0
 */
export class Ingress extends Context.Service<
  Ingress,
  {
    /** Where the remote is, for people. */
    readonly urls: ReadonlyArray<string>
    /** Appends lines, all or none. */
    readonly append: (target: Target, batch: Batch) => Effect.Effect<End & { readonly duplicate: boolean }, Failure>
    /** Appends one entry to the main stream, as its text. */
    readonly put: (session: string, entry: string, lastUuid: string | undefined) => Effect.Effect<Put, Failure>
    /** The answer that holds all entries of the main stream: `RemoteLog.ofLoglines` reads it. */
    readonly loglines: (session: string) => Stream.Stream<Uint8Array, Failure>
    /** All lines of a stream, page after page; it fails where they are fewer than the remote says that there are. */
    readonly lines: (target: Target) => Stream.Stream<StreamLine, Failure | NotALog>
    /** The streams of a session, and the epoch that was claimed last. */
    readonly streams: (
      session: string
    ) => Effect.Effect<{ readonly epoch: number; readonly streams: ReadonlyArray<Found> }, Failure>
    /** Claims a session: other writers are fenced off. The end is that of the main stream. */
    readonly claim: (session: string, writerId: string) => Effect.Effect<End & { readonly epoch: number }, Failure>
    /** The sessions of the tenant, or of one project of it. */
    readonly sessions: (project?: string) => Stream.Stream<typeof IngressApi.SessionInfo.Type, Failure>
    /** Deletes a session with its streams, for ever. */
    readonly remove: (session: string) => Effect.Effect<void, Failure>
  }
>()("@reprise/ingress/Ingress") {}
