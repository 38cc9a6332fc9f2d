/**
 * ReplicaStatus: how a replicator gets on.
 *
 *   Idle ─▶ CatchingUp ⇄ Live          lines are sent as they are written
 *              ⇅
 *           Backoff · AuthRequired     tried again, for ever
 *              ↓
 *           Blocked                    a line, or all, that the remote does not take: somebody has to see to it
 *           Fenced · Diverged          stopped: another writes there, or wrote there
 *
 * In every state the local log goes on, and nothing of it is lost: it is sent when that can be.
 */
import * as Data from "effect/Data"

/**
 * The status of a session that is replicated. `Idle`: there is nothing yet. `CatchingUp`: so many bytes are behind.
 * `Live`: all is sent. `Backoff`, `AuthRequired`: not since a time (milliseconds since 1970), and why. `Fenced`: another
 * writer claimed the session, with this epoch. `Diverged`: the remote ends with a line that the log does not have;
 * hydrate the session, then go on. `Blocked`: of a stream, a line is longer than the remote takes (tried again each
 * minute), it refuses line after line (the same), or the session was deleted there (the end).
 *
 * @category models
 * @since 0.1.0
 */
export type ReplicaStatus = Data.TaggedEnum<{
  readonly Idle: {}
  readonly CatchingUp: { readonly behind: number }
  readonly Live: {}
  readonly Backoff: { readonly since: number; readonly why: string }
  readonly AuthRequired: { readonly since: number; readonly why: string }
  readonly Fenced: { readonly epoch: number }
  readonly Diverged: { readonly stream: string; readonly head: string }
  readonly Blocked: { readonly stream: string; readonly why: "entry-too-large" | "refused" | "deleted" }
}>

const tagged = Data.taggedEnum<ReplicaStatus>()

/**
 * Constructors of {@link ReplicaStatus}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const { AuthRequired, Backoff, Blocked, CatchingUp, Diverged, Fenced, Idle, Live } = tagged

/**
 * Branches on the status.
 *
 * @category combinators
 * @since 0.1.0
 */
export const match = tagged.$match

/**
 * Has it stopped for good?
 *
 * @category guards
 * @since 0.1.0
 */
export const isFinal = (status: ReplicaStatus): boolean =>
  status._tag === "Fenced" || status._tag === "Diverged" || (status._tag === "Blocked" && status.why === "deleted")

/**
 * The status in a sentence, and what to do.
 *
 * @category rendering
 * @since 0.1.0
 */
export const describe: (status: ReplicaStatus) => string = match({
  Idle: () => "nothing to send yet",
  CatchingUp: ({ behind }) => `${behind} bytes behind`,
  Live: () => "all is sent",
  Backoff: ({ why }) => `waits and tries again: ${why}`,
  AuthRequired: ({ why }) => `waits for another token: ${why}`,
  Fenced: ({ epoch }) =>
    `stopped: another writer has claimed the session (epoch ${epoch}). To write again from here, hydrate it and claim it.`,
  Diverged: ({ head, stream }) =>
    `stopped: the remote${stream === "" ? "" : `, of agent ${stream},`} ends with ${head}, which is not in the log. Hydrate the session, then go on.`,
  Blocked: ({ stream, why }) => `blocked${stream === "" ? "" : ` at agent ${stream}`}: ${blocked[why]}`
})

const blocked = {
  "entry-too-large": "a line is longer than the remote takes. Raise its limit.",
  refused: "the remote refuses line after line. Check its address and version.",
  deleted: "the session was deleted at the remote."
}
