/**
 * Explain: `reprise explain [SESSION]` shows which repair touched which message of a transcript, and why.
 */
import * as Command from "effect/cli/Command"
import type * as Recovery from "@reprise/recovery/Recovery"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Explanation from "./Explanation.ts"
import * as Flags from "./Flags.ts"
import * as ExplainJson from "./ExplainJson.ts"
import * as ExplainMessage from "./ExplainMessage.ts"
import * as ExplainText from "./ExplainText.ts"
import * as Look from "./Look.ts"
import * as MessageName from "./MessageName.ts"
import * as Output from "./Output.ts"
import * as Projects from "./Projects.ts"
import * as Resume from "./Resume.ts"
import * as SessionName from "./SessionName.ts"
import * as Style from "./Style.ts"
import * as Trace from "./Trace.ts"
import * as TranscriptFile from "./TranscriptFile.ts"
import * as Unread from "./Unread.ts"

/**
 * Recovers a file and explains it.
 *
 * @category running
 * @since 0.1.0
 */
export const explain = Effect.fn("Explain.explain")(function* (
  file: string,
  options: Pick<Recovery.Options, "lane"> = {}
) {
  let trace: Trace.Trace | undefined
  const resumed = yield* Resume.resume(file, {
    ...options,
    repair: (written) => (trace = Trace.watch(written)).repaired
  })
  return Explanation.make(resumed, trace!)
})

/**
 * What an id, or the beginning of one, names in an explained file.
 *
 * @category running
 * @since 0.1.0
 */
export const find = Effect.fn("Explain.find")(function* (explanation: Explanation.Explanation, id: string) {
  const { file } = explanation.resumed
  const occurrences = yield* TranscriptFile.fold(file, ExplainMessage.occurrences(id))
  const uuid = yield* MessageName.only(file, id, ExplainMessage.candidates(explanation, occurrences, id))
  if (uuid !== undefined) return ExplainMessage.subject(explanation, occurrences, uuid)
  const found = `no line and no link with ${JSON.stringify(id)}`
  return yield* new MessageName.MessageUnknown({ file, id, found })
})

/**
 * `reprise explain`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "explain",
  {
    session: SessionName.orLatest,
    message: Flags.text("message", "ID", "Explain one message only: its id, or the beginning of it"),
    full: Flags.full("long lists whole"),
    json: Flags.json("One object to a line, nothing cut"),
    sidechain: Flags.sidechain,
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ full, json, message, session, sidechain }) {
      const style = yield* Style.current
      const file = yield* SessionName.fileOf(session)
      const explanation = yield* explain(file, { lane: sidechain ? "sidechain" : "main" })
      const subject = Option.isSome(message) ? yield* find(explanation, message.value) : undefined
      const look = Look.make(explanation, style, full ? Look.all : Look.some)
      const text = () =>
        subject === undefined
          ? ExplainText.render(explanation, look)
          : ExplainMessage.render(explanation, subject, look)
      const lines: Iterable<string> = json ? ExplainJson.encode(explanation, subject) : [text()]
      yield* Output.lines(lines)
    },
    Projects.within,
    Unread.reporting
  )
).pipe(
  Command.withDescription("Show which repair touched which message of a session, before and after, and why."),
  Command.withExamples([
    { command: "reprise explain 7d1f0c52", description: "What each step of the repair did" },
    { command: "reprise explain 7d1f0c52 --message 1f7ac191", description: "Everything that touched one message" }
  ])
)
