/**
 * Resume: `reprise resume FILE...` recovers transcripts and shows what they recover to.
 *
 * 1. One file at a time, read, shown and let go: memory does not grow with their number.
 * 2. A file that cannot be read is reported where it stands in the order; the others are shown all the same.
 */
import * as Projection from "@reprise/domain/Projection"
import * as Interruption from "@reprise/recovery/Interruption"
import type * as Lanes from "@reprise/recovery/Lanes"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import type { SessionState } from "@reprise/recovery/SessionState"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Output from "./Output.ts"
import * as ResumeJson from "./ResumeJson.ts"
import * as ResumeText from "./ResumeText.ts"
import * as Style from "./Style.ts"
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

/** Legacy entries that recovery looks through; it leaves no other trace of them. */
const progress = Projection.entries(Projection.match(() => 0, { progress: (count) => count + 1 }))

/**
 * What the model is sent: of one agent's own log, with the replacements of that agent.
 *
 * @category combinators
 * @since 0.1.0
 */
export const viewOf = (state: SessionState, lane: Lanes.Choice): ModelMessages.ModelView => {
  const agentId = lane === "sidechain" ? state.conversation.at(-1)?.entry.agentId : undefined
  return ModelMessages.make(state, agentId === undefined ? {} : { agentId })
}

/**
 * Recovers one file: the main lane by default.
 *
 * @category running
 * @since 0.1.0
 */
export const resume = Effect.fn("Resume.resume")(function* (
  file: string,
  options: Pick<Recovery.Options, "lane" | "repair"> = {}
) {
  const projection = Projection.struct({ state: Recovery.make(options), progress })
  const { progress: links, state } = yield* TranscriptFile.fold(file, projection)
  const view = viewOf(state, options.lane ?? "main")
  const interruption = Interruption.judge(state.conversation, view)
  const resumed: ResumeJson.Resumed = {
    file,
    sessionId: TranscriptFile.sessionIdOf(file, state.sessionId),
    state,
    progress: links,
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
    sidechain: Flag.Boolean("sidechain").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Recover each log as one agent's own")
    )
  },
  Effect.fn(function* ({ files, json, sidechain }) {
    const style = yield* Style.current
    const format = json
      ? { encode: ResumeJson.encode, encodeError: ResumeJson.encodeError, between: "" }
      : {
          encode: (resumed: ResumeJson.Resumed) => ResumeText.render(resumed, style),
          encodeError: (_: string, error: TranscriptFile.TranscriptUnreadable) => ResumeText.renderError(error, style),
          between: "\n"
        }
    let unreadable = 0
    const show = Effect.fnUntraced(function* (file: string, index: number) {
      const result = yield* Effect.result(resume(file, { lane: sidechain ? "sidechain" : "main" }))
      if (Result.isFailure(result)) unreadable++
      const shown = Result.match(result, {
        onFailure: (error) => format.encodeError(file, error),
        onSuccess: format.encode
      })
      return `${index === 0 ? "" : format.between}${shown}\n`
    })
    yield* Output.print(Stream.mapEffect(Stream.fromIterable(files), show))
    if (unreadable > 0) return yield* new FilesUnreadable({ count: unreadable })
  })
).pipe(
  Command.withDescription("Recover transcripts: the conversation, what was repaired, and how the last turn ended."),
  Command.withExamples([
    { command: "reprise resume session.jsonl", description: "Show what a transcript recovers to" },
    { command: "reprise resume --json *.jsonl", description: "The same for programs, one line for each file" }
  ])
)
