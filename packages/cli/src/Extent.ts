/**
 * Extent: how much of a log a command reads, and what it says of that.
 *
 *   │ … archived …  tag · title … │ boundary … end │      full       all
 *                                                         metadata   the end, and the metadata before it
 *                                                         suffix     the end
 *
 * Without the flag a log is read as a whole, but for one so long that this would cost more than it tells.
 */
import type { Partial, SessionState } from "@reprise/recovery/SessionState"
import type { History } from "@reprise/domain/Suffix"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Phrase from "./Phrase.ts"

/**
 * Up to so many bytes a log is read as a whole by default: nearly all are shorter, and no program notices the cost.
 *
 * @category constants
 * @since 0.1.0
 */
export const WHOLE = 16 << 20

/**
 * `--history`.
 *
 * @category flags
 * @since 0.1.0
 */
export const flag: Flag.Flag<Option.Option<History>> = Flag.Literals("history", ["suffix", "metadata", "full"]).pipe(
  Flag.optional,
  Flag.withDescription(
    "Read the whole log (full); from its last compaction on (suffix); also the metadata before it (metadata: by default " +
      "that of logs above 16 MB)"
  )
)

/**
 * How much of a file is read: what was asked for, else as much as its size suggests.
 *
 * @category reading
 * @since 0.1.0
 */
export const of = Effect.fn("Extent.of")(function* (file: string, asked: Option.Option<History>) {
  if (Option.isSome(asked)) return asked.value
  const port = yield* EntryLog.EntryLog
  // What cannot be looked at cannot be read either, and reading says so.
  const stat = yield* Effect.option(port.stat(EntryLog.at(file)))
  const history: History = Option.isSome(stat) && stat.value.size > WHOLE ? "metadata" : "full"
  return history
})

/**
 * What became of the messages of a log, or that it was not counted.
 *
 * @category rendering
 * @since 0.1.0
 */
export const sum = (state: SessionState): string => {
  const { byteStart, partial } = state.extent
  if (partial === undefined) return Phrase.sum(Phrase.countsOf(state))
  const said = Phrase.times(state.conversation.length, "message")
  const read = partial.history === "metadata" ? "its metadata" : "nothing"
  return `${said} in the conversation; of the ${Phrase.bytes(byteStart)} before it ${read} was read (--history full reads all)`
}

/** Keys of the state by the names that they have in JSON; of the others JSON says nothing. */
const names: { readonly [K in keyof SessionState]?: string } = {
  sessionId: "sessionId",
  metadata: "metadata",
  removed: "removed",
  archived: "archived",
  branches: "branches",
  sidechains: "sidechains",
  findings: "findings",
  consistency: "drift"
}

/**
 * What was read of a log in bytes, and which keys tell of that part alone; undefined: it was read as a whole.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = ({ extent: { byteEnd, byteStart, partial } }: SessionState) =>
  partial && { history: partial.history, byteStart, byteEnd, unknown: unknownOf(partial) }

const unknownOf = ({ unknown }: Partial): ReadonlyArray<string> => unknown.flatMap((key) => names[key] ?? [])
