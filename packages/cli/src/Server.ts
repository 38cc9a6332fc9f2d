/**
 * Server: what `reprise serve` runs. It is loaded by that command alone, for it is larger than all others together.
 */
import * as IngressServer from "@reprise/ingress/IngressServer"
import * as Limits from "@reprise/ingress/Limits"
import * as NodeServer from "@reprise/ingress/NodeServer"
import * as PostgresIngressStore from "@reprise/ingress/PostgresIngressStore"
import * as SqliteIngressStore from "@reprise/ingress/SqliteIngressStore"
import * as TokenFile from "@reprise/ingress/TokenFile"
import * as TokenVerifier from "@reprise/ingress/TokenVerifier"
import * as Wire from "@reprise/ingress/Wire"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as HttpServer from "effect/http/HttpServer"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Output from "./Output.ts"
import type { Options } from "./Serve.ts"

/**
 * The program cannot serve: what is missing, and what to do.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotServed extends Schema.TaggedError<NotServed>()("NotServed", { detail: Schema.String }) {
  override get message(): string {
    return this.detail
  }
}

/** The files of a server. */
const tokensIn = (data: string): string => path.join(data, "tokens.jsonl")
const databaseIn = (data: string): string => path.join(data, "ingress.db")

/** Makes the directory for its user alone. */
const prepare = (data: string) =>
  Effect.try({
    try: () => fs.mkdirSync(data, { recursive: true, mode: 0o700 }),
    catch: (cause) => new NotServed({ detail: `${data} cannot be made: ${(cause as Error).message}. See --data.` })
  })

/**
 * Makes a token for a tenant, and gives its text.
 *
 * @category running
 * @since 0.1.0
 */
export const newToken = Effect.fnUntraced(function* (data: string, tenant: string, scopes: ReadonlyArray<string>) {
  yield* prepare(data)
  const { known, token } = yield* TokenVerifier.make(tenant, scopes)
  if (!Schema.is(TokenVerifier.Known)(known)) {
    const expected = "append, read, append:session/ID, read:session/ID, list or admin"
    return yield* new NotServed({ detail: `expected --scope to be ${expected}, found ${scopes.join(", ")}` })
  }
  yield* TokenFile.add(tokensIn(data), known)
  return Redacted.value(token)
})

/** The HTTP server of Node. Whoever embeds this module brings it; the command has it inside. */
const httpServer = Effect.tryPromise({
  try: () => import("@effect/platform-node/NodeHttpServer"),
  catch: () => new NotServed({ detail: "@effect/platform-node is not installed. Install it beside @reprise/cli." })
})

/** Where the server listens and what it keeps where, in one line. */
const greeting = ({ data, postgres }: Options) =>
  Effect.map(HttpServer.HttpServer, ({ address }) => {
    const url = HttpServer.formatAddress(address)
    return `listening on ${url}${Wire.base}, ${Option.isSome(postgres) ? "PostgreSQL" : databaseIn(data)}`
  })

/**
 * Serves until it is interrupted; then it answers what it was asked, and ends.
 *
 * @category running
 * @since 0.1.0
 */
export const serve = Effect.fnUntraced(function* (options: Options) {
  const { data, host, port, postgres } = options
  yield* prepare(data)
  const tokens = yield* TokenFile.read(tokensIn(data))
  if (tokens.length === 0) {
    yield* Output.note("no token yet: this one, of the tenant `default`, may do all, and is not shown again")
    yield* Output.line(yield* newToken(data, "default", ["admin"]))
  }
  const { layer } = yield* httpServer
  const limits = yield* Limits.Limits
  const store = Option.match(postgres, {
    onNone: () => SqliteIngressStore.layer({ file: databaseIn(data) }),
    onSome: (url) => PostgresIngressStore.layer({ url: Redacted.make(url) })
  })
  const http = layer(() => NodeServer.make(limits), { host, port })
  // The server brings a standard output of its own; this one is the command's.
  const stdio = yield* Stdio.Stdio
  const greet = (text: string) => Effect.provideService(Output.line(text), Stdio.Stdio, stdio)
  const greeted = Layer.effectDiscard(Effect.flatMap(greeting(options), greet))
  return yield* Layer.launch(
    greeted.pipe(
      Layer.provide(IngressServer.layer(http)),
      Layer.provide([
        store,
        TokenFile.layer(tokensIn(data)),
        Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])
      ])
    )
  )
})
