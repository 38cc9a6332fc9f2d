/** A server on a port of its own, over any store, and what talks to it without a client of ours. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as IngressServer from "@reprise/ingress/IngressServer"
import type * as IngressStore from "@reprise/ingress/IngressStore"
import * as Limits from "@reprise/ingress/Limits"
import * as NodeServer from "@reprise/ingress/NodeServer"
import * as TokenVerifier from "@reprise/ingress/TokenVerifier"
import * as Wire from "@reprise/ingress/Wire"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"

/** Serves a store; every tenant has one token for each kind of scope, made when it is asked for. */
export interface Serving {
  readonly url: string
  readonly port: number
  /** A token of this tenant with these scopes. */
  readonly token: (tenant: string, ...scopes: ReadonlyArray<string>) => string
}

export class Served extends Context.Service<Served, Serving>()("test/Served") {}

/** Tokens in clear, `<tenant>~<scopes>`: what a program that signs its own would verify. */
const verifier = Layer.succeed(TokenVerifier.TokenVerifier, {
  verify: (token) =>
    Effect.sync(() => {
      const [, tenant, scopes] = /^(.+)~(.+)$/.exec(Redacted.value(token)) ?? []
      return tenant === undefined ? undefined : { tenant, scopes: scopes!.split(",") }
    })
})

/** Limits that no test runs into which does not ask for it. */
const generous: Limits.Limits = { ...Limits.defaults, burst: 1_000_000, rate: 1_000_000 }

export const serve = <E, R>(
  store: Layer.Layer<IngressStore.IngressStore, E, R>,
  limits: Partial<Limits.Limits> = {},
  { host = "127.0.0.1", port = 0 }: { readonly host?: string; readonly port?: number } = {}
): Layer.Layer<Served | HttpServer.HttpServer | IngressStore.IngressStore, E, R> => {
  const all = { ...generous, ...limits }
  const server = NodeHttpServer.layer(() => NodeServer.make(all), {
    host,
    port,
    gracefulShutdownTimeout: "2 seconds"
  })
  const served = Layer.effect(
    Served,
    Effect.map(HttpServer.HttpServer, ({ address }) => {
      const { port } = address as { readonly port: number }
      return {
        url: `http://127.0.0.1:${port}${Wire.base}`,
        port,
        token: (tenant, ...scopes) => `${tenant}~${scopes.join(",") || "admin"}`
      }
    })
  )
  return served.pipe(
    Layer.provideMerge(IngressServer.layer(server)),
    Layer.provideMerge(store),
    Layer.provide(verifier),
    Layer.provide(Layer.succeed(Limits.Limits, all)),
    Layer.orDie
  ) as Layer.Layer<Served | HttpServer.HttpServer | IngressStore.IngressStore, E, R>
}

/** One exchange, and what came of it. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: any
}

/** Asks the server, as a program does that knows nothing of ours. */
export const ask = (
  method: string,
  path: string,
  {
    body,
    headers = {},
    token
  }: { readonly token?: string; readonly body?: string | Uint8Array; readonly headers?: Record<string, string> } = {}
): Effect.Effect<Answer, never, Served> =>
  Served.use(({ port, url }) =>
    Effect.promise(async () => {
      const base = path.startsWith("/session") ? url : `http://127.0.0.1:${port}`
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const response = await fetch(`${base}${path}`, {
        method,
        headers: { ...authorization, ...headers },
        ...(body !== undefined && { body: body as any })
      })
      const text = await response.text()
      let json: any
      try {
        json = JSON.parse(text)
      } catch {
        json = undefined
      }
      return { status: response.status, headers: response.headers, text, json }
    })
  )
