/**
 * AppendError: why a transcript does not take an entry. `Transcript` exports it.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Placement from "./placement.ts"

const advice: { readonly [K in Placement.UnfitReason]: string } = {
  "unknown-entry": "is no entry of this session; only accepted entries can be named",
  "session-id": "is no session id; give a UUID, or none for a new session",
  version: "is no version of the format; give the one that the entries have, as 2.1.0",
  "agent-id": "is no agent id or folder; give a name without separators, of 243 bytes at most",
  "not-entry": "is no entry; give an object with a string `type`, as Message and Metadata make them",
  "not-json": "cannot be written as JSON; remove cycles, functions and big integers, or mend the redactor",
  "other-content": "is the id of an entry that says something else; give a new entry an id of its own",
  "other-directory": "is where this session was recorded; open it from there, or name its log",
  "not-transcript": "holds none of the entries of a transcript, and is left as it is; check the path",
  unlocked: "was opened without its lock; open it with the lock to add messages",
  closed: "is closed; open it again"
}

/**
 * An entry cannot be accepted: `what` is the id or the text that does not fit.
 *
 * @category errors
 * @since 0.1.0
 */
export class AppendError extends Schema.TaggedError<AppendError>()("AppendError", {
  reason: Schema.Literals(Object.keys(advice) as ReadonlyArray<Placement.UnfitReason>),
  what: Schema.String
}) {
  override get message(): string {
    return `${JSON.stringify(this.what)} ${advice[this.reason]}`
  }
}

/** What does not fit becomes the typed error. */
export const typed = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, Placement.Unfit> | AppendError, R> =>
  Effect.mapError(effect, (error) =>
    error instanceof Placement.Unfit ? new AppendError(error) : (error as Exclude<E, Placement.Unfit>)
  )
