/**
 * Unwritten: how a command says that it did not write.
 *
 * What was written is on standard output, for whoever reads ids from there. So an error for people goes to standard
 * error; one for programs is a line of JSON in its place.
 */
import * as SessionLock from "@reprise/storage/SessionLock"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Output from "./Output.ts"
import * as ResumeJson from "./ResumeJson.ts"
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
      const encoded = ResumeJson.encodeError(SessionName.shown(session), error)
      if (json) yield* Output.line(encoded)
      else yield* Output.note(ResumeText.renderError(error, yield* Style.current))
      return yield* new Unwritten({ again: error instanceof SessionLock.SessionLocked })
    })
  )
