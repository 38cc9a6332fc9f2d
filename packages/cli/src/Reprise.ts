/**
 * Reprise: the root of the command, with its subcommands.
 */
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as fs from "node:fs"
import * as Agents from "./Agents.ts"
import * as Annotate from "./Annotate.ts"
import * as Append from "./Append.ts"
import * as Doctor from "./Doctor.ts"
import * as Explain from "./Explain.ts"
import * as Export from "./Export.ts"
import * as Follow from "./Follow.ts"
import * as Fork from "./Fork.ts"
import * as Hydrate from "./Hydrate.ts"
import * as Import from "./Import.ts"
import * as List from "./List.ts"
import * as Prune from "./Prune.ts"
import * as Push from "./Push.ts"
import * as RemoteStatus from "./RemoteStatus.ts"
import * as Resume from "./Resume.ts"
import * as Rewind from "./Rewind.ts"
import * as Search from "./Search.ts"
import * as Serve from "./Serve.ts"
import * as Show from "./Show.ts"

/** The manifest of the package stands above its sources and above what is built of them. */
const manifest = JSON.parse(fs.readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string
}

/**
 * The version that `--version` prints: that of the package.
 *
 * @category constants
 * @since 0.1.0
 */
export const version: string = manifest.version

/**
 * `reprise`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make("reprise").pipe(
  Command.withDescription("Reads, repairs and resumes agent sessions from their transcripts."),
  Command.withExamples([
    { command: "reprise list", description: "The sessions of this directory, with the ids that name them elsewhere" },
    { command: "reprise resume", description: "What the latest of them recovers to, and how its last turn ended" },
    { command: "reprise show 7d1f0c52", description: "Read one, by the beginning of its id" }
  ]),
  Command.withSubcommands([
    { group: "FIND AND READ", commands: [List.command, Search.command, Show.command, Follow.command] },
    { group: "RECOVER", commands: [Resume.command, Explain.command, Doctor.command, Agents.command] },
    { group: "WRITE", commands: [Append.command, Annotate.title, Annotate.tag, Rewind.command] },
    { group: "WHOLE SESSIONS", commands: [Fork.command, Export.command, Import.command, Prune.command] },
    { group: "ELSEWHERE", commands: [Push.command, Hydrate.command, RemoteStatus.command, Serve.command] }
  ])
)

/** The command never logs and asks for nothing that its help does not show: no wizard, no levels of a log. */
const config = CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

/**
 * Help that was asked for is what the command prints; a mistake is told on standard error, with how the command is used: a
 * page of help would hide it. Who names no subcommand is shown that page, since it lists them.
 */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation" || (event._tag === "Help" && event.reason === "Implicit")
      ? Effect.flatMap(TerminalCapabilities.TerminalCapabilities, ({ canColor }) => {
          const formatter = CliOutput.defaultFormatter({ colors: canColor })
          if (event._tag === "Help") return Console.error(formatter.formatHelpDoc(event.helpDoc))
          const [name = "reprise", ...path] = event.commandPath
          const usage = `Usage: ${event.helpDoc.usage}; \`${[name, "help", ...path].join(" ")}\` tells all of it`
          return Console.error(`${formatter.formatErrors(event.errors).trim()}\n\n${usage}`)
        })
      : CliOutput.defaultPresenter.present(event)
}

/**
 * A command that only groups others was named without one of them; its help was shown.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoSubcommand extends Schema.TaggedError<NoSubcommand>()("NoSubcommand", {
  command: Schema.String
}) {
  override get message(): string {
    return `expected a subcommand of ${this.command}, found none`
  }
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
}

/** `reprise help COMMAND` is `reprise COMMAND --help`. */
const asked = ([first, ...others]: ReadonlyArray<string>): ReadonlyArray<string> =>
  first === "help" ? [...others, "--help"] : first === undefined ? [] : [first, ...others]

/**
 * Runs the command with the arguments of the program.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.flatMap(Stdio.Stdio, ({ args }) => args).pipe(
  Effect.flatMap((args) => Command.runWith(command, { version })(asked(args))),
  Effect.catchTag("ShowHelp", (error) =>
    Effect.fail(error.errors.length > 0 ? error : new NoSubcommand({ command: error.commandPath.join(" ") }))
  ),
  Effect.provideService(CliConfig.CliConfig, config),
  Effect.provideService(CliOutput.Presenter, presenter)
)
