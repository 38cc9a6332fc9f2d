/**
 * Authorization: who asks, and whether they may, before anything else is looked at.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { BadRequest, Forbidden, TooManyRequests, Unauthorized } from "../../IngressError.ts"
import { Authorization, Principal, WellFormed } from "../../IngressApi.ts"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { Limits } from "../../Limits.ts"
import * as TokenVerifier from "../../TokenVerifier.ts"

/** Verifies the token of each request, and counts it for its tenant. */
export const layer: Layer.Layer<Authorization, never, TokenVerifier.TokenVerifier> = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const { verify } = yield* TokenVerifier.TokenVerifier
    const { burst, rate } = yield* Limits
    const { consume } = yield* RateLimiter.RateLimiter
    const window = Duration.millis((1000 * burst) / rate)
    const count = (tenant: string) =>
      consume({ algorithm: "token-bucket", key: tenant, limit: burst, window }).pipe(
        Effect.catch(({ reason }) => {
          if (reason._tag !== "RateLimitExceeded") return Effect.void
          const retryAfter = Math.max(1, Math.ceil(Duration.toSeconds(reason.retryAfter)))
          return Effect.fail(new TooManyRequests({ retryAfter }))
        })
      )
    return {
      bearer: (handler, { credential }) =>
        Effect.gen(function* () {
          const principal = yield* verify(credential)
          if (principal === undefined) return yield* new Unauthorized()
          yield* count(principal.tenant)
          return yield* Effect.provideService(handler, Principal, principal)
        })
    }
  })
).pipe(Layer.provide(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))))

/** What is wrong with a request, in the words of the schema that it does not fit. */
export const wellFormed: Layer.Layer<WellFormed> = HttpApiMiddleware.layerSchemaErrorTransform(
  WellFormed,
  ({ cause, kind }) =>
    kind === "Body" || kind === "ResponseHeaders"
      ? Effect.die(cause)
      : Effect.fail(new BadRequest({ detail: `${kind.toLowerCase()}: ${cause.message.replaceAll(/\s+/g, " ")}` }))
)

/** The tenant, when its token allows one of these; the first is named where it does not. */
export const permit = (
  actions: readonly [TokenVerifier.Action, ...ReadonlyArray<TokenVerifier.Action>],
  session?: string
): Effect.Effect<string, Forbidden, Principal> =>
  Principal.use((principal) =>
    actions.some((action) => TokenVerifier.allows(principal, action, session))
      ? Effect.succeed(principal.tenant)
      : Effect.fail(new Forbidden({ scope: actions[0] }))
  )
