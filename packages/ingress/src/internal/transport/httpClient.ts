/**
 * HttpClient: requests by the `HttpClient` of the program.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Transport from "./transport.ts"

/** By this client. */
export const make = (client: HttpClient.HttpClient): Transport.Transport => {
  const scoped = HttpClient.withScope(client)
  return (address, timeout) => {
    const limited = <A, R>(effect: Effect.Effect<A, Transport.NoAnswer, R>) =>
      Effect.timeoutOrElse(effect, { duration: timeout, orElse: () => Effect.fail(Transport.tooLong()) })
    const requestOf = ({ body, headers, method, path }: Transport.Request) => {
      const request = HttpClientRequest.make(method)(`${address}${path}`, { headers })
      return body === undefined ? request : HttpClientRequest.bodyUint8Array(request, body, headers["content-type"])
    }
    return {
      ask: (request) =>
        client.execute(requestOf(request)).pipe(
          Effect.mapError(noAnswer),
          Effect.flatMap((response) =>
            Effect.map(Transport.textOf(bytesOf(response)), (text): Transport.Whole => ({
              ...headOf(response),
              text: () => text
            }))
          ),
          limited
        ),
      open: (request) =>
        scoped.execute(requestOf(request)).pipe(
          Effect.mapError(noAnswer),
          Effect.map((response): Transport.Opened => ({ ...headOf(response), bytes: bytesOf(response) })),
          limited
        )
    }
  }
}

const headOf = ({ headers, status }: HttpClientResponse): Transport.Answer => ({
  status,
  header: (name) => headers[name]
})

/** The bytes of an answer; none where it has no body. */
const bytesOf = ({ stream }: HttpClientResponse): Transport.Opened["bytes"] =>
  stream.pipe(
    Stream.catchIf(
      ({ reason }) => reason._tag === "EmptyBodyError",
      () => Stream.empty
    ),
    Stream.mapError(noAnswer)
  )

/** Without the request, which holds headers. */
const noAnswer = ({ reason }: HttpClientError): Transport.NoAnswer => {
  const { cause = reason._tag } = reason
  return new Transport.NoAnswer({ found: Transport.codeOf(cause) ?? reason._tag, cause })
}
