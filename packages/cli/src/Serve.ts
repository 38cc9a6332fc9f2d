/**
 * Serve: `reprise serve` keeps sessions for others: a remote to which they push, and from which they hydrate.
 *
 *   reprise serve                          SQLite, on this machine alone, with a token that is printed once
 *   reprise serve --postgres URL           PostgreSQL; any number of servers may share it
 *   reprise serve token acme               another token, for the tenant acme
 *
 * 1. It listens on this machine alone, unless it is told twice that others may come: it speaks plain HTTP, so what others
 *    reach must stand in front of it and speak TLS.
 * 2. A token is printed when it is made and never again; the server keeps its hash.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as os from "node:os"
import * as path from "node:path"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Unwritten from "./Unwritten.ts"

/**
 * Where a server listens, and what it keeps where.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly host: string
  readonly port: number
  /** The directory of the database and the tokens; it is made where it is missing. */
  readonly data: string
  /** The database that takes the place of the one in `data`. */
  readonly postgres: Option.Option<string>
}

/**
 * Others would reach a server that was not told that they may.
 *
 * @category errors
 * @since 0.1.0
 */
export class Exposed extends Schema.TaggedError<Exposed>()("Exposed", { host: Schema.String }) {
  override get message(): string {
    return (
      `others can reach ${this.host}, and this server speaks plain HTTP. Put a proxy that speaks TLS in front and ` +
      "listen on 127.0.0.1, or say --insecure-bind"
    )
  }
}

const PORT = 4780

const data = Flag.String("data").pipe(
  Flag.withMetavar("DIR"),
  Flag.withFallbackConfig(Config.NonEmptyString("REPRISE_DATA")),
  Flag.withDefault(path.join(os.homedir(), ".local", "share", "reprise")),
  Flag.withDescription("Where its database and tokens are (REPRISE_DATA, ~/.local/share/reprise)")
)

const reporting = <A, E extends Error & { readonly _tag: string }, R>(run: Effect.Effect<A, E, R>) =>
  Unwritten.reporting(run, { session: "", json: false })

const isLocal = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(host)

const token = Command.make(
  "token",
  {
    tenant: Argument.String("tenant").pipe(Argument.withDescription("Whose sessions it is for")),
    scope: Flag.String("scope").pipe(
      Flag.withMetavar("SCOPE"),
      Flag.atLeast(0),
      Flag.withDescription("What it allows: append, read, each also with :session/ID, list, admin (append, read, list)")
    ),
    data
  },
  Effect.fn(function* ({ data, scope, tenant }) {
    const { newToken } = yield* Effect.promise(() => import("./Server.ts"))
    yield* Output.line(yield* newToken(data, tenant, scope.length === 0 ? ["append", "read", "list"] : scope))
  }, reporting)
).pipe(Command.withDescription("Make a token and print it, once; a server that runs knows it within a second."))

/**
 * `reprise serve`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "serve",
  {
    port: Flag.Int("port").pipe(
      Flag.withDefault(PORT),
      Flag.withDescription(`Listen on this port (${PORT}); 0: on any that is free`)
    ),
    host: Flag.String("host").pipe(
      Flag.withDefault("127.0.0.1"),
      Flag.withDescription("Listen on this address (127.0.0.1)")
    ),
    insecureBind: Flags.on("insecure-bind", "Let --host be an address that others reach, without TLS"),
    postgres: Flag.String("postgres").pipe(
      Flag.withMetavar("URL"),
      Flag.withFallbackConfig(Config.NonEmptyString("REPRISE_POSTGRES")),
      Flag.optional,
      Flag.withDescription("Keep sessions in this PostgreSQL database (REPRISE_POSTGRES) instead of a file")
    ),
    data
  },
  Effect.fn(function* (flags) {
    const { host, insecureBind } = flags
    if (!isLocal(host) && !insecureBind) return yield* new Exposed({ host })
    const { serve } = yield* Effect.promise(() => import("./Server.ts"))
    return yield* serve(flags)
  }, reporting)
).pipe(
  Command.withDescription("Keep sessions for others: the remote to which they push, and from which they hydrate."),
  Command.withExamples([
    { command: "reprise serve", description: "Serve this machine, with a file for a database" },
    { command: "reprise serve --postgres postgres://host/db", description: "One of many servers of a database" },
    { command: "reprise serve token acme", description: "Make a token for the tenant acme" }
  ]),
  Command.withSubcommands([token])
)
