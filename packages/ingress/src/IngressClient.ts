/**
 * IngressClient: `Ingress` over HTTP.
 *
 *   addresses, in turn ─ token, timeout, tracing headers, gzip ─▶ PUT · GET · POST · DELETE
 *
 * 1. Plain `http` is refused unless it stays on this machine, or the caller says otherwise: a token goes with each request.
 * 2. Tokens are `Redacted`, and stand in no error and no log. When one is refused, the next is asked for once.
 * 3. Names and texts of the remote are not trusted: what is read is checked by who uses it.
 */
import * as Effect from "effect/Effect"
import type * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as HttpClient from "effect/http/HttpClient"
import { Ingress } from "./Ingress.ts"
import * as Addresses from "./internal/addresses.ts"
import * as Exchange from "./internal/exchange.ts"
import * as Requests from "./internal/requests.ts"

/**
 * Which remote. `urls`: addresses of servers of one remote, with or without the path of the protocol. `token`: a bearer token,
 * or what gets one, asked again when one is refused. `timeout` of a request (20 s). `gzip`: whether batches are
 * compressed (yes). `headers` go with every request. `allowPlainHttp`: also to other machines (no).
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly urls: ReadonlyArray<string>
  readonly token: Redacted.Redacted | Effect.Effect<Redacted.Redacted>
  readonly timeout?: Duration.Input
  readonly gzip?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly allowPlainHttp?: boolean
}

/**
 * An address that is not talked to; `found` says why.
 *
 * @category errors
 * @since 0.1.0
 */
export class BadAddress extends Schema.TaggedError<BadAddress>()("BadAddress", {
  url: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `expected the https address of an ingress server, found ${this.url === "" ? "" : `${this.url}: `}${this.found}`
  }
}

/**
 * A client of one remote.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { allowPlainHttp = false, gzip = true, headers = {}, timeout = "20 seconds", token } = options
  const addresses = yield* Effect.fromResult(
    Result.mapError(Addresses.read(options.urls, allowPlainHttp), (bad) => new BadAddress(bad))
  )
  const exchange = yield* Exchange.make({
    addresses,
    token: Effect.isEffect(token) ? token : Effect.succeed(token),
    timeout,
    headers
  })
  return Ingress.of({ urls: addresses, ...Requests.make(exchange, gzip) })
})

/**
 * A client of one remote.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Ingress, BadAddress, HttpClient.HttpClient> =>
  Layer.effect(Ingress, make(options))
