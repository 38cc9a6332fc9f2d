/**
 * Appending: `PUT /session/{id}`, of both profiles.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as HttpEffect from "effect/http/HttpEffect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as AppendChain from "../../AppendChain.ts"
import { BadRequest, HeadMismatch, type StaleEpoch } from "../../IngressError.ts"
import type { Appended, IngressStore } from "../../IngressStore.ts"
import type { Limits } from "../../Limits.ts"
import type { StreamAddress } from "../../StreamAddress.ts"
import * as Wire from "../../Wire.ts"
import type { Admission } from "./admission.ts"
import { permit } from "./authorization.ts"
import * as Body from "./body.ts"
import * as Ends from "./ends.ts"
import * as Lines from "./lines.ts"
import * as Metrics from "./metrics.ts"

interface Request {
  readonly params: { readonly id: string }
  readonly headers: { readonly [key: string]: string | undefined }
  readonly request: HttpServerRequest
}

/** Answers appends with this store. */
export const make = (store: IngressStore["Service"], { admit }: Admission, limits: Limits) => {
  /** What the body offers; the profile is its content type. */
  const attemptOf = Effect.fnUntraced(function* ({ headers, request }: Request) {
    const lastUuid = headers[Wire.headers.lastUuid] || undefined
    const body = yield* Body.read(request, limits)
    if (request.headers["content-type"]?.startsWith(Wire.types.ndjson) !== true) {
      const [line] = yield* Effect.fromResult(Lines.ofEntry(body, limits))
      return AppendChain.compat(line!, lastUuid)
    }
    const lines = yield* Effect.fromResult(Lines.ofBatch(body, limits))
    const epoch = yield* Effect.fromResult(epochOf(headers[Wire.headers.writer]))
    return AppendChain.native(lines, { lastUuid, epoch })
  })

  /** Who knows the stream from another store knows nothing of this one. */
  const known = (stream: StreamAddress, backend: string | undefined) =>
    backend === undefined || backend === store.backendId
      ? Effect.void
      : store.head(stream).pipe(
          Effect.catchTag("NotFound", () => Effect.succeed({ uuid: undefined, seq: 0 })),
          Effect.flatMap(({ seq, uuid }) =>
            Effect.fail(
              new HeadMismatch({ seq, backend: store.backendId, ...(uuid !== undefined && { lastUuid: uuid }) })
            )
          )
        )

  return Effect.fnUntraced(function* (asked: Request) {
    const session = asked.params.id
    const tenant = yield* permit(["append"], session)
    const stream = { tenant, session, sub: asked.headers[Wire.headers.stream] ?? "" }
    const appended = yield* admit(
      Body.announced(asked.request, limits),
      Effect.gen(function* () {
        const attempt = yield* attemptOf(asked)
        yield* known(stream, asked.headers[Wire.headers.backend])
        const appended = yield* store.append(stream, attempt)
        if (!appended.duplicate) yield* Metrics.appended(attempt)
        return appended
      })
    ).pipe(Effect.tapErrorTag("StaleEpoch", tellEpoch))
    return answer(appended, store.backendId)
  })
}

const epochOf = (header: string | undefined): Result.Result<number, BadRequest> => {
  if (header === undefined) return Result.succeed(0)
  const writer = Wire.writerOf(header)
  return writer === undefined
    ? Result.fail(new BadRequest({ detail: `expected ${Wire.headers.writer}: <writerId>;<epoch>` }))
    : Result.succeed(writer.epoch)
}

/** A fenced writer hears in a header as well which epoch fenced it off. */
const tellEpoch = ({ epoch }: StaleEpoch) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, Wire.headers.epoch, String(epoch)))
  )

const answer = (appended: Appended, backendId: string): HttpServerResponse.HttpServerResponse => {
  const { duplicate, mismatched, seq, uuid } = appended
  return HttpServerResponse.text(JSON.stringify({ head: uuid ?? null, seq, duplicate }), {
    status: duplicate ? 200 : 201,
    contentType: Wire.types.json,
    headers: {
      ...Ends.headersOf(appended, backendId),
      ...(mismatched[0] !== undefined && { [Wire.headers.mismatch]: encodeURIComponent(mismatched[0]) })
    }
  })
}
