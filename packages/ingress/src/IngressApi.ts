/**
 * IngressApi: the protocol as a contract, from which server, client and OpenAPI document come.
 *
 *   PUT     /session/{id}            append: one entry (JSON, compat profile) or a batch of lines (NDJSON, native)
 *   GET     /session/{id}            read: all as JSON (compat), a page as NDJSON, or follow
 *   HEAD    /session/{id}            where the stream ends
 *   GET     /session/{id}/streams    the main stream and those of agents, with their ends
 *   POST    /session/{id}/writers    claim the session: raises its epoch
 *   DELETE  /session/{id}            delete it with the streams of its agents, for ever
 *   GET     /sessions                the sessions of the tenant
 *   GET     /health /ready /metrics  without a token
 *
 * 1. Both profiles are told apart by content type alone, and share sessions.
 * 2. Texts of entries are verbatim on both ways, so the bodies that carry them are bytes here: `StreamLine` reads them.
 * 3. Names are checked by the schemas of the path, before anything looks at them.
 */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import { answers } from "./ErrorAnswer.ts"
import * as StreamAddress from "./StreamAddress.ts"
import type * as TokenVerifier from "./TokenVerifier.ts"
import * as Wire from "./Wire.ts"

/**
 * Who asks.
 *
 * @category services
 * @since 0.1.0
 */
export class Principal extends Context.Service<Principal, TokenVerifier.Principal>()("@reprise/ingress/Principal") {}

/**
 * Finds out who asks, by the bearer token.
 *
 * @category services
 * @since 0.1.0
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Principal }>()(
  "@reprise/ingress/Authorization",
  {
    error: [answers.unauthorized, answers.tooManyRequests],
    security: { bearer: HttpApiSecurity.bearer },
    requiredForClient: true
  }
) {}

/**
 * Says in the way of this protocol what is wrong with a path, a query or a header.
 *
 * @category services
 * @since 0.1.0
 */
export class WellFormed extends HttpApiMiddleware.Service<WellFormed>()("@reprise/ingress/WellFormed", {
  error: answers.badRequest
}) {}

/**
 * What an append is answered with: where the stream ends now, and whether all of it was there already.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Appended = Schema.Struct({
  head: Schema.NullOr(Schema.String),
  seq: Schema.Int,
  duplicate: Schema.Boolean
})

/**
 * A stream of a session: its name (`""`: the main one), where it ends, its bytes, and when it grew last, in milliseconds
 * since 1970.
 *
 * @category schemas
 * @since 0.1.0
 */
export const StreamInfo = Schema.Struct({
  stream: StreamAddress.Sub,
  head: Schema.NullOr(Schema.String),
  seq: Schema.Int,
  bytes: Schema.Int,
  updatedAt: Schema.Int
})

/**
 * A session in a list: its epoch, the end, bytes and time of its main stream, and what its lines say of it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SessionInfo = Schema.Struct({
  session: StreamAddress.Session,
  epoch: Schema.Int,
  head: Schema.NullOr(Schema.String),
  seq: Schema.Int,
  bytes: Schema.Int,
  updatedAt: Schema.Int,
  summary: Schema.Struct({
    title: Schema.optionalKey(Schema.String),
    tag: Schema.optionalKey(Schema.String),
    firstPrompt: Schema.optionalKey(Schema.String),
    cwd: Schema.optionalKey(Schema.String),
    gitBranch: Schema.optionalKey(Schema.String),
    createdAt: Schema.optionalKey(Schema.String),
    updatedAt: Schema.optionalKey(Schema.String)
  })
})

/**
 * What a claim is answered with: the epoch that the writer has from now on, and where the main stream ends.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Claimed = Schema.Struct({ epoch: Schema.Int, head: Schema.NullOr(Schema.String), seq: Schema.Int })

/** Where a stream ends, as headers. */
const ends = {
  [Wire.headers.head]: Schema.optionalKey(Schema.String),
  [Wire.headers.seq]: Schema.String,
  [Wire.headers.epoch]: Schema.String,
  [Wire.headers.backend]: Schema.String
}

const appended = (status: number) =>
  HttpApiSchema.WithHeaders(Appended.pipe(HttpApiSchema.status(status)), {
    ...ends,
    [Wire.headers.mismatch]: Schema.optionalKey(Schema.String)
  })

const params = { id: StreamAddress.Session }
const stream = { [Wire.headers.stream]: Schema.optionalKey(StreamAddress.Sub) }
const { badRequest, deleted, forbidden, headMismatch, keyReused, notFound, staleEpoch, tooLarge } = answers
const always = [answers.unavailable, forbidden] as const

