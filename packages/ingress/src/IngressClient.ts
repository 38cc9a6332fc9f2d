/**
 * IngressClient: `Ingress` over HTTP.
 *
 *   addresses, in turn ─ token, timeout, tracing headers, gzip ─▶ PUT · GET · POST · DELETE
 *
 *   layer       by the `HttpClient` of the program: with its spans, and whatever it does beside
 *   layerNode   by `node:http`: what a program takes that sends much
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
import type * as Scope from "effect/Scope"
import * as HttpClient from "effect/http/HttpClient"
import { Ingress } from "./Ingress.ts"
import * as Addresses from "./internal/addresses.ts"
import * as Exchange from "./internal/exchange.ts"
import * as Requests from "./internal/requests.ts"
import * as OverHttpClient from "./internal/transport/httpClient.ts"
import * as OverNodeHttp from "./internal/transport/nodeHttp.ts"
import type { Transport } from "./internal/transport/transport.ts"

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
 * A client of one remote, over the `HttpClient` of the program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<Ingress["Service"], BadAddress, HttpClient.HttpClient> =>
  Effect.flatMap(HttpClient.HttpClient, (client) => over(options, OverHttpClient.make(client)))

/**
 * A client of one remote, over `node:http` with connections that are kept until the scope ends: a request costs a fraction
 * of what it costs over an `HttpClient`. It has no span of its own; that within which it is made goes along as `traceparent`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeNode = (options: Options): Effect.Effect<Ingress["Service"], BadAddress, Scope.Scope> =>
  Effect.flatMap(OverNodeHttp.make, (transport) => over(options, transport))

/**
 * A client of one remote, over the `HttpClient` of the program.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Ingress, BadAddress, HttpClient.HttpClient> =>
  Layer.effect(Ingress, make(options))

/**
 * A client of one remote, over `node:http`: what a program takes that sends much.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNode = (options: Options): Layer.Layer<Ingress, BadAddress> =>
  Layer.effect(Ingress, makeNode(options))

const over = (options: Options, transport: Transport) => {
  const { allowPlainHttp = false, gzip = true, headers = {}, timeout = "20 seconds", token } = options
  return Effect.fromResult(
    Result.mapBoth(Addresses.read(options.urls, allowPlainHttp), {
      onFailure: (bad) => new BadAddress(bad),
      onSuccess: (addresses) => {
        const asked = Effect.isEffect(token) ? token : Effect.succeed(token)
        const exchange = Exchange.make({ addresses, token: asked, timeout, headers }, transport)
        return Ingress.of({ urls: addresses, ...Requests.make(exchange, gzip) })
      }
    })
  )
}
