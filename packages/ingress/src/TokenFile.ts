/**
 * TokenFile: the tokens of a server in a file, one to a line, as `TokenVerifier` knows them: hashes, never a token.
 *
 *   {"id":"4f1c…","sha256":"…","tenant":"acme","scopes":["append","read","list"]}
 *
 * A server reads it again when it changed, so a line that is added opens the door within a second, and one that is taken
 * out closes it. A file that cannot be read changes nothing, which is logged.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as TokenVerifier from "./TokenVerifier.ts"

/**
 * A file of tokens cannot be used: which one, and why.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokenFileError extends Schema.TaggedError<TokenFileError>()("TokenFileError", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `the tokens in ${this.path} cannot be used: ${this.detail}`
  }
}

/**
 * The tokens of a file; one that does not exist has none.
 *
 * @category reading
 * @since 0.1.0
 */
export const read = (path: string): Effect.Effect<ReadonlyArray<TokenVerifier.Known>, TokenFileError> =>
  Effect.try({ try: () => load(path).tokens, catch: failed(path) })

/**
 * Adds a token; the file is made where it is missing, for its user alone.
 *
 * @category writing
 * @since 0.1.0
 */
export const add = (path: string, token: TokenVerifier.Known): Effect.Effect<void, TokenFileError> =>
  Effect.try({
    try: () => {
      load(path)
      const file = fs.openSync(path, "a", 0o600)
      try {
        fs.writeSync(file, `${JSON.stringify(token)}\n`)
        fs.fsyncSync(file)
      } finally {
        fs.closeSync(file)
      }
    },
    catch: failed(path)
  })

/** How often a server looks whether its file changed, in milliseconds. */
const LOOKS = 1_000

/**
 * Verifies the tokens of a file.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (path: string): Layer.Layer<TokenVerifier.TokenVerifier, TokenFileError> =>
  Layer.effect(
    TokenVerifier.TokenVerifier,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const first = yield* Effect.try({ try: () => load(path), catch: failed(path) })
      let { stamp } = first
      let verifier = TokenVerifier.of(first.tokens)
      let looked = clock.currentTimeMillisUnsafe()
      const look = Effect.suspend(() => {
        const now = clock.currentTimeMillisUnsafe()
        if (now - looked < LOOKS) return Effect.void
        looked = now
        return Effect.try({
          try: () => {
            if (stampOf(path) === stamp) return
            const again = load(path)
            stamp = again.stamp
            verifier = TokenVerifier.of(again.tokens)
          },
          catch: failed(path)
        }).pipe(Effect.catch(({ message }) => Effect.logWarning(message)))
      })
      return {
        verify: (token) =>
          Effect.andThen(
            look,
            Effect.suspend(() => verifier.verify(token))
          )
      }
    })
  )

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(TokenVerifier.Known))

const load = (path: string): { readonly tokens: ReadonlyArray<TokenVerifier.Known>; readonly stamp: string } => {
  const stamp = stampOf(path)
  if (stamp === NONE) return { tokens: [], stamp }
  if ((fs.statSync(path).mode & 0o022) !== 0)
    throw new Error("others may write it, so anybody could let themselves in. Take that right away: chmod 600.")
  const lines = fs.readFileSync(path, "utf8").split("\n")
  const tokens = lines.flatMap((line, i) => {
    if (line.trim() === "") return []
    try {
      return [decode(line)]
    } catch (cause) {
      throw new Error(`line ${i + 1} is no token. Each has id, sha256, tenant and scopes.`, { cause })
    }
  })
  return { tokens, stamp }
}

const NONE = "none"

/** Changes when the file does. */
const stampOf = (path: string): string => {
  const stat = fs.statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? NONE : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}

const failed =
  (path: string) =>
  (cause: unknown): TokenFileError =>
    new TokenFileError({ path, detail: (cause as Error).message })
