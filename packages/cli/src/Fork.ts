/**
 * Fork: `reprise fork FILE` copies a session under a new id, whole or up to a message, and prints where it is.
 *
 * The session of the file is only read; it may be open elsewhere. The fork lies beside it.
 */
import * as ForkPlan from "@reprise/recovery/ForkPlan"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionFork from "@reprise/storage/SessionFork"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Output from "./Output.ts"
import * as SessionFile from "./SessionFile.ts"
import * as Style from "./Style.ts"
import * as Unwritten from "./Unwritten.ts"

/**
 * Forks the session of a file, at a message or whole; `sessionId` is that of the fork.
 *
 * @category running
 * @since 0.1.0
 */
export const fork = Effect.fn("Fork.fork")(function* (
  file: string,
  options: { readonly at?: string; readonly sessionId?: string } = {}
) {
  const { log, sessionId } = yield* SessionFile.find(file)
  const { at, sessionId: target } = options
  return yield* SessionFork.fork(log, {
    plan: ForkPlan.projection(at === undefined ? {} : { at }),
    ...(target !== undefined && { sessionId: target }),
    ...(sessionId !== null && { source: sessionId })
  })
})

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

/**
 * `reprise fork`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "fork",
  {
    file: Argument.String("file").pipe(Argument.withDescription("The transcript of the session (.jsonl)")),
    at: Flag.String("at").pipe(
      Flag.withMetavar("UUID"),
      Flag.optional,
      Flag.withDescription("The message that the fork ends at, of any branch (default: where the session goes on)")
    ),
    session: Flag.String("session").pipe(
      Flag.withMetavar("ID"),
      Flag.optional,
      Flag.withDescription("The id of the fork, a UUID (default: a new one)")
    ),
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Answer with one line of JSON"))
  },
  Effect.fn(function* ({ at, file, json, session }) {
    const options = {
      ...(Option.isSome(at) && { at: at.value }),
      ...(Option.isSome(session) && { sessionId: session.value })
    }
    const result = yield* Effect.result(fork(file, options))
    if (Result.isFailure(result)) return yield* Unwritten.report(file, result.failure, json)
    const { from, leaf, log, messages, sessionId, sidechains, title } = result.success
    const path = EntryLog.pathOf("/", log)
    if (json) {
      const told = { file, ok: true, sessionId, path, title, leaf, messages, sidechains, forkedFrom: from }
      return yield* Output.print(Stream.succeed(`${Style.json(told)}\n`))
    }
    const copied = `${counted(messages, "message")} and ${counted(sidechains, "sidechain")}`
    yield* Output.note(Style.clean(`session ${sessionId}: ${copied} of ${from.sessionId}, ${JSON.stringify(title)}`))
    yield* Output.print(Stream.succeed(`${path}\n`))
  })
).pipe(
  Command.withDescription("Copy a session under a new id, whole or up to a message, and print the path of the copy."),
  Command.withExamples([
    { command: "reprise fork session.jsonl", description: "Fork where the session goes on" },
    { command: "reprise fork session.jsonl --at UUID", description: "Fork at an earlier message, or on another branch" }
  ])
)
