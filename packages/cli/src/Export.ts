/**
 * Export: `reprise export [SESSION] [BUNDLE]` puts a session with its agents, metadata and file history into one archive,
 * for `reprise import` elsewhere. The session is only read.
 */
import * as SessionBundle from "@reprise/storage/SessionBundle"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as path from "node:path"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as SessionFile from "./SessionFile.ts"
import * as SessionName from "./SessionName.ts"
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
    session: SessionName.orLatest,
    bundle: Argument.String("bundle").pipe(
      Argument.withDescription("The archive to make (default: the session's id with .tar.gz, here)"),
      Argument.optional
    ),
    json: Flags.json("Answer with one line of JSON"),
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ bundle, json, session }) {
      const file = yield* SessionName.fileOf(session)
      const named = yield* SessionFile.find(file)
      const own = named.sessionId ?? path.basename(file, ".jsonl")
      const to = path.resolve(Option.getOrElse(bundle, () => `${own}.tar.gz`))
      const { cwd, files, sessionId } = yield* SessionBundle.exportTo(path.resolve(file), to, { sessionId: own })
      const bytes = files.reduce((sum, { size }) => sum + size, 0)
      if (json) {
        const told = { file, ok: true, sessionId, bundle: to, cwd, files: files.length, bytes }
        return yield* Output.line(Style.json(told))
      }
      yield* Output.note(`session ${sessionId}: ${Phrase.times(files.length, "file")}, ${Phrase.bytes(bytes)}`)
      yield* Output.line(to)
    },
    Projects.within,
    Unwritten.reporting
  )
).pipe(
  Command.withDescription("Put a session with all that belongs to it into one archive, and print its path."),
  Command.withExamples([
    { command: "reprise export 7d1f0c52", description: "An archive in this directory" },
    { command: "reprise export 7d1f0c52 /media/stick/session.tar.gz", description: "An archive elsewhere" }
  ])
)
