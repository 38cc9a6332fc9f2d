/**
 * Messages: what the thread of the program and those of the database say to each other. All of it is plain data.
 *
 *   program ─ { id, jobs } or { id, question } ─▶ thread        one transaction for all jobs of a message
 *           ◀─ { id, answers }                 ─                an answer each, in their order
 */
import type * as AppendChain from "../../AppendChain.ts"
import type { Query, Range } from "../../IngressStore.ts"
import type { SessionDigest } from "../../SessionDigest.ts"
import type { StreamAddress } from "../../StreamAddress.ts"
import type { Kind } from "../../StreamLine.ts"

/** A line as it is stored. */
export interface Line extends AppendChain.Line {
  readonly text: string
  readonly kind: Kind
}

/** Something to be written; `now` in milliseconds since 1970. */
export type Job = { readonly now: number } & (
  | {
      readonly type: "append"
      readonly stream: StreamAddress
      readonly attempt: AppendChain.Attempt<Line>
      readonly digest: SessionDigest
    }
  | { readonly type: "claim"; readonly tenant: string; readonly session: string; readonly writer: string }
  | { readonly type: "remove"; readonly tenant: string; readonly session: string }
)

/**
 * What a job of appending comes to: the verdict without its lines, which the program has; whether the stream grew, where
 * it ends after it, and the epoch.
 */
export interface Judged {
  readonly verdict: AppendChain.Verdict<never>
  readonly grew: boolean
  readonly after: AppendChain.Position
  readonly epoch: number
}

/** Something to be read. */
export type Question =
  | { readonly type: "read"; readonly stream: StreamAddress; readonly range: Range }
  | { readonly type: "head"; readonly stream: StreamAddress }
  | { readonly type: "streams"; readonly tenant: string; readonly session: string }
  | { readonly type: "sessions"; readonly tenant: string; readonly query: Query }

/** The value, or why there is none; `failed` is of the database. */
export type Answer =
  | { readonly value: unknown }
  | { readonly refused: "NotFound" | "Deleted" }
  | { readonly failed: string }

/** To a thread; `close` ends it. */
export type Request =
  | { readonly id: number; readonly jobs: ReadonlyArray<Job> }
  | { readonly id: number; readonly question: Question }
  | "close"

/** From a thread: first that it is open, or why it is not; then answers. */
export type Reply =
  | { readonly opened: { readonly backendId: string } }
  | { readonly unopened: { readonly message: string; readonly code: string } }
  | { readonly id: number; readonly answers: ReadonlyArray<Answer> }
