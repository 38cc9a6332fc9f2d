/**
 * Import: `reprise import BUNDLE` brings a session that was exported back, here or in another directory, and prints where
 * its transcript is. Twice is once; an archive that is not what it says is refused, and nothing is changed.
 */
import * as Projection from "@reprise/domain/Projection"
import * as Host from "@reprise/recovery/Host"
import * as SkillState from "@reprise/recovery/SkillState"
import * as SessionBundle from "@reprise/storage/SessionBundle"
import * as SessionFiles from "@reprise/storage/SessionFiles"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as path from "node:path"
import * as FileHost from "./FileHost.ts"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as Quantity from "./Quantity.ts"
import * as Style from "./Style.ts"
import * as TranscriptFile from "./TranscriptFile.ts"
import * as Unwritten from "./Unwritten.ts"

/** The plan that the session speaks of, from its last text: one that is there is left alone. */
const writePlan = Effect.fnUntraced(
  function* (sessionId: string, file: string) {
    const { plan } = yield* TranscriptFile.fold(file, Projection.entries(SkillState.projection))
    const config = path.dirname(SessionFiles.directoriesOf(file).plans)
    const store = Host.PlanStore.use((port) => port.copy({ from: sessionId, to: { sessionId, path: file } }, plan))
    yield* Effect.provide(store, FileHost.layerWith({ config }))
  },
  Effect.catchTag("HostFailed", ({ message }) => Output.note(`The session is imported; ${Style.clean(message)}`))
)

/**
 * `reprise import`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "import",
  {
    bundle: Argument.String("bundle").pipe(Argument.withDescription("An archive that `reprise export` made")),
    cwd: Flags.text("cwd", "DIR", "The directory in which the session goes on (default: the one in which it was held)"),
    projects: Projects.flags.projects,
    maxSize: Quantity.size("max-size", "What the archive may hold, unpacked (default: 8GB)"),
    json: Flags.json("Answer with one line of JSON")
  },
  Effect.fn(
    function* ({ cwd, json, maxSize, projects, bundle }) {
      if (Option.isSome(cwd) && !Projects.isDirectory(cwd.value)) {
        const found = `no directory at ${path.resolve(cwd.value)} for it to go on in`
        return yield* new SessionBundle.BundleError({ operation: "import", file: bundle, found })
      }
      const {
        files,
        outcome,
        path: file,
        sessionId,
        cwd: directory
      } = yield* SessionBundle.importFrom(bundle, {
        projects: yield* Projects.directory({ projects }),
        ...(Option.isSome(cwd) && { cwd: cwd.value }),
        ...(Option.isSome(maxSize) && { maxBytes: maxSize.value })
      })
      yield* writePlan(sessionId, file)
      if (json) {
        const told = { file: bundle, ok: true, outcome, sessionId, path: file, cwd: directory, files }
        return yield* Output.line(Style.json(told))
      }
      const became = outcome === "imported" ? `${Phrase.times(files, "file")} imported` : "there already"
      yield* Output.note(Style.clean(`session ${sessionId}: ${became}, of ${directory}`))
      yield* Output.line(file)
    },
    Projects.into,
    (run, { bundle, json }) => Unwritten.reporting(run, { session: bundle, json })
  )
).pipe(
  Command.withDescription("Bring an exported session back, here or in another directory, and print its path."),
  Command.withExamples([
    { command: "reprise import session.tar.gz", description: "Into the directory in which it was held" },
    { command: "reprise import session.tar.gz --cwd .", description: "Into this directory" }
  ])
)
