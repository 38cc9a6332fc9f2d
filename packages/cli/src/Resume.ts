/**
 * Resume: `reprise resume [SESSION...]` recovers sessions and shows what they recover to.
 *
 * 1. One file at a time, read, shown and let go: memory does not grow with their number.
 * 2. Of a long one, what is archived before its last compaction is not recovered unless that is asked for (Extent).
 * 3. A file that cannot be read is reported where it stands in the order; the others are shown all the same.
 */
import * as Evidence from "@reprise/domain/Evidence"
import * as Projection from "@reprise/domain/Projection"
import type * as Suffix from "@reprise/domain/Suffix"
import * as Interruption from "@reprise/recovery/Interruption"
import type * as Lanes from "@reprise/recovery/Lanes"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import type { SessionState } from "@reprise/recovery/SessionState"
import type * as History from "@reprise/storage/History"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as ErrorJson from "./ErrorJson.ts"
import * as Extent from "./Extent.ts"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Projects from "./Projects.ts"
import * as ResumeJson from "./ResumeJson.ts"
import * as ResumeText from "./ResumeText.ts"
import * as SessionName from "./SessionName.ts"
import * as Style from "./Style.ts"
import * as TranscriptFile from "./TranscriptFile.ts"
import * as Unread from "./Unread.ts"

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

interface Read {
  readonly state: SessionState
  readonly progress: number
  readonly held: Evidence.Evidence
}

/** The recovered state, and what else is noticed of what is read. */
const doors = (options: Pick<Recovery.Options, "lane" | "repair">): Suffix.Doors<Read, Recovery.Beside> => {
  const { beside, conversation } = Recovery.judged(options)
  const noticed = { progress, held: Evidence.projection }
  return {
    full: Projection.struct({ state: Recovery.make(options), ...noticed }),
    conversation: Projection.map(
      Projection.struct({ judged: conversation, ...noticed }),
      ({ judged: { answer, verdict }, ...noticed }) => ({
        verdict,
        answer: (beside, history) => ({ state: answer(beside, history), ...noticed })
      })
    ),
    beside
  }
}

/**
 * Recovers one file: the main lane, and from all of it, by default. One that is no transcript is an error.
 *
 * @category running
 * @since 0.1.0
 */
export const resume = Effect.fn("Resume.resume")(function* (
  file: string,
  options: Pick<Recovery.Options, "lane" | "repair"> & Pick<History.Options, "history"> = {}
) {
  const { held, progress: links, state } = yield* TranscriptFile.read(file, doors(options), options)
  yield* TranscriptFile.mustBeTranscript(file, held)
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
    sessions: SessionName.several,
    json: Flags.json("One line of JSON for each file"),
    sidechain: Flags.sidechain,
    history: Extent.flag,
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ history, json, sessions, sidechain }) {
      const style = yield* Style.current
      const format = json
        ? {
            encode: ResumeJson.encode,
            encodeError: (file: string, error: ErrorJson.Tagged) => ErrorJson.encode(file, error),
            between: ""
          }
        : {
            encode: (resumed: ResumeJson.Resumed) => ResumeText.render(resumed, style),
            encodeError: (_: string, error: ErrorJson.Tagged) => ResumeText.renderError(error, style),
            between: "\n"
          }
      let unreadable = 0
      const show = Effect.fnUntraced(function* (name: string | undefined, index: number) {
        const found = Effect.gen(function* () {
          const file = yield* SessionName.fileOf(name)
          return yield* resume(file, {
            lane: sidechain ? "sidechain" : "main",
            history: yield* Extent.of(file, history)
          })
        })
        const result = yield* Effect.result(found)
        if (Result.isFailure(result)) unreadable++
        const shown = Result.match(result, {
          onFailure: (error) => format.encodeError(SessionName.shown(name), error),
          onSuccess: format.encode
        })
        return `${index === 0 ? "" : format.between}${shown}\n`
      })
      const names = sessions.length === 0 ? [undefined] : sessions
      yield* Output.print(Stream.mapEffect(Stream.fromIterable(names), show))
      if (unreadable > 0) return yield* new Unread.FilesUnreadable({ count: unreadable })
    },
    Projects.within,
    (run, { json }) => Unread.reporting(run, { session: undefined, json })
  )
).pipe(
  Command.withDescription("Recover sessions: the conversation, what was repaired, and how the last turn ended."),
  Command.withExamples([
    { command: "reprise resume", description: "Show what the latest session of this directory recovers to" },
    { command: "reprise resume 7d1f0c52", description: "The same for a session by its id" },
    { command: "reprise resume session.jsonl", description: "Show what a transcript recovers to" },
    { command: "reprise resume --json *.jsonl", description: "The same for programs, one line for each file" }
  ])
)
