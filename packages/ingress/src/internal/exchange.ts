/**
 * Exchange: one request and its answer.
 *
 *   request ─ address, token ─▶ server ─▶ answer
 *      ├ no answer, or 503 ───▶ the next address, each once
 *      └ 401 ─────────────────▶ another token, once
 */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { type Failure, Unreachable } from "../Ingress.ts"
import * as Wire from "../Wire.ts"
import * as Addresses from "./addresses.ts"
import * as Answers from "./answers.ts"

/** What every exchange needs. */
export interface Options {
  readonly addresses: ReadonlyArray<string>
  readonly token: Effect.Effect<Redacted.Redacted>
  readonly timeout: Duration.Input
  readonly headers: Readonly<Record<string, string>>
}

/** A request without address and token. */
export type Request = HttpClientRequest.HttpClientRequest

/** Talks to one remote. */
export const make = Effect.fnUntraced(function* ({ addresses, headers, timeout, token }: Options) {
  const client = yield* HttpClient.HttpClient
  const rotation = Addresses.rotation(addresses)
  let known: Redacted.Redacted | undefined

  const unreachable = (error: HttpClientError | Cause.TimeoutError): Unreachable =>
    new Unreachable({ urls: addresses, found: reasonOf(error), cause: causeOf(error) })

  const send = (request: Request, address: string, bearer: Redacted.Redacted) =>
    client.execute(
      request.pipe(
        HttpClientRequest.prependUrl(`${address}${Wire.base}`),
        HttpClientRequest.setHeaders(headers),
        HttpClientRequest.bearerToken(bearer)
      )
    )

  const answer = <A>(request: Request, address: string, bearer: Redacted.Redacted, read: Read<A>) =>
    send(request, address, bearer).pipe(
      Effect.flatMap((response) => read(response) ?? failing(response)),
      Effect.timeout(timeout),
      Effect.mapError((error): Failure => (isNoAnswer(error) ? unreachable(error) : error))
    )

  /** The answer of one address; another token is asked for when that in use is refused. */
  const ask = Effect.fnUntraced(function* <A>(request: Request, address: string, read: Read<A>) {
    known ??= yield* token
    const first = yield* Effect.result(answer(request, address, known, read))
    if (Result.isSuccess(first)) return first.success
    if (first.failure._tag !== "Unauthorized") return yield* first.failure
    known = yield* token
    return yield* answer(request, address, known, read)
  })

  /** The answer of the address in use, or of the first other that gives one. */
  const exchange = <A>(request: Request, read: Read<A>): Effect.Effect<A, Failure> => {
    const attempt = (left: number): Effect.Effect<A, Failure> => {
      const address = rotation.current()
      return Effect.catchIf(ask(request, address, read), isAway, (failure) => {
        rotation.leave(address)
        return left > 1 ? attempt(left - 1) : Effect.fail(failure)
      })
    }
    return Effect.suspend(() => attempt(rotation.count))
  }

  /** The bytes of an answer as they come; none may take longer than the timeout. */
  const bytes = (response: HttpClientResponse): Stream.Stream<Uint8Array, Unreachable> =>
    Answers.bytesOf(response).pipe(
      Stream.mapError(unreachable),
      Stream.timeoutOrElse({
        duration: timeout,
        orElse: () => Stream.fail(unreachable(new Cause.TimeoutError("the answer stopped half way")))
      })
    )
  return { exchange, bytes }
})

/** Reads an answer; undefined: it is no success. */
export type Read<A> = (response: HttpClientResponse) => Effect.Effect<A, HttpClientError | Failure> | undefined

const failing = (response: HttpClientResponse) => Effect.flatMap(Answers.failureOf(response), Effect.fail)

const isNoAnswer = (
  error: Failure | HttpClientError | Cause.TimeoutError
): error is HttpClientError | Cause.TimeoutError => error._tag === "HttpClientError" || error._tag === "TimeoutError"

const isAway = (failure: Failure): boolean => failure._tag === "Unreachable" || failure._tag === "Unavailable"

/** Without the request, which holds headers. */
const causeOf = (error: HttpClientError | Cause.TimeoutError): unknown =>
  error._tag === "TimeoutError" ? error : (error.reason.cause ?? error.reason._tag)

/** What went wrong in a few words, which hold no header. */
const reasonOf = (error: HttpClientError | Cause.TimeoutError): string => {
  if (error._tag === "TimeoutError") return "it took too long"
  for (let at: unknown = error.reason; at instanceof Error; at = at.cause) {
    const { code } = at as { readonly code?: unknown }
    if (typeof code === "string") return code
  }
  return error.reason._tag
}
