/**
 * Answers: what a server said, where it was no success.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { HttpClientError } from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import { Buffer } from "node:buffer"
import * as ErrorAnswer from "../ErrorAnswer.ts"
import { type Failure, UnexpectedAnswer } from "../Ingress.ts"
import { BadRequest, Deleted, NotFound, TooLarge, TooManyRequests, Unauthorized, Unavailable } from "../IngressError.ts"
import * as Wire from "../Wire.ts"

/** Bytes of a body that is no log; what is longer is not read. */
const MOST = 1 << 20
const SHOWN = 80

/** The bytes of an answer; none where it has no body. */
export const bytesOf = (response: HttpClientResponse.HttpClientResponse): Stream.Stream<Uint8Array, HttpClientError> =>
  Stream.catchIf(
    response.stream,
    ({ reason }) => reason._tag === "EmptyBodyError",
    () => Stream.empty
  )

/** The text of a short body. */
export const textOf = (response: HttpClientResponse.HttpClientResponse) => {
  let size = 0
  return bytesOf(response).pipe(
    Stream.takeWhile((chunk) => (size += chunk.length) <= MOST),
    Stream.runCollect,
    Effect.map((chunks) => Buffer.concat(chunks).toString())
  )
}

/** Why a server did not do it: as it says, or, of one that knows another protocol, as its status says. */
export const failureOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(textOf(response), (text): Failure => {
    const { headers, status } = response
    return (
      ErrorAnswer.decode(Option.getOrUndefined(jsonIn(text))) ??
      byStatus(status, secondsOf(headers[Wire.headers.retryAfter]), text)
    )
  })

const byStatus = (status: number, retryAfter: number | undefined, text: string): Failure => {
  if (status === 400) return new BadRequest({ detail: shown(text) })
  if (status === 401) return new Unauthorized()
  if (status === 404) return new NotFound()
  if (status === 410) return new Deleted()
  if (status === 413) return new TooLarge({ what: "batch", limit: 0 })
  if (status === 429) return new TooManyRequests({ retryAfter: retryAfter ?? 1 })
  if (status === 502 || status === 503 || status === 504) return new Unavailable({ retryAfter: retryAfter ?? 0 })
  return new UnexpectedAnswer({ status, found: shown(text) })
}

/** A time to wait, in seconds; a date is as good as none. */
const secondsOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined

/** The beginning of a body, for people. */
export const shown = (text: string): string =>
  text.trim() === "" ? "an empty body" : text.replaceAll(/\s+/g, " ").trim().slice(0, SHOWN)

/** The JSON that a text is. */
export const jsonIn: (text: string) => Option.Option<unknown> = Option.liftThrowable(JSON.parse)
