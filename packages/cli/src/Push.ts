/**
 * Push: `reprise push [SESSION]` sends a session to a remote: what that lacks of its log and of those of its agents.
 *
 * The session may be open elsewhere: its logs are only read. How far it came is kept beside them, so that the next push
 * goes on there.
 */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as path from "node:path"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as RemoteFlags from "./RemoteFlags.ts"
import * as SessionName from "./SessionName.ts"
import * as Style from "./Style.ts"
import * as Unwritten from "./Unwritten.ts"

/**
 * `reprise push`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "push",
  {
    session: SessionName.orLatest,
    ...RemoteFlags.flags,
    takeOver: Flags.on("take-over", "Claim the session also where another machine has it: that one sends nothing more"),
    follow: Flags.on("follow", "Go on sending what is written, until it is interrupted"),
    wait: Flag.Int("wait").pipe(
      Flag.withMetavar("SECONDS"),
      Flag.withDefault(60),
      Flag.withDescription("How long to try (60)")
    ),
    json: Flags.json("Answer with one line of JSON"),
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ compat, follow, json, session, takeOver, wait, ...flags }) {
      const file = path.resolve(yield* SessionName.fileOf(session))
      const { push, within } = yield* Effect.promise(() => import("./Remote.ts"))
      const pushing = push(file, { compat, takeOver, follow, most: `${wait} seconds` })
      const { aside, open, unnamed, urls } = yield* within(pushing, { ...flags, compat })
      if (json) return yield* Output.line(Style.json({ file, ok: true, urls, aside, unnamed, open }))
      const kept = `${Phrase.times(aside, "line")} that it does not take, kept in ${file}.conflicts`
      const waiting = `${Phrase.times(open, "byte")} of a last line that has not ended`
      const nameless = `no agent with a name that it does not take, or that another has: ${unnamed.join(", ")}`
      const but = [
        ...(aside > 0 ? [kept] : []),
        ...(unnamed.length > 0 ? [nameless] : []),
        ...(open > 0 ? [waiting] : [])
      ]
      yield* Output.note(
        Style.clean(`all is at ${urls.join(", ")}${but.length > 0 ? `, but ${but.join(", and ")}` : ""}`)
      )
    },
    Projects.within,
    Unwritten.reporting
  )
).pipe(
  Command.withDescription("Send a session to a remote, with its agents: what that lacks, once."),
  Command.withExamples([
    { command: "reprise push 7d1f0c52 --url https://ingress.example", description: "Send what is not there yet" },
    { command: "reprise push --follow", description: "The latest session, as it is written" }
  ])
)
