/**
 * Annotate: `reprise title FILE TITLE` and `reprise tag FILE TAG` name a session.
 *
 * One line in one write, at the end of the log. It needs no lock: a program that has the session open takes it over, and
 * restates it from then on.
 */
import * as Metadata from "@reprise/domain/Metadata"
import * as Transcript from "@reprise/storage/Transcript"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Output from "./Output.ts"
import * as SessionFile from "./SessionFile.ts"
import * as Style from "./Style.ts"
import * as Unwritten from "./Unwritten.ts"

/**
 * Adds metadata to the session of a file.
 *
 * @category running
 * @since 0.1.0
 */
export const annotate = Effect.fn("Annotate.annotate")(function* (file: string, body: Metadata.Body) {
  const { log, sessionId } = yield* SessionFile.find(file)
  yield* Transcript.annotate(log, body, sessionId === null ? {} : { sessionId })
  return sessionId
})

interface Kind {
  readonly name: string
  readonly value: string
  readonly body: (value: string) => Metadata.Body
  readonly description: string
  readonly example: string
}

const make = ({ body, description, example, name, value }: Kind) =>
  Command.make(
    name,
    {
      file: Argument.String("file").pipe(Argument.withDescription("The transcript of the session (.jsonl)")),
      value: Argument.String(name).pipe(Argument.withDescription(`${value}; an empty one clears it`)),
      json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Answer with one line of JSON"))
    },
    Effect.fn(function* ({ file, json, value }) {
      const made = body(value)
      const result = yield* Effect.result(annotate(file, made))
      if (Result.isFailure(result)) return yield* Unwritten.report(file, result.failure, json)
      const sessionId = result.success
      const text = value === "" ? `no ${name} any more` : `${name} ${JSON.stringify(value)}`
      const shown = json
        ? Style.json({ file, ok: true, sessionId, ...made })
        : Style.clean(`session ${sessionId ?? file}: ${text}`)
      yield* Output.print(Stream.succeed(`${shown}\n`))
    })
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([
      { command: `reprise ${name} session.jsonl ${JSON.stringify(example)}`, description: `Set the ${name}` },
      { command: `reprise ${name} session.jsonl ""`, description: "Clear it" }
    ])
  )

/**
 * `reprise title`.
 *
 * @category commands
 * @since 0.1.0
 */
export const title = make({
  name: "title",
  value: "The title",
  body: Metadata.customTitle,
  description: "Give a session a title, also one that another program has open.",
  example: "Make the search page fast"
})

/**
 * `reprise tag`.
 *
 * @category commands
 * @since 0.1.0
 */
export const tag = make({
  name: "tag",
  value: "The tag",
  body: Metadata.tag,
  description: "Tag a session, also one that another program has open.",
  example: "release"
})
