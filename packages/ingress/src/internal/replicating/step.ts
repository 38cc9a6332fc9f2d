/**
 * Step: what came of one look at a stream, and what failures mean in either profile.
 */
import type { EntryLogError } from "@reprise/storage/EntryLog"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Failure } from "../../Ingress.ts"
import * as ReplicaStatus from "../../ReplicaStatus.ts"
import * as Replica from "./replica.ts"
import type * as Tail from "./tail.ts"

/**
 * Something was done, so look again at once; there was nothing to do; the session waits before it tries again, for
 * `seconds` at least; this stream waits, and others go on; or all is over.
 */
export type Step =
  | { readonly _tag: "Moved" }
  | { readonly _tag: "Still" }
  | { readonly _tag: "Wait"; readonly why: string; readonly isAuth: boolean; readonly seconds: number }
  | { readonly _tag: "Later"; readonly status: ReplicaStatus.ReplicaStatus }
  | { readonly _tag: "Stop"; readonly status: ReplicaStatus.ReplicaStatus }

export const moved: Step = { _tag: "Moved" }
export const still: Step = { _tag: "Still" }
export const later = (status: ReplicaStatus.ReplicaStatus): Step => ({ _tag: "Later", status })
export const stop = (status: ReplicaStatus.ReplicaStatus): Step => ({ _tag: "Stop", status })

/** So many lines that are refused, one after the other, are no fault of the lines. */
const TOO_MANY = 3

/** Milliseconds until a stream that is blocked is tried again. */
const BLOCKED = 60_000

/** The session waits. */
export const wait = (failure: { readonly message: string }, seconds = 0, isAuth = false): Step => ({
  _tag: "Wait",
  why: failure.message,
  isAuth,
  seconds
})

/** This stream waits, for whoever can do something about it. */
export const block = Effect.fnUntraced(function* (replica: Replica.Replica, why: "entry-too-large" | "refused") {
  const status = ReplicaStatus.Blocked({ stream: replica.stream, why })
  replica.blocked = { until: (yield* Clock.currentTimeMillis) + BLOCKED, status }
  return later(status)
})

/** A failure that says where a stream ends or whose it is; the profiles have their own answers to those. */
type OfStream = Extract<Failure, { readonly _tag: "HeadMismatch" | "StaleEpoch" }>

/** What a failure of sending lines means. */
export const afterFailure = Effect.fnUntraced(function* (
  replica: Replica.Replica,
  sent: ReadonlyArray<Tail.Piece>,
  failure: Exclude<Failure, OfStream>
) {
  switch (failure._tag) {
    case "KeyReused":
      return yield* aside(replica, reused(sent, failure.keys), failure)
    case "BadRequest": {
      const named = failure.line === undefined ? undefined : sent[failure.line - 1]
      if (named === undefined && sent.length > 1) return halve(replica, sent)
      if (replica.asideInRow >= TOO_MANY) return yield* block(replica, "refused")
      return yield* aside(replica, named === undefined ? sent : [named], failure)
    }
    case "TooLarge":
      return sent.length > 1 ? halve(replica, sent) : yield* block(replica, "entry-too-large")
    default:
      return ofFailure(replica.stream, failure)
  }
})

/** What a failure means that does not come from the lines. */
export const ofFailure = (stream: string, failure: Failure | EntryLogError): Step => {
  switch (failure._tag) {
    case "Deleted":
      return stop(ReplicaStatus.Blocked({ stream, why: "deleted" }))
    case "Unauthorized":
    case "Forbidden":
      return wait(failure, 0, true)
    case "UnexpectedAnswer":
      return wait(failure, 0, failure.status === 403)
    case "TooManyRequests":
    case "Unavailable":
      return wait(failure, failure.retryAfter)
    default:
      return wait(failure)
  }
}

/** Of lines that share an id, the first may be the one that the remote has, or takes: the last one goes first. */
const reused = (sent: ReadonlyArray<Tail.Piece>, keys: ReadonlyArray<string>): ReadonlyArray<Tail.Piece> =>
  keys.flatMap((key) => sent.findLast(({ line }) => line.key === key) ?? [])

/** What is refused among others is found by sending less; alone, it is known. */
const halve = (replica: Replica.Replica, sent: ReadonlyArray<Tail.Piece>): Step => {
  const { bytes } = replica.most
  replica.most = { bytes: Math.max(1, bytes >> 1), lines: Math.max(1, sent.length >> 1) }
  return moved
}

const aside = Effect.fnUntraced(function* (
  replica: Replica.Replica,
  pieces: ReadonlyArray<Tail.Piece>,
  failure: Failure
) {
  // A server that names none of the lines it was sent would be asked for ever.
  if (pieces.length === 0) return yield* block(replica, "refused")
  yield* Replica.setAside(replica, pieces, failure.message)
  return moved
})
