/**
 * Annotate: `reprise title SESSION TITLE` and `reprise tag SESSION TAG` name a session.
 *
 * One line in one write, at the end of the log. It needs no lock: a program that has the session open takes it over, and
 * restates it from then on.
 */
import * as Metadata from "@reprise/domain/Metadata"
import * as Transcript from "@reprise/storage/Transcript"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Projects from "./Projects.ts"
import * as SessionFile from "./SessionFile.ts"
import * as SessionName from "./SessionName.ts"
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
      session: SessionName.argument,
      value: Argument.String(name).pipe(Argument.withDescription(`${value}; an empty one clears it`)),
      json: Flags.json("Answer with one line of JSON"),
      projects: Projects.flags.projects
    },
    Effect.fn(
      function* ({ json, session, value }) {
        const made = body(value)
        const file = yield* SessionName.fileOf(session)
        const sessionId = yield* annotate(file, made)
        const text = value === "" ? `no ${name} any more` : `${name} ${JSON.stringify(value)}`
        const shown = json
          ? Style.json({ file, ok: true, sessionId, ...made })
          : Style.clean(`session ${sessionId ?? file}: ${text}`)
        yield* Output.line(shown)
      },
      Projects.within,
      Unwritten.reporting
    )
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([
      { command: `reprise ${name} 7d1f0c52 ${JSON.stringify(example)}`, description: `Set the ${name}` },
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
