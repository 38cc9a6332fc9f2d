/**
 * RemoteStatus: `reprise remote status [SESSION]` says what of a session is at a remote, and who may write there.
 */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as path from "node:path"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import type * as Remote from "./Remote.ts"
import * as RemoteFlags from "./RemoteFlags.ts"
import * as SessionName from "./SessionName.ts"
import * as Style from "./Style.ts"
import * as Unread from "./Unread.ts"

/** What of a stream is where, for people. */
const told = ({ bytes, head, lines, sent, stream }: Remote.StreamStatus): string => {
  const name = stream === "" ? "session" : `agent ${stream}`
  const there = lines === null ? "nothing there" : `${Phrase.times(lines, "line")} there, up to ${head ?? "no message"}`
  return `${name}: ${Phrase.times(bytes, "byte")} here, ${Phrase.times(bytes - sent, "byte")} not sent; ${there}`
}

/** Whose the session is there. */
const owned = ({ epoch, remoteEpoch }: Remote.SessionStatus): string => {
  if (remoteEpoch === 0) return "nobody has claimed it there"
  if (epoch === remoteEpoch) return `it is claimed from here (epoch ${epoch})`
  const ours = epoch === null ? "" : `, and from here before that (epoch ${epoch})`
  return `it is claimed from elsewhere (epoch ${remoteEpoch})${ours}`
}

const status = Command.make(
  "status",
  {
    session: SessionName.orLatest,
    url: RemoteFlags.flags.url,
    tokenFile: RemoteFlags.flags.tokenFile,
    plainHttp: RemoteFlags.flags.plainHttp,
    json: Flags.json("Answer with one line of JSON"),
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ json, session, ...flags }) {
      const file = path.resolve(yield* SessionName.fileOf(session))
      const sessionId = path.basename(file, ".jsonl")
      const { status, within } = yield* Effect.promise(() => import("./Remote.ts"))
      const found = yield* within(status(file, sessionId), { ...flags, compat: false })
      if (json) return yield* Output.line(Style.json({ file, ok: true, sessionId, ...found }))
      yield* Output.lines([...found.streams.map(told), owned(found)].map(Style.clean))
    },
    Projects.within,
    Unread.reporting
  )
).pipe(Command.withDescription("Say what of a session is at the remote, and who may write there; nothing is changed."))

/**
 * `reprise remote`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make("remote").pipe(
  Command.withDescription("Look at a remote."),
  Command.withExamples([{ command: "reprise remote status 7d1f0c52", description: "What of a session is there" }]),
  Command.withSubcommands([status])
)
