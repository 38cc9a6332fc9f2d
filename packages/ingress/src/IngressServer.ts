/**
 * IngressServer: the protocol over a store, behind any HTTP server of Effect.
 *
 *   IngressStore ─▶ handlers ─▶ listening            in this order, so that no request finds a server without answers
 *
 * 1. It begins to listen when its store is open, and stops in the opposite order: no more connections, followers are sent
 *    away, requests that are on their way are answered, the store is closed.
 * 2. All that it keeps is in the store. Requests are bounded in size and number, and followers in what they may keep.
 * 3. It logs neither bodies nor tokens. Where the store fails, the reason is logged and counted; clients hear `unavailable`.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { FileSystem } from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type { Path } from "effect/Path"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type * as Etag from "effect/http/Etag"
import type { HttpPlatform } from "effect/http/HttpPlatform"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServer from "effect/http/HttpServer"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import { IngressApi } from "./IngressApi.ts"
import { Unavailable } from "./IngressError.ts"
import { IngressStore } from "./IngressStore.ts"
import * as Admission from "./internal/server/admission.ts"
import * as Appending from "./internal/server/appending.ts"
import * as Authorization from "./internal/server/authorization.ts"
import * as Metrics from "./internal/server/metrics.ts"
import * as Reading from "./internal/server/reading.ts"
import * as Sessions from "./internal/server/sessions.ts"
import { watched } from "./internal/server/watched.ts"
import { Limits } from "./Limits.ts"
import { TokenVerifier } from "./TokenVerifier.ts"
import * as Wire from "./Wire.ts"

/**
 * What an HTTP server brings: `NodeHttpServer.layer` does, as those of other runtimes do.
 *
 * @category models
 * @since 0.1.0
 */
export type Server = HttpServer.HttpServer | HttpPlatform | Etag.Generator | FileSystem | Path

/**
 * Serves the protocol with this HTTP server, which is started when all else is there.
 *
 *   IngressServer.layer(NodeHttpServer.layer(() => NodeServer.make(limits), { host: "127.0.0.1", port: 4780 }))
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E, R>(
  server: Layer.Layer<Server, E, R>
): Layer.Layer<Server, E, R | IngressStore | TokenVerifier> =>
  Layer.unwrap(
    Effect.gen(function* () {
      yield* IngressStore
      yield* TokenVerifier
      const stopping = yield* Deferred.make<void>()
      const served = HttpRouter.serve(routes(stopping), {
        disableLogger: true,
        disableListenLog: true,
        // The schema of the id says what is too long; the router would answer 404.
        routerConfig: { maxParamLength: 4_096 }
      }).pipe(Layer.provideMerge(server))
      // Built last, so it ends first: followers leave, and the server has nobody to wait for.
      const stop = Layer.effectDiscard(Effect.addFinalizer(() => Deferred.succeed(stopping, undefined)))
      return stop.pipe(Layer.provideMerge(served))
    })
  )

/** The longest that a store may take to say that it is ready. */
const READY = "1 second"

/** The handlers of the contract, until `stopping`. */
const routes = (stopping: Deferred.Deferred<void>) => {
  const sessions = HttpApiBuilder.group(
    IngressApi,
    "sessions",
    Effect.fnUntraced(function* (handlers) {
      const store = watched(yield* IngressStore)
      const limits = yield* Limits
      const admission = yield* Admission.make(limits)
      const read = Reading.make(store, admission, limits, Deferred.await(stopping))
      return handlers
        .handleRaw("append", Appending.make(store, admission, limits))
        .handleRaw("read", read)
        .handleAll(Sessions.make(store))
    })
  )
  const operations = HttpApiBuilder.group(
    IngressApi,
    "operations",
    Effect.fnUntraced(function* (handlers) {
      const { probe } = yield* IngressStore
      const ready = Effect.suspend(() =>
        Deferred.isDoneUnsafe(stopping)
          ? Effect.fail(new Unavailable({ retryAfter: 1 }))
          : Effect.timeoutOrElse(probe, {
              duration: READY,
              orElse: () => Effect.fail(new Unavailable({ retryAfter: 1 }))
            })
      )
      return handlers.handleAll({
        health: () => Effect.void,
        ready: () => ready,
        metrics: () => PrometheusMetrics.format()
      })
    })
  )
  const handlers = Layer.mergeAll(sessions, operations).pipe(
    Layer.provideMerge(Layer.mergeAll(Authorization.layer, Authorization.wellFormed))
  )
  return Layer.mergeAll(
    HttpApiBuilder.layer(IngressApi, { openapiPath: "/openapi.json" }).pipe(Layer.provide(handlers)),
    observed(stopping)
  )
}

/** Counts and times every answer, and says whose it is; a server that stops asks to be left. */
const observed = (stopping: Deferred.Deferred<void>) =>
  HttpRouter.middleware(
    Effect.map(
      IngressStore,
      ({ backendId }) =>
        (answer) =>
          Effect.gen(function* () {
            const { method } = yield* HttpServerRequest.HttpServerRequest
            const began = yield* Clock.currentTimeMillis
            const response = yield* answer
            yield* Metrics.answered(method, response, (yield* Clock.currentTimeMillis) - began)
            return HttpServerResponse.setHeaders(response, {
              [Wire.headers.backend]: backendId,
              ...(Deferred.isDoneUnsafe(stopping) && { connection: "close" })
            })
          })
    ),
    { global: true }
  )
