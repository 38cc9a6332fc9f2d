/**
 * Resume: `reprise resume FILE...` recovers transcripts and shows what they recover to.
 */
import * as Interruption from "@reprise/recovery/Interruption"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as ResumeJson from "./ResumeJson.ts"
import * as ResumeText from "./ResumeText.ts"
import * as TranscriptFile from "./TranscriptFile.ts"

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
 * Recovers one file.
 *
 * @category running
 * @since 0.1.0
 */
export const resume = Effect.fn("Resume.resume")(function* (file: string, lane: "main" | "sidechain") {
  const path = yield* Path.Path
  const state = yield* TranscriptFile.fold(file, Recovery.make({ lane }))
  const view = ModelMessages.make(state)
  const interruption = Interruption.judge(state.conversation, view)
  const resumed: ResumeJson.Resumed = {
    file,
    sessionId: TranscriptFile.sessionIdOf(path, file, state.sessionId),
    state,
    view: Interruption.inject(view, interruption),
    interruption,
    findings: [...state.findings, ...view.findings]
  }
  return resumed
})

/**
 * `reprise resume`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "resume",
  {
    files: Argument.String("file").pipe(
      Argument.withDescription("Transcripts (.jsonl), in the order in which they are to be shown"),
      Argument.atLeast(1)
    ),
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("One line of JSON for each file")),
    sidechain: Flag.Boolean("sidechain").pipe(Flag.withDefault(false), Flag.withDescription("Recover each log as one agent's own"))
  },
  Effect.fn(function* ({ files, json, sidechain }) {
    let unreadable = 0
    for (const file of files) {
      const result = yield* Effect.result(resume(file, sidechain ? "sidechain" : "main"))
      if (Result.isFailure(result)) unreadable++
      yield* Console.log(
        Result.match(result, {
          onFailure: (error) => (json ? ResumeJson.encodeError(file, error) : ResumeText.renderError(error)),
          onSuccess: (resumed) => (json ? ResumeJson.encode(resumed) : ResumeText.render(resumed))
        })
      )
    }
    if (unreadable > 0) return yield* new FilesUnreadable({ count: unreadable })
  })
).pipe(Command.withDescription("Recover transcripts: the conversation, what was repaired, and how the last turn ended."))
