/**
 * Reprise: the root of the command, with its subcommands.
 */
import * as Command from "effect/cli/Command"
import * as Resume from "./Resume.ts"

/**
 * The version that `--version` prints.
 *
 * @category constants
 * @since 0.1.0
 */
export const version = "0.1.0"

/**
 * `reprise`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make("reprise").pipe(
  Command.withDescription("Reads, repairs and resumes agent sessions from their transcripts."),
  Command.withSubcommands([Resume.command])
)
