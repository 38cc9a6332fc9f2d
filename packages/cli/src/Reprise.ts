/**
 * Reprise: the root of the command, with its subcommands.
 */
import * as CliConfig from "effect/cli/CliConfig"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as Agents from "./Agents.ts"
import * as Annotate from "./Annotate.ts"
import * as Append from "./Append.ts"
import * as Doctor from "./Doctor.ts"
import * as Explain from "./Explain.ts"
import * as Export from "./Export.ts"
import * as Follow from "./Follow.ts"
import * as Fork from "./Fork.ts"
import * as Import from "./Import.ts"
import * as List from "./List.ts"
import * as Prune from "./Prune.ts"
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
    { group: "ELSEWHERE", commands: [Serve.command] }
  ])
)

/** The command never logs and asks for nothing that its help does not show: no wizard, no levels of a log. */
const config = CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })

/**
 * Runs the command with the arguments of the program.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Command.run(command, { version }).pipe(Effect.provideService(CliConfig.CliConfig, config))
