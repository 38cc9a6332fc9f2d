/**
 * Fork: `reprise fork [SESSION]` copies a session under a new id, whole or up to a message, and prints where it is.
 *
 * The session of the file is only read; it may be open elsewhere. The fork lies beside it.
 */
import * as ForkPlan from "@reprise/recovery/ForkPlan"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionFork from "@reprise/storage/SessionFork"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Flags from "./Flags.ts"
import * as MessageName from "./MessageName.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as SessionFile from "./SessionFile.ts"
import * as SessionName from "./SessionName.ts"
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

/**
 * `reprise fork`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "fork",
  {
    session: SessionName.orLatest,
    at: Flags.text(
      "at",
      "UUID",
      "The message that the fork ends at, of any branch, or the beginning of its id (default: where the session goes on)"
    ),
    id: Flags.text("session", "ID", "The id of the fork, a UUID (default: a new one)"),
    json: Flags.json("Answer with one line of JSON"),
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ at, id, json, session }) {
      const file = yield* SessionName.fileOf(session)
      const { backups, from, hasPlan, leaf, log, messages, sessionId, sidechains, title } = yield* fork(file, {
        ...(Option.isSome(at) && { at: yield* MessageName.uuidOf(file, at.value) }),
        ...(Option.isSome(id) && { sessionId: id.value })
      })
      const path = EntryLog.pathOf("/", log)
      if (json) {
        const copied = { messages, sidechains, backups, plan: hasPlan }
        return yield* Output.line(
          Style.json({ file, ok: true, sessionId, path, title, leaf, ...copied, forkedFrom: from })
        )
      }
      const copied = `${Phrase.times(messages, "message")} and ${Phrase.times(sidechains, "sidechain")}`
      yield* Output.note(Style.clean(`session ${sessionId}: ${copied} of ${from.sessionId}, ${JSON.stringify(title)}`))
      yield* Output.line(path)
    },
    Projects.within,
    Unwritten.reporting
  )
).pipe(
  Command.withDescription("Copy a session under a new id, whole or up to a message, and print the path of the copy."),
  Command.withExamples([
    { command: "reprise fork 7d1f0c52", description: "Fork where the session goes on" },
    {
      command: "reprise fork session.jsonl --at 1f7ac191",
      description: "Fork at an earlier message, or on another branch"
    }
  ])
)
