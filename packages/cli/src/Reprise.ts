/**
 * Reprise: the root of the command, with its subcommands.
 */
import * as Command from "effect/cli/Command"
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
  Command.withSubcommands([
    Resume.command,
    Explain.command,
    Doctor.command,
    List.command,
    Search.command,
    Show.command,
    Follow.command,
    Agents.command,
    Append.command,
    Rewind.command,
    Fork.command,
    Export.command,
    Import.command,
    Prune.command,
    Annotate.title,
    Annotate.tag
  ])
)
