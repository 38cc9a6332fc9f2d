/**
 * Flags: those that commands share. Each means one thing, wherever it stands.
 *
 *   --json        answers for programs          --full       nothing is shortened
 *   --sidechain   the log is one agent's own    --all        of all projects (Projects)
 */
import * as Flag from "effect/cli/Flag"

/**
 * A flag that is off unless it is given.
 *
 * @category flags
 * @since 0.1.0
 */
export const on = (name: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(Flag.withDefault(false), Flag.withDescription(description))

/**
 * A text that may be given.
 *
 * @category flags
 * @since 0.1.0
 */
export const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.optional, Flag.withDescription(description))

/**
 * `--json`, and how it answers.
 *
 * @category flags
 * @since 0.1.0
 */
export const json = (description: string): Flag.Flag<boolean> => on("json", description)

/**
 * `--full`, and what is shortened without it.
 *
 * @category flags
 * @since 0.1.0
 */
export const full = (shortened: string): Flag.Flag<boolean> => on("full", `Shorten nothing: ${shortened}`)

/**
 * `--sidechain`.
 *
 * @category flags
 * @since 0.1.0
 */
export const sidechain: Flag.Flag<boolean> = on("sidechain", "Take the log as one agent's own")