const append = HttpApiEndpoint.put("append", "/session/:id", {
  params,
  headers: {
    ...stream,
    [Wire.headers.lastUuid]: Schema.optionalKey(Schema.String),
    [Wire.headers.writer]: Schema.optionalKey(Schema.String),
    [Wire.headers.backend]: Schema.optionalKey(Schema.String)
  },
  payload: [
    Schema.Record(Schema.String, Schema.Json),
    Schema.String.pipe(HttpApiSchema.asText({ contentType: Wire.types.ndjson }))
  ],
  success: [appended(201), appended(200)],
  error: [...always, badRequest, headMismatch, staleEpoch, keyReused, deleted, tooLarge]
}).annotate(OpenApi.Description, "Appends one entry, or a batch of lines, behind the line that Last-Uuid names.")

const read = HttpApiEndpoint.get("read", "/session/:id", {
  params,
  headers: { ...stream, [Wire.headers.lastEventId]: Schema.optionalKey(Schema.String) },
  query: {
    stream: Schema.optionalKey(StreamAddress.Sub),
    after: Schema.optionalKey(Schema.String),
    limit: Schema.optionalKey(Schema.String),
    after_last_compact: Schema.optionalKey(Schema.String),
    follow: Schema.optionalKey(Schema.Literals(["ndjson", "sse"]))
  },
  success: [
    Schema.Struct({
      loglines: Schema.Array(Schema.Record(Schema.String, Schema.Json)),
      next_cursor: Schema.optionalKey(Schema.String),
      has_more: Schema.optionalKey(Schema.Boolean)
    }),
    HttpApiSchema.StreamUint8Array({ contentType: [Wire.types.ndjson, Wire.types.events] })
  ],
  error: [...always, badRequest, notFound, deleted, answers.tooManyRequests]
}).annotate(
  OpenApi.Description,
  "All lines as JSON; with Accept: application/x-ndjson a page of lines; or what comes, too."
)

const head = HttpApiEndpoint.head("head", "/session/:id", {
  params,
  headers: stream,
  success: HttpApiSchema.WithHeaders(HttpApiSchema.Empty(200), ends),
  error: [...always, notFound, deleted]
}).annotate(OpenApi.Description, "Where the stream ends.")

const streams = HttpApiEndpoint.get("streams", "/session/:id/streams", {
  params,
  success: HttpApiSchema.WithHeaders(Schema.Struct({ epoch: Schema.Int, streams: Schema.Array(StreamInfo) }), {
    [Wire.headers.backend]: Schema.String
  }),
  error: [...always, notFound, deleted]
}).annotate(OpenApi.Description, "The streams of a session: the main one, and one for each agent.")

const claim = HttpApiEndpoint.post("claim", "/session/:id/writers", {
  params,
  payload: Schema.Struct({ writerId: Schema.String.check(Schema.isPattern(/^[\x21-\x3a\x3c-\x7e]{1,128}$/u)) }),
  success: HttpApiSchema.WithHeaders(Claimed, { [Wire.headers.backend]: Schema.String }),
  error: [...always, deleted]
}).annotate(OpenApi.Description, "Claims a session for a writer: all others are fenced off from then on.")

const remove = HttpApiEndpoint.delete("remove", "/session/:id", {
  params,
  error: [...always, notFound]
}).annotate(OpenApi.Description, "Deletes a session with its streams, for ever.")

const sessions = HttpApiEndpoint.get("sessions", "/sessions", {
  query: {
    project: Schema.optionalKey(Schema.String),
    cursor: Schema.optionalKey(Schema.String),
    limit: Schema.optionalKey(Schema.String)
  },
  success: Schema.Struct({ sessions: Schema.Array(SessionInfo), next_cursor: Schema.NullOr(Schema.String) }),
  error: [...always, badRequest]
}).annotate(OpenApi.Description, "The sessions of the tenant by their ids, of one project or of all, page by page.")

/**
 * What a tenant does with sessions; every request carries a bearer token.
 *
 * @category api
 * @since 0.1.0
 */
export class Sessions extends HttpApiGroup.make("sessions")
  .add(append, read, head, streams, claim, remove, sessions)
  .prefix(Wire.base)
  .middleware(WellFormed)
  .middleware(Authorization) {}

/**
 * What who runs a server asks: is the program there, does its store answer within a second, what did it do.
 *
 * @category api
 * @since 0.1.0
 */
export class Operations extends HttpApiGroup.make("operations").add(
  HttpApiEndpoint.get("health", "/health"),
  HttpApiEndpoint.get("ready", "/ready", { error: answers.unavailable }),
  HttpApiEndpoint.get("metrics", "/metrics", { success: Schema.String.pipe(HttpApiSchema.asText()) })
) {}

/**
 * The whole protocol.
 *
 * @category api
 * @since 0.1.0
 */
export class IngressApi extends HttpApi.make("ingress")
  .add(Sessions, Operations)
  .annotate(OpenApi.Title, "Session ingress")
  .annotate(OpenApi.Description, "A durable replica of session logs.") {}

/**
 * The OpenAPI document.
 *
 * @category api
 * @since 0.1.0
 */
export const openApi = () => OpenApi.fromApi(IngressApi)
