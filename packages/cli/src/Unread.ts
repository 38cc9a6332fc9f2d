/**
 * Unread: how a command says that it could not read.
 *
 * What it reads is on standard output, and so is the error in its place: for people, or as a line of JSON for programs.
 */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as ErrorJson from "./ErrorJson.ts"
import * as Output from "./Output.ts"
import * as ResumeText from "./ResumeText.ts"
import * as SessionName from "./SessionName.ts"
import * as Style from "./Style.ts"

/**
 * Some of the files could not be read; each was reported where it stood in the order.
 *
 * @category errors
 * @since 0.1.0
 */
export class FilesUnreadable extends Schema.TaggedError<FilesUnreadable>()("FilesUnreadable", {
  count: Schema.Number
}) {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
}

/**
 * What was asked for, and for whom the answer is: people, or programs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Asked {
  readonly session: string | undefined
  readonly json: boolean
}

/** What a command fails with. */
type Failure = Error & { readonly _tag: string }

/**
 * Whether an error says of itself that it was reported already.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTold = (error: Error): boolean => error[Runtime.errorReported] === false

/**
 * Reports what a command fails with, unless that was done, and fails.
 *
 * @category running
 * @since 0.1.0
 */
export const reporting = <A, E extends Failure, R>(run: Effect.Effect<A, E, R>, { json, session }: Asked) =>
  Effect.catch(run, (error) =>
    Effect.gen(function* () {
      if (isTold(error)) return yield* Effect.fail(error)
      const style = yield* Style.current
      const shown = json ? ErrorJson.encode(SessionName.shown(session), error) : ResumeText.renderError(error, style)
      yield* Output.line(shown)
      return yield* new FilesUnreadable({ count: 1 })
    })
  )
