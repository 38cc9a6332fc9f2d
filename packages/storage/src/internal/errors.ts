/**
 * Errors of the writer. `SessionWriter` exports what is here.
 */
import * as Schema from "effect/Schema"
import * as EntryLog from "../EntryLog.ts"

/**
 * The scope of the writer was closed; nothing is accepted any more.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionWriterClosed extends Schema.TaggedError<SessionWriterClosed>()("SessionWriterClosed", {}) {
  override get message(): string {
    return "the session writer is closed; write before its layer's scope ends"
  }
}

/**
 * An entry cannot be written as JSON; nothing of its append is accepted.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotJson extends Schema.TaggedError<NotJson>()("NotJson", { cause: Schema.Defect() }) {
  override get message(): string {
    return `an entry cannot be written as JSON; remove cycles, functions and big integers. ${String(this.cause)}`
  }
}

/**
 * What was given is no entry, whatever the compiler was told; nothing of its append is accepted.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotEntry extends Schema.TaggedError<NotEntry>()("NotEntry", { found: Schema.String }) {
  override get message(): string {
    return `expected an entry, an object with a string \`type\`, found ${this.found}; make one with Message or Metadata`
  }
}

/**
 * A flush could not write all: `queued` entries are still kept and are tried again.
 *
 * @category errors
 * @since 0.1.0
 */
export class FlushError extends Schema.TaggedError<FlushError>()("FlushError", {
  queued: Schema.Number,
  cause: EntryLog.EntryLogError
}) {
  override get message(): string {
    const what = this.queued === 1 ? "1 entry is" : `${this.queued} entries are`
    return `${what} not written yet, but kept in order and tried again. ${this.cause.message}`
  }
}

/**
 * The writer was closed and could not write all. What is missing in each log is here: `lines` are not in it, `unsynced`
 * are, but the disk did not say that it has them. Both are whole lines, in order, `unsynced` first.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnwrittenError extends Schema.TaggedError<UnwrittenError>()("UnwrittenError", {
  logs: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      queued: Schema.Number,
      lines: Schema.Uint8Array,
      unsynced: Schema.Uint8Array,
      cause: Schema.optionalKey(EntryLog.EntryLogError)
    })
  )
}) {
  override get message(): string {
    const logs = this.logs.map(({ cause, path, queued }) => `${queued} of ${path}: ${cause?.message ?? "not tried"}`)
    return `closed with entries unwritten; their lines are in this error. ${logs.join(" ")}`
  }
}

/**
 * A log was not as this writer left it: another program wrote to it, or cut it.
 *
 * @category errors
 * @since 0.1.0
 */
export class ForeignWriter extends Schema.TaggedError<ForeignWriter>()("ForeignWriter", {
  path: Schema.String,
  ours: Schema.Number,
  size: Schema.Number
}) {
  override get message(): string {
    const what = this.size < this.ours ? "was cut or replaced" : "was written to by another program"
    return `${this.path} ${what}: it ended at byte ${this.ours} and is ${this.size} bytes long. Use one writer per session.`
  }
}
