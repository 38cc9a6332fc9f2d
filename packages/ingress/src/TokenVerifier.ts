/**
 * TokenVerifier: who a bearer token speaks for. The port; a program with tokens of its own (session tokens that it signs)
 * gives its own layer.
 *
 *   sli_<id of the token>_<256 random bits>      the server keeps the SHA-256 of it, never the token
 *
 * 1. The tenant comes from here alone, never from a path, a header or a body.
 * 2. A token that is not known costs the same time as one that is: hashes are compared in constant time, and always one.
 *
 *   scope                    allows
 *   append                   append to, claim and look for the end of any session of the tenant
 *   append:session/<id>      the same of this session
 *   read, read:session/<id>  read, follow and look for the end
 *   list                     list the sessions
 *   admin                    all of it, and deletion
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as crypto from "node:crypto"

/**
 * The tenant, and what the token allows.
 *
 * @category models
 * @since 0.1.0
 */
export interface Principal {
  readonly tenant: string
  readonly scopes: ReadonlyArray<string>
}

/**
 * What somebody wants to do.
 *
 * @category models
 * @since 0.1.0
 */
export type Action = "append" | "read" | "list" | "admin"

/**
 * The port: undefined for a token that is none.
 *
 * @category services
 * @since 0.1.0
 */
export class TokenVerifier extends Context.Service<
  TokenVerifier,
  { readonly verify: (token: Redacted.Redacted) => Effect.Effect<Principal | undefined> }
>()("@reprise/ingress/TokenVerifier") {}

/**
 * A token as a server knows it: its id, the SHA-256 of it in base64url, its tenant and its scopes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Known = Schema.Struct({
  id: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9]{1,64}$/u)),
  sha256: Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{43}$/u)),
  tenant: Schema.NonEmptyString,
  scopes: Schema.Array(
    Schema.String.check(
      Schema.isPattern(/^(?:append|read|list|admin|(?:append|read):session\/[A-Za-z0-9][A-Za-z0-9_-]{0,127})$/u)
    )
  )
})

/**
 * A token as a server knows it.
 *
 * @category models
 * @since 0.1.0
 */
export type Known = typeof Known.Type

/**
 * Draws a new token: the text for its bearer, which is kept nowhere, and what the server has to know.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  tenant: string,
  scopes: ReadonlyArray<string>
): Effect.Effect<{ readonly token: Redacted.Redacted; readonly known: Known }> =>
  Effect.sync(() => {
    const id = crypto.randomBytes(8).toString("hex")
    const token = `sli_${id}_${crypto.randomBytes(32).toString("base64url")}`
    return { token: Redacted.make(token), known: { id, sha256: hashOf(token).toString("base64url"), tenant, scopes } }
  })

/**
 * Verifies the tokens of a list.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (tokens: ReadonlyArray<Known>): TokenVerifier["Service"] => {
  const byId = new Map(tokens.map((known) => [known.id, { known, hash: Buffer.from(known.sha256, "base64url") }]))
  return {
    verify: (token) =>
      Effect.sync(() => {
        const text = Redacted.value(token)
        const found = byId.get(/^sli_([A-Za-z0-9]{1,64})_/.exec(text)?.[1] ?? "")
        const isEqual = crypto.timingSafeEqual(hashOf(text), found?.hash ?? nobody)
        return isEqual && found !== undefined ? found.known : undefined
      })
  }
}

/**
 * The same as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (tokens: ReadonlyArray<Known>): Layer.Layer<TokenVerifier> =>
  Layer.sync(TokenVerifier, () => of(tokens))

/**
 * Does a token with these scopes allow it?
 *
 * @category guards
 * @since 0.1.0
 */
export const allows = ({ scopes }: Pick<Principal, "scopes">, action: Action, session?: string): boolean =>
  scopes.includes("admin") ||
  scopes.includes(action) ||
  (session !== undefined && scopes.includes(`${action}:session/${session}`))

const hashOf = (text: string): Buffer => crypto.createHash("sha256").update(text).digest()

/** The hash of no token: nobody knows a text for it. */
const nobody = crypto.randomBytes(32)
