/**
 * Explain: `reprise explain FILE` shows which repair touched which message of a transcript, and why.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type * as Recovery from "@reprise/recovery/Recovery"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Explanation from "./Explanation.ts"
import * as ExplainJson from "./ExplainJson.ts"
import * as ExplainMessage from "./ExplainMessage.ts"
import * as ExplainText from "./ExplainText.ts"
import * as Look from "./Look.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Resume from "./Resume.ts"
import * as ResumeText from "./ResumeText.ts"
import * as Style from "./Style.ts"
import * as Trace from "./Trace.ts"
import * as TranscriptFile from "./TranscriptFile.ts"

/**
 * An id that names nothing in the transcript, or more than one thing; `found` says what it names.
 *
 * @category errors
 * @since 0.1.0
 */
export class MessageUnknown extends Schema.TaggedError<MessageUnknown>()("MessageUnknown", {
  file: Schema.String,
  id: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.file}: expected an id, or the beginning of one, found ${this.found}`
  }
}

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
  const [uuid, ...others] = ExplainMessage.candidates(explanation, occurrences, id)
  if (uuid !== undefined && others.length === 0) return ExplainMessage.subject(explanation, occurrences, uuid)
  const { more, shown } = Phrase.first(uuid === undefined ? [] : [uuid, ...others], 5)
  const several = `that ${JSON.stringify(id)} begins ${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}; give more of it`
  const found = uuid === undefined ? `no line and no link with ${JSON.stringify(id)}` : several
  return yield* new MessageUnknown({ file, id, found })
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
    file: Argument.String("file").pipe(Argument.withDescription("A transcript (.jsonl)")),
    message: Flag.String("message").pipe(
      Flag.optional,
      Flag.withDescription("Explain one message only: its id, or the beginning of it")
    ),
    all: Flag.Boolean("all").pipe(Flag.withDefault(false), Flag.withDescription("Show long lists whole")),
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("One object to a line, nothing cut")),
    sidechain: Flag.Boolean("sidechain").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Recover the log as one agent's own")
    )
  },
  Effect.fn(function* ({ all, file, json, message, sidechain }) {
    const style = yield* Style.current
    const limits = all ? Look.all : Look.some
    const told = yield* Effect.gen(function* () {
      const explanation = yield* explain(file, { lane: sidechain ? "sidechain" : "main" })
      const subject = Option.isSome(message) ? yield* find(explanation, message.value) : undefined
      if (json) return ExplainJson.encode(explanation, subject)
      const look = Look.make(explanation, style, limits)
      const text =
        subject === undefined
          ? ExplainText.render(explanation, look)
          : ExplainMessage.render(explanation, subject, look)
      return [text]
    }).pipe(Effect.result)
    const lines = Result.match(told, {
      onSuccess: (lines): Iterable<string> => lines,
      onFailure: (error) => [json ? ExplainJson.encodeError(file, error) : ResumeText.renderError(error, style)]
    })
    yield* Output.print(Stream.map(Stream.fromIterable(lines), (line) => `${line}\n`))
    if (Result.isFailure(told)) return yield* new Resume.FilesUnreadable({ count: 1 })
  })
).pipe(
  Command.withDescription("Show which repair touched which message of a transcript, before and after, and why."),
  Command.withExamples([
    { command: "reprise explain session.jsonl", description: "What each step of the repair did" },
    { command: "reprise explain --message 1f7ac191 session.jsonl", description: "Everything that touched one message" }
  ])
)
