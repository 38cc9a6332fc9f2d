/**
 * Body: the bytes of a request, decompressed, and never more than the limits allow.
 */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import { Buffer } from "node:buffer"
import * as zlib from "node:zlib"
import { BadRequest, TooLarge } from "../../IngressError.ts"
import type { Limits } from "../../Limits.ts"

/** How many bytes a request says that it brings; one that does not say may bring a whole batch. */
export const announced = ({ headers }: HttpServerRequest, { batch }: Limits): number => {
  const length = Number(headers["content-length"] ?? batch)
  return Number.isSafeInteger(length) && length >= 0 ? length : batch
}

/** All bytes of a request. */
export const read = (request: HttpServerRequest, limits: Limits): Effect.Effect<Buffer, BadRequest | TooLarge> => {
  const { batch } = limits
  const tooLarge = () => new TooLarge({ what: "batch", limit: batch })
  if (announced(request, limits) > batch) return Effect.fail(tooLarge())
  const bytes = Effect.map(request.arrayBuffer, (bytes) => Buffer.from(bytes)).pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(batch)),
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? tooLarge()
        : new BadRequest({ detail: "expected a body, which ended before it was whole" })
    )
  )
  const encoding = request.headers["content-encoding"] ?? "identity"
  if (encoding === "identity") return bytes
  if (encoding !== "gzip")
    return Effect.fail(
      new BadRequest({ detail: `expected Content-Encoding gzip or none, found ${encoding.slice(0, 40)}` })
    )
  return Effect.flatMap(bytes, (compressed) => gunzip(compressed, limits))
}

const gunzip = (compressed: Buffer, { batch, ratio }: Limits): Effect.Effect<Buffer, BadRequest | TooLarge> => {
  const most = Math.min(batch, ratio * compressed.length)
  return Effect.callback((resume) =>
    zlib.gunzip(compressed, { maxOutputLength: Math.max(1, most) }, (error, bytes) => {
      if (error === null) return resume(Effect.succeed(bytes))
      if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE")
        return resume(Effect.fail(new BadRequest({ detail: "expected a body in gzip, found what is none" })))
      const grew =
        most === batch ? ({ what: "batch", limit: batch } as const) : ({ what: "ratio", limit: ratio } as const)
      resume(Effect.fail(new TooLarge(grew)))
    })
  )
}
