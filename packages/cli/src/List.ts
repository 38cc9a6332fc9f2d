/**
 * List: `reprise list` lists sessions, the newest message first.
 *
 * Nothing is written but the index, where one is named. A file that cannot be read is told and is a failure at the end;
 * the others are listed all the same.
 */
import * as SessionCatalog from "@reprise/storage/SessionCatalog"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ErrorJson from "./ErrorJson.ts"
import * as Flags from "./Flags.ts"
import * as ListText from "./ListText.ts"
import * as Output from "./Output.ts"
import * as Projects from "./Projects.ts"
import * as Quantity from "./Quantity.ts"
import * as Style from "./Style.ts"
import * as Unread from "./Unread.ts"

/**
 * The line of a session.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (session: SessionCatalog.Session): string => {
  const { isEmpty: _, log, path, ...said } = session
  return Style.json({ record: "session", sessionId: Projects.sessionIdOf(log), file: path, ...said })
}

interface Unread extends Omit<SessionCatalog.Passed, "error"> {
  readonly error?: { readonly _tag: string; readonly message: string }
}

/**
 * The line of what was passed by.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encodePassed = ({ error, path, why }: Unread): string =>
  Style.json({
    record: "passed",
    file: path,
    why,
    ...(error && ErrorJson.fields(error))
  })

/**
 * `reprise list`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "list",
  {
    ...Projects.flags,
    json: Flags.json("One line of JSON for each session"),
    limit: Quantity.count("limit", "How many sessions at most"),
    offset: Quantity.count("offset", "How many of the newest are left out"),
    tag: Flags.text("tag", "TAG", "Those with this tag"),
    branch: Flags.text("branch", "NAME", "Those on this git branch"),
    text: Flags.text("text", "TEXT", "Those with this in their title or first prompt"),
    origin: Flag.Literals("origin", ["human", "agent"]).pipe(
      Flag.optional,
      Flag.withDescription("Those that a person held, or a program")
    ),
    archived: Flag.Boolean("archived").pipe(
      Flag.optional,
      Flag.withDescription("Those that were put away (--no-archived: the others)")
    ),
    index: Flags.text("index", "FILE", "A file in which to keep what was read; it may be deleted at any time")
  },
  Effect.fn(
    function* ({ json, ...flags }) {
      const style = yield* Style.current
      const given = { ...optional(flags), ...Projects.scope(flags) }
      const page = yield* Effect.flatMap(
        Output.watching(({ done, total }) => `${done} of ${total} sessions`),
        (watch) => SessionCatalog.list({ ...given, watch })
      ).pipe(Effect.scoped)
      const lines = json
        ? [...page.sessions.map(encode), ...page.passed.map(encodePassed)]
        : [ListText.render(page, style, flags.all)]
      yield* Output.lines(lines)
      if (page.unindexed !== undefined) yield* Output.note(`the index was not written: ${String(page.unindexed)}`)
      const unread = page.passed.filter(({ error }) => error !== undefined).length
      if (unread > 0) return yield* new Unread.FilesUnreadable({ count: unread })
    },
    Projects.within,
    (run, { json }) => Unread.reporting(run, { session: undefined, json })
  )
).pipe(
  Command.withDescription("List sessions of this directory and its git worktrees, or of all projects."),
  Command.withExamples([
    { command: "reprise list", description: "The sessions of this directory" },
    { command: "reprise list --all --limit 20", description: "The newest of all" },
    { command: "reprise list --all --json --text login", description: "For programs, those about one thing" }
  ])
)

interface Given {
  readonly limit: Option.Option<number>
  readonly offset: Option.Option<number>
  readonly tag: Option.Option<string>
  readonly branch: Option.Option<string>
  readonly text: Option.Option<string>
  readonly origin: Option.Option<"human" | "agent">
  readonly archived: Option.Option<boolean>
  readonly index: Option.Option<string>
}

/** What was given, by name. */
const optional = ({ archived, branch, index, limit, offset, origin, tag, text }: Given): SessionCatalog.Options =>
  Object.fromEntries(
    Object.entries({ archived, branch, index, limit, offset, origin, tag, text }).flatMap(([name, value]) =>
      Option.isSome<unknown>(value) ? [[name, value.value]] : []
    )
  )
