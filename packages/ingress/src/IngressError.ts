/**
 * IngressError: why a server or a store does not do what it is asked. `ErrorAnswer` gives them their place on the wire.
 *
 *   status  type              headers                      what a client does
 *   409     head-mismatch     x-last-uuid x-last-seq       finds the head in its log: goes on there, or stops as diverged
 *   403     stale-epoch       x-writer-epoch               stops for good: another writer claimed the session
 *   422     key-reused                                     keeps the line aside, tells the user, goes on behind it
 *   410     deleted                                        stops: the session was deleted
 *   404     not-found                                      takes it for empty
 *   400     bad-request                                    keeps the line aside, tells the user
 *   401     unauthorized                                   asks for another token once, then waits for one
 *   403     forbidden                                      stops: the token may not do that
 *   413     too-large                                      halves the batch; a single line waits for the user
 *   429     too-many-requests retry-after                  waits
 *   503     unavailable       retry-after                  waits
 *
 * 1. The body is `{"error":{"type","message"},…}`; what a program needs is beside `error`, never only in the text.
 * 2. A message says what was expected, what was found and what to do. It never holds a token or an entry.
 */
import * as Schema from "effect/Schema"

/**
 * The lines do not belong behind the line that the stream ends with. `lastUuid` is the id of the last line that has one,
 * `seq` the number of lines; `known`: lines of the batch are there already, somewhere between these places. `backend`: the
 * store is this one, and not the one that the writer knows.
 *
 * @category errors
 * @since 0.1.0
 */
export class HeadMismatch extends Schema.TaggedError<HeadMismatch>()("HeadMismatch", {
  lastUuid: Schema.optionalKey(Schema.String),
  seq: Schema.Int,
  known: Schema.optionalKey(Schema.Tuple([Schema.Int, Schema.Int])),
  backend: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    if (this.backend !== undefined)
      return `the store is ${this.backend}, which is not the one that X-Backend-Id names. Send all again: nothing is stored twice.`
    const end = this.seq === 0 ? "is empty" : `ends with ${this.lastUuid ?? "a line without uuid"} at ${this.seq}`
    return `the stream ${end}, which is not the line that Last-Uuid names. Go on behind its head, or read it.`
  }
}

/**
 * Another writer claimed the session; `epoch` is the one that was claimed last, 0 where none was.
 *
 * @category errors
 * @since 0.1.0
 */
export class StaleEpoch extends Schema.TaggedError<StaleEpoch>()("StaleEpoch", { epoch: Schema.Int }) {
  override get message(): string {
    return `the session takes lines of epoch ${this.epoch} alone. Claim it to write: that fences its writer off.`
  }
}

/**
 * The stream holds these keys with other bytes; nothing was appended.
 *
 * @category errors
 * @since 0.1.0
 */
export class KeyReused extends Schema.TaggedError<KeyReused>()("KeyReused", { keys: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `${this.keys.length} keys are there with other bytes: a key names one line for ever. Nothing was stored.`
  }
}

/**
 * The session was deleted, and takes no lines any more.
 *
 * @category errors
 * @since 0.1.0
 */
export class Deleted extends Schema.TaggedError<Deleted>()("Deleted", {}) {
  override get message(): string {
    return "the session was deleted. Its id is not used again: begin another session."
  }
}

/**
 * There is no such session, or none of this tenant.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {}) {
  override get message(): string {
    return "there is no such session. It comes into being by the first line that is put."
  }
}

/**
 * The request is not what the protocol asks for. `line` counts from 1 within a batch.
 *
 * @category errors
 * @since 0.1.0
 */
export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", {
  detail: Schema.String,
  line: Schema.optionalKey(Schema.Int)
}) {
  override get message(): string {
    return this.line === undefined ? this.detail : `line ${this.line}: ${this.detail}`
  }
}

/**
 * There is no token that this server knows.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {}) {
  override get message(): string {
    return "expected Authorization: Bearer <token> with a token of this server that has not expired."
  }
}

/**
 * The token does not allow it; `scope` would.
 *
 * @category errors
 * @since 0.1.0
 */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", { scope: Schema.String }) {
  override get message(): string {
    return `the token lacks the scope ${this.scope}.`
  }
}

/**
 * It is larger than the server takes: `limit` bytes, or lines, of what `what` names.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", {
  what: Schema.Literals(["line", "batch", "lines", "ratio"]),
  limit: Schema.Int
}) {
  override get message(): string {
    return {
      line: `a line is longer than ${this.limit} bytes. Raise the server's limit, or leave it out.`,
      batch: `the body is longer than ${this.limit} bytes. Send smaller batches.`,
      lines: `the batch has more than ${this.limit} lines. Send smaller batches.`,
      ratio: `the body grows to more than ${this.limit} times its compressed size. Send it uncompressed.`
    }[this.what]
  }
}

/**
 * The tenant asks too often, or follows too much. `retryAfter` is in seconds.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", {
  retryAfter: Schema.Int
}) {
  override get message(): string {
    return `more requests than this tenant may send. Try again in ${this.retryAfter} s.`
  }
}

/**
 * The store did not answer, or more waits for it than may. Nothing is known of what was asked: ask again, which is safe.
 * `cause` stays on the server. `retryAfter` is in seconds.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  retryAfter: Schema.Int,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `the store is not available. Try again in ${this.retryAfter} s: what was stored already is not stored twice.`
  }
}

/**
 * A store could not be opened: which one, and what to do about it.
 *
 * @category errors
 * @since 0.1.0
 */
export class OpenError extends Schema.TaggedError<OpenError>()("OpenError", {
  store: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `the store ${this.store} could not be opened: ${this.detail}`
  }
}

/**
 * Why a stream does not take an attempt.
 *
 * @category errors
 * @since 0.1.0
 */
export type AppendError = HeadMismatch | StaleEpoch | KeyReused | Deleted | Unavailable

/**
 * Why a stream is not read.
 *
 * @category errors
 * @since 0.1.0
 */
export type ReadError = NotFound | Deleted | Unavailable
