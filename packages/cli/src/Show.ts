/**
 * Show: `reprise show FILE` reads a transcript as people read it: prompts, replies, calls, and the start of results.
 */
import type { Node } from "@reprise/recovery/SessionGraph"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Resume from "./Resume.ts"
import * as ResumeJson from "./ResumeJson.ts"
import * as ResumeText from "./ResumeText.ts"
import * as Said from "./Said.ts"
import * as ShowText from "./ShowText.ts"
import * as Style from "./Style.ts"
import * as TranscriptFile from "./TranscriptFile.ts"

/**
 * The line of a message: who said it, and its content as it was written.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = ({ at, entry, uuid }: Pick<Node, "at" | "entry" | "uuid">): string => {
  const content = "message" in entry ? entry.message.content : "attachment" in entry ? entry.attachment : undefined
  return Style.json({
    record: "message",
    uuid,
    line: at.line,
    role: Said.of(entry, new Map()).role,
    timestamp: entry.timestamp,
    content: content ?? (entry.type === "system" ? entry.content : undefined)
  })
}

/**
 * `reprise show`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "show",
  {
    file: Argument.String("file").pipe(Argument.withDescription("A transcript (.jsonl)")),
    all: Flag.Boolean("all").pipe(Flag.withDefault(false), Flag.withDescription("Show results whole, and thinking")),
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("One line of JSON for each message")),
    sidechain: Flag.Boolean("sidechain").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Read the log as one agent's own")
    )
  },
  Effect.fn(function* ({ all, file, json, sidechain }) {
    const style = yield* Style.current
    const reading = Effect.flatMap(
      Output.watching(({ done, total }) => `${Phrase.bytes(done)} of ${Phrase.bytes(total)}`),
      (watch) => TranscriptFile.watched(Resume.resume(file, { lane: sidechain ? "sidechain" : "main" }), watch)
    )
    const result = yield* Effect.result(Effect.scoped(reading))
    if (Result.isFailure(result)) {
      const { failure } = result
      const shown = json ? ResumeJson.encodeError(file, failure) : ResumeText.renderError(failure, style)
      yield* Output.print(Stream.succeed(`${shown}\n`))
      return yield* new Resume.FilesUnreadable({ count: 1 })
    }
    const resumed = result.success
    const texts = json
      ? Stream.map(Stream.fromIterable(resumed.state.conversation), (node) => `${encode(node)}\n`)
      : Stream.fromIterable(ShowText.render(resumed, style, all ? ShowText.all : ShowText.some))
    yield* Output.print(texts)
  })
).pipe(
  Command.withDescription("Read a transcript: prompts, replies, calls, and the start of their results."),
  Command.withExamples([
    { command: "reprise show session.jsonl", description: "Read a session" },
    { command: "reprise show --all session.jsonl | less", description: "All of it" }
  ])
)
