/**
 * IngressStore: where a server keeps its streams. The port; `SqliteIngressStore` is a file, `PostgresIngressStore` a
 * database for many servers, `layerMemory` a process.
 *
 *   append(stream, attempt) ─▶ AppendChain.judge ─▶ │ 1 2 3 4 5 … │ ─▶ read(stream, after) ─▶ lines, verbatim
 *   claim(session)          ─▶ epoch + 1                └──────────▶ changes(stream)
 *
 * 1. Every verdict is that of `AppendChain.judge`: a store may find it in any way, and finds no other.
 * 2. Lines are stored whole or not at all, in the order of the batch, without a line of another between them; the first
 *    line of a stream is at place 1, and places have no gaps.
 * 3. What was answered is durable: on the disk, or wherever the store says that it is.
 * 4. The streams of a session share one epoch and one fate: a claim fences writers off from all of them, also from those
 *    that are yet to come, and a deletion is for ever.
 * 5. Nobody sees anything of another tenant, not even that it is there.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import type * as AppendChain from "./AppendChain.ts"
import type { AppendError, Deleted, NotFound, ReadError, Unavailable } from "./IngressError.ts"
import * as Memory from "./internal/memory.ts"
import type { SessionDigest } from "./SessionDigest.ts"
import type { StreamAddress } from "./StreamAddress.ts"
import type { Stored, StreamLine } from "./StreamLine.ts"

/**
 * Lines are at their place. `uuid`, `seq` and `epoch` say where the stream ends now; `duplicate`: all lines were there
 * before; `mismatched`: keys that are there with other bytes, which the compat profile does not mind.
 *
 * @category models
 * @since 0.1.0
 */
export interface Appended extends AppendChain.Position {
  readonly epoch: number
  readonly duplicate: boolean
  readonly mismatched: ReadonlyArray<string>
}

/**
 * Where a stream ends, the epoch of its session, its bytes (those of the texts), and when it grew last, in milliseconds
 * since 1970.
 *
 * @category models
 * @since 0.1.0
 */
export interface Head extends AppendChain.Position {
  readonly epoch: number
  readonly bytes: number
  readonly updatedAt: number
}

/**
 * Where to read: behind place `after`, at most so many lines and bytes, but always one line. `fromBoundary`: only what is
 * wanted after a compaction, which is the last boundary and all behind it, and metadata of any place.
 *
 * @category models
 * @since 0.1.0
 */
export interface Range {
  readonly after: number
  readonly lines: number
  readonly bytes: number
  readonly fromBoundary?: boolean
}

/**
 * Lines in their order; `next` is the place to read behind for more, and `end` says that there was no more.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  readonly lines: ReadonlyArray<Stored>
  readonly next: number
  readonly end: boolean
}

/**
 * A session of a tenant: the head of its main stream, and its digest.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listed extends Head {
  readonly session: string
  readonly digest: SessionDigest
}

/**
 * Which sessions: those of one project (key of a directory) or of all, whose ids are behind `after`, at most `limit`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Query {
  readonly project?: string
  readonly after?: string
  readonly limit: number
}

/**
 * The port.
 *
 * @category services
 * @since 0.1.0
 */
export class IngressStore extends Context.Service<
  IngressStore,
  {
    /** Names the data that this store holds: another id, other data. */
    readonly backendId: string
    readonly append: (
      stream: StreamAddress,
      attempt: AppendChain.Attempt<StreamLine>
    ) => Effect.Effect<Appended, AppendError>
    readonly read: (stream: StreamAddress, range: Range) => Effect.Effect<Page, ReadError>
    readonly head: (stream: StreamAddress) => Effect.Effect<Head, ReadError>
    /** The streams of a session by their names, the main one first. */
    readonly streams: (
      tenant: string,
      session: string
    ) => Effect.Effect<ReadonlyArray<Head & { readonly sub: string }>, ReadError>
    /** Sessions by their ids, in the order of their bytes. */
    readonly sessions: (tenant: string, query: Query) => Effect.Effect<ReadonlyArray<Listed>, Unavailable>
    /** Raises the epoch of a session, which may be none yet; the answer is the head of the main stream. */
    readonly claim: (tenant: string, session: string, writerId: string) => Effect.Effect<Head, Deleted | Unavailable>
    readonly remove: (tenant: string, session: string) => Effect.Effect<void, NotFound | Unavailable>
    /** Tells once when it listens, and then when the stream may have grown: late, twice, or for nothing, but always. */
    readonly changes: (stream: StreamAddress) => Stream.Stream<void>
    /** Succeeds when the store would take an append now. */
    readonly probe: Effect.Effect<void, Unavailable>
  }
>()("@reprise/ingress/IngressStore") {}

/**
 * Streams in memory, for tests and for trying things out.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<IngressStore> = Layer.effect(IngressStore, Memory.make)
