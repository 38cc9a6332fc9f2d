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
import * as Stream from "effect/Stream"
import * as Output from "./Output.ts"
import * as ResumeJson from "./ResumeJson.ts"
import * as ResumeText from "./ResumeText.ts"
import * as Style from "./Style.ts"

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
 * Reports an error, and fails.
 *
 * @category running
 * @since 0.1.0
 */
export const report = Effect.fnUntraced(function* (
  file: string,
  error: { readonly _tag: string; readonly message: string },
  json: boolean
) {
  if (json) yield* Output.print(Stream.succeed(`${ResumeJson.encodeError(file, error)}\n`))
  else yield* Output.note(ResumeText.renderError(error, yield* Style.current))
  return yield* new Unwritten({ again: error instanceof SessionLock.SessionLocked })
})
