/**
 * RemoteFlags: which remote a command talks to, and with which token.
 *
 *   --url URL        an address of a server, REPRISE_REMOTE_URL; several, one after the other
 *   --token-file F   a file that holds the token, else REPRISE_REMOTE_TOKEN: never on the command line, where all see it
 *   --compat         the older profile: messages of the main log, one at a time
 */
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as Flags from "./Flags.ts"

/**
 * There is no address or no token to talk to a remote with.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoRemote extends Schema.TaggedError<NoRemote>()("NoRemote", {
  expected: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `expected ${this.expected}, found ${this.found}`
  }
}

/**
 * What the flags say.
 *
 * @category models
 * @since 0.1.0
 */
export interface RemoteFlags {
  readonly url: ReadonlyArray<string>
  readonly tokenFile: Option.Option<string>
  readonly compat: boolean
  readonly plainHttp: boolean
}

/**
 * The flags of all commands that talk to a remote.
 *
 * @category flags
 * @since 0.1.0
 */
export const flags = {
  url: Flag.String("url").pipe(
    Flag.withMetavar("URL"),
    Flag.atLeast(0),
    Flag.withDescription("Where a server of the remote is (REPRISE_REMOTE_URL); several take turns")
  ),
  tokenFile: Flags.text("token-file", "FILE", "A file that holds the token (default: what REPRISE_REMOTE_TOKEN holds)"),
  compat: Flags.on("compat", "Speak the older profile: messages of the main log alone, one at a time"),
  plainHttp: Flags.on(
    "allow-plain-http",
    "Talk http, not https, also to other machines: anybody on the way reads along"
  )
}

/**
 * The addresses and the token that the flags, else the environment, name.
 *
 * @category getters
 * @since 0.1.0
 */
export const resolve = Effect.fnUntraced(function* ({ tokenFile, url }: RemoteFlags) {
  const named = Option.getOrElse(yield* Config.option(Config.NonEmptyString("REPRISE_REMOTE_URL")), () => "")
  const urls = url.length > 0 ? url : named.split(",").flatMap((one) => one.trim() || [])
  if (urls.length === 0) {
    const expected = "the address of a remote, by --url or REPRISE_REMOTE_URL"
    return yield* new NoRemote({ expected, found: "neither" })
  }
  const given = yield* Option.isSome(tokenFile)
    ? Effect.asSome(tokenIn(tokenFile.value))
    : Config.option(Config.Redacted("REPRISE_REMOTE_TOKEN"))
  const token = Option.filter(given, (one) => Redacted.value(one) !== "")
  if (Option.isNone(token)) {
    const expected = "a token for the remote, by --token-file or REPRISE_REMOTE_TOKEN"
    return yield* new NoRemote({ expected, found: Option.isSome(given) ? "an empty one" : "neither" })
  }
  return { urls, token: token.value }
})

const tokenIn = (file: string) =>
  Effect.try({
    try: () => Redacted.make(fs.readFileSync(file, "utf8").trim()),
    catch: (cause) => new NoRemote({ expected: "a file that holds a token", found: (cause as Error).message })
  })
