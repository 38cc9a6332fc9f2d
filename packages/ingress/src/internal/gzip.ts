/**
 * Gzip: bodies that are compressed where that pays.
 */
import * as Effect from "effect/Effect"
import * as zlib from "node:zlib"
import type { Request } from "./transport/transport.ts"

/** Bytes of a body that is not worth it. */
const LEAST = 1024

/** A server bounds how much a body may grow (a hundredfold, by default): what shrinks by more than this goes as it is. */
const MOST_GROWTH = 50

/** The same request with its body compressed. */
export const compressed = (request: Request): Effect.Effect<Request> => {
  const { body, headers } = request
  if (body === undefined || body.length < LEAST) return Effect.succeed(request)
  return Effect.callback((resume) =>
    zlib.gzip(body, (error, small) => {
      const isWorth = error === null && body.length <= MOST_GROWTH * small.length
      resume(
        Effect.succeed(
          isWorth ? { ...request, headers: { ...headers, "content-encoding": "gzip" }, body: small } : request
        )
      )
    })
  )
}
