/**
 * Hydrate: `reprise hydrate SESSION` brings a session here from a remote, or what of it is not here yet, and prints where
 * its transcript is.
 *
 * A line that is here stays where it is. Where both sides have messages of their own, both are kept, and the session goes
 * on from ours, unless --prefer says otherwise.
 */
import * as Identifier from "@reprise/domain/Identifier"
import type * as Hydration from "@reprise/ingress/Hydration"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as path from "node:path"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as RemoteFlags from "./RemoteFlags.ts"
import * as SessionName from "./SessionName.ts"
import * as Style from "./Style.ts"
import * as Unwritten from "./Unwritten.ts"

/** Where the session is, or will be: that of a whole id which is nowhere here lies in the project of a directory. */
const placeOf = Effect.fnUntraced(function* (name: string, cwd: Option.Option<string>, projects: string) {
  const isId = Identifier.isSessionId(name)
  const file = yield* Effect.result(SessionName.fileOf(name))
  if (Result.isSuccess(file)) return path.resolve(file.success)
  if (!isId || file.failure._tag !== "SessionNotFound") return yield* file.failure
  const { project } = yield* EntryLog.EntryLog
  const key = yield* project(Option.getOrElse(cwd, () => process.cwd()))
  return path.resolve(projects, key, `${name}.jsonl`)
})

const became: { readonly [K in Hydration.HydratedStream["outcome"]]: string } = {
  "remote-empty": "the remote has nothing of it",
  fresh: "brought here",
  same: "the same on both sides",
  "local-ahead": "nothing to bring; the remote lacks a part",
  "fast-forward": "brought up to date",
  diverged: "both sides had messages of their own, and have them all now"
}

/** What became of a stream, for people. */
const told = ({ added, conflicts, leaves, outcome, path, stream }: Hydration.HydratedStream): string => {
  const name = stream === "" ? "session" : `agent ${stream}`
  const lines = added === 0 ? "" : `, ${Phrase.times(added, "line")} added`
  const named = leaves.named === undefined ? "" : `; it goes on from ${leaves.named}`
  const both =
    outcome === "diverged" ? `; here it ended with ${leaves.local}, there with ${leaves.remote}${named}` : named
  const kept =
    conflicts === 0 ? "" : `; ${Phrase.times(conflicts, "line")} with ids of other ones, kept in ${path}.conflicts`
  return `${name}: ${became[outcome]}${lines}${both}${kept}`
}

/**
 * `reprise hydrate`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "hydrate",
  {
    session: SessionName.argument,
    ...RemoteFlags.flags,
    cwd: Flags.text("cwd", "DIR", "The directory of a session that is not here yet (default: this one)"),
    prefer: Flag.Literals("prefer", ["local", "remote", "newest"]).pipe(
      Flag.optional,
      Flag.withDescription("Whose branch to go on from (default: ours where both went on, else the newest)")
    ),
    json: Flags.json("Answer with one line of JSON"),
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ compat, cwd, json, prefer, projects, session, ...flags }) {
      const file = yield* placeOf(session, cwd, yield* Projects.directory({ projects }))
      const sessionId = path.basename(file, ".jsonl")
      const { hydrate, within } = yield* Effect.promise(() => import("./Remote.ts"))
      const options = { compat, ...(Option.isSome(prefer) && { prefer: prefer.value }) }
      const { refused, streams } = yield* within(hydrate(file, sessionId, options), { ...flags, compat })
      if (json) return yield* Output.line(Style.json({ file, ok: true, sessionId, streams, refused }))
      for (const one of streams) yield* Output.note(Style.clean(told(one)))
      for (const { stream, why } of refused) yield* Output.note(Style.clean(`refused ${stream}: ${why}`))
      if (streams[0]?.outcome !== "remote-empty" || streams[0].ahead > 0) yield* Output.line(file)
    },
    Projects.into,
    Unwritten.reporting
  )
).pipe(
  Command.withDescription("Bring a session here from a remote, or what of it is not here yet, and print its path."),
  Command.withExamples([
    {
      command: "reprise hydrate 7d1f0c52-6f3a-4d0e-9d1b-2f6f1c0a5b77 --url https://ingress.example",
      description: "Bring a session to this directory"
    },
    { command: "reprise hydrate 7d1f0c52 --prefer remote", description: "Go on where the other machine stopped" }
  ])
)
