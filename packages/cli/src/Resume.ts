/**
 * Resume: `reprise resume [FILE|ID...]` recovers transcripts and shows what they recover to; without a name, the latest
 * of this directory.
 *
 * 1. One file at a time, read, shown and let go: memory does not grow with their number.
 * 2. A file that cannot be read is reported where it stands in the order; the others are shown all the same.
 * 3. A name that looks like a session id, or the beginning of one, is a file all the same where there is one.
 */
import * as Projection from "@reprise/domain/Projection"
import * as SessionSource from "@reprise/domain/SessionSource"
import * as Interruption from "@reprise/recovery/Interruption"
import type * as Lanes from "@reprise/recovery/Lanes"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import type { SessionState } from "@reprise/recovery/SessionState"
import * as StoredSessionSource from "@reprise/storage/StoredSessionSource"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as fs from "node:fs"
import * as Output from "./Output.ts"
import * as Projects from "./Projects.ts"
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

/** An id, or as much of one as is shown of it. */
const isId = (name: string): boolean => /^[\da-f]{4,8}(-[\da-f-]*)?$/i.test(name) && !fs.existsSync(name)

/**
 * The file that a name leads to: that of a session, where it is an id; without a name, the latest of this directory.
 *
 * @category reading
 * @since 0.1.0
 */
export const fileOf = Effect.fn("Resume.fileOf")(function* (name: string | undefined) {
  if (name !== undefined && !isId(name)) return name
  const source = name === undefined ? SessionSource.latest(process.cwd()) : SessionSource.id(name)
  return (yield* StoredSessionSource.resolve(source)).path
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
      Argument.withDescription(
        "Transcripts (.jsonl), or ids of sessions of any project, in the order in which they are to be shown; " +
          "without one, the latest session of this directory"
      ),
      Argument.variadic()
    ),
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("One line of JSON for each file")),
    sidechain: Flag.Boolean("sidechain").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Recover each log as one agent's own")
    ),
    projects: Projects.flags.projects
  },
  Effect.fn(function* ({ files, json, projects, sidechain }) {
    const style = yield* Style.current
    const format = json
      ? { encode: ResumeJson.encode, encodeError: ResumeJson.encodeError, between: "" }
      : {
          encode: (resumed: ResumeJson.Resumed) => ResumeText.render(resumed, style),
          encodeError: (_: string, error: Parameters<typeof ResumeText.renderError>[0]) =>
            ResumeText.renderError(error, style),
          between: "\n"
        }
    let unreadable = 0
    const show = Effect.fnUntraced(function* (name: string | undefined, index: number) {
      const found = Effect.flatMap(fileOf(name), (file) => resume(file, { lane: sidechain ? "sidechain" : "main" }))
      const result = yield* Effect.result(found)
      if (Result.isFailure(result)) unreadable++
      const shown = Result.match(result, {
        onFailure: (error) => format.encodeError(name ?? process.cwd(), error),
        onSuccess: format.encode
      })
      return `${index === 0 ? "" : format.between}${shown}\n`
    })
    const names = files.length === 0 ? [undefined] : files
    yield* Projects.within({ all: false, projects }, Output.print(Stream.mapEffect(Stream.fromIterable(names), show)))
    if (unreadable > 0) return yield* new FilesUnreadable({ count: unreadable })
  })
).pipe(
  Command.withDescription("Recover transcripts: the conversation, what was repaired, and how the last turn ended."),
  Command.withExamples([
    { command: "reprise resume", description: "Show what the latest session of this directory recovers to" },
    { command: "reprise resume 7d1f0c52", description: "The same for a session by its id" },
    { command: "reprise resume session.jsonl", description: "Show what a transcript recovers to" },
    { command: "reprise resume --json *.jsonl", description: "The same for programs, one line for each file" }
  ])
)
