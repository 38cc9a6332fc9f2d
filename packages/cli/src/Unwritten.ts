/**
 * Unwritten: how a command says that it did not write.
 *
 * What was written is on standard output, for whoever reads ids from there. So an error for people goes to standard
 * error; one for programs is a line of JSON in its place.
 */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionLock from "@reprise/storage/SessionLock"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as ErrorJson from "./ErrorJson.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as ResumeText from "./ResumeText.ts"
import * as SessionName from "./SessionName.ts"
import * as Style from "./Style.ts"
import * as Unread from "./Unread.ts"

/**
 * Not all was written, which was reported. The exit code is 75 where the same may go well later, since another program
 * has the session, and else 1.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unwritten extends Schema.TaggedError<Unwritten>()("Unwritten", { again: Schema.Boolean }) {
  override get [Runtime.errorExitCode](): number {
    return this.again ? 75 : 1
  }
  override readonly [Runtime.errorReported] = false
}

/**
 * What an error says, and what became of what was to be written: a command keeps nothing to try it again.
 *
 * @category rendering
 * @since 0.1.0
 */
export const messageOf = (error: Error): string => {
  if (error instanceof EntryLog.EntryLogError) return `${error.message} ${left(error)}`
  if (error instanceof SessionWriter.FlushError) return unwritten(error.queued, error.cause)
  if (!(error instanceof SessionWriter.UnwrittenError)) return error.message
  return error.logs.map(({ cause, path, queued }) => `${path}: ${unwritten(queued, cause)}`).join(" ")
}

const unwritten = (queued: number, cause: EntryLog.EntryLogError | undefined): string =>
  `${Phrase.times(queued, "entry", "entries")} could not be written: ${cause === undefined ? "it was not tried" : messageOf(cause)}`

/** What a failed operation has put into the log all the same. */
const left = ({ operation, path, start, written = 0 }: EntryLog.EntryLogError): string => {
  if (operation !== "append") return "Nothing was written."
  const size = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const isCut = start !== undefined && size > start + written
  const part = "a part of a line, which readers pass over and the next append ends"
  if (written === 0 && isCut) return `Written was ${part}.`
  // An attempt before this one may have left it, which this one found.
  if (written === 0 && !endsInLine(path, size)) return `No whole line was written; at the end stands ${part}.`
  if (written === 0) return "Nothing was written."
  return `Written were ${written} bytes of whole lines${isCut ? `, and ${part}` : ""}.`
}

/** Whether a log of so many bytes ends with a whole line, as far as that can be seen. */
const endsInLine = (path: string, size: number): boolean => {
  const read = Result.try(() => {
    const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    try {
      const last = new Uint8Array(1)
      return fs.readSync(fd, last, 0, 1, size - 1) === 0 || last[0] === 0x0a
    } finally {
      fs.closeSync(fd)
    }
  })
  return size === 0 || Result.getOrElse(read, () => true)
}

/** Another program has the session, or the error says so of itself. */
const mayGoWell = (error: Error): boolean =>
  error instanceof SessionLock.SessionLocked || ("again" in error && error.again === true)

/**
 * Reports what a command fails with, unless that was done, and fails.
 *
 * @category running
 * @since 0.1.0
 */
export const reporting = <A, E extends Error & { readonly _tag: string }, R>(
  run: Effect.Effect<A, E, R>,
  { json, session }: Unread.Asked
) =>
  Effect.catch(run, (error) =>
    Effect.gen(function* () {
      if (Unread.isTold(error)) return yield* Effect.fail(error)
      const message = messageOf(error)
      if (json) yield* Output.line(ErrorJson.encode(SessionName.shown(session), error, message))
      else yield* Output.note(ResumeText.renderError({ _tag: error._tag, message }, yield* Style.current))
      return yield* new Unwritten({ again: mayGoWell(error) })
    })
  )
