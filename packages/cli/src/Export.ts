/**
 * Export: `reprise export FILE [BUNDLE]` puts a session with its agents, metadata and file history into one archive, for
 * `reprise import` elsewhere. The session is only read.
 */
import * as SessionBundle from "@reprise/storage/SessionBundle"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as path from "node:path"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Style from "./Style.ts"
import * as Unwritten from "./Unwritten.ts"

/**
 * `reprise export`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "export",
  {
    file: Argument.String("file").pipe(Argument.withDescription("The transcript of the session (.jsonl)")),
    bundle: Argument.String("bundle").pipe(
      Argument.withDescription("The archive to make (default: the session's id with .tar.gz, here)"),
      Argument.optional
    ),
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Answer with one line of JSON"))
  },
  Effect.fn(function* ({ bundle, file, json }) {
    const to = path.resolve(Option.getOrElse(bundle, () => `${path.basename(file, ".jsonl")}.tar.gz`))
    const result = yield* Effect.result(SessionBundle.exportTo(path.resolve(file), to))
    if (Result.isFailure(result)) return yield* Unwritten.report(file, result.failure, json)
    const { cwd, files, sessionId } = result.success
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    if (json) {
      const told = { file, ok: true, sessionId, bundle: to, cwd, files: files.length, bytes }
      return yield* Output.print(Stream.succeed(`${Style.json(told)}\n`))
    }
    yield* Output.note(`session ${sessionId}: ${Phrase.times(files.length, "file")}, ${Phrase.bytes(bytes)}`)
    yield* Output.print(Stream.succeed(`${to}\n`))
  })
).pipe(
  Command.withDescription("Put a session with all that belongs to it into one archive, and print its path."),
  Command.withExamples([
    { command: "reprise export session.jsonl", description: "An archive in this directory" },
    { command: "reprise export session.jsonl /media/stick/session.tar.gz", description: "An archive elsewhere" }
  ])
)
