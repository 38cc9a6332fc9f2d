/** NodeServer: a web function (`Request` in, `Response` out) behind `node:http`, on this machine alone. */
import * as Effect from "effect/Effect"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"

/** Listens on a port (0: one that is free) until the scope ends, and answers with the port. */
export const listen = (answer: (request: Request) => Promise<Response>, port: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<http.Server, Error>((resume) => {
        const server = http.createServer((incoming, outgoing) => void exchange(answer, incoming, outgoing))
        server.once("error", (error) => resume(Effect.fail(error)))
        server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    (server) => (server.address() as AddressInfo).port
  )

const exchange = async (
  answer: (request: Request) => Promise<Response>,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse
): Promise<void> => {
  try {
    const response = await answer(requestOf(incoming))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    // So that a stream is one from its first line on, and not when its buffer is full.
    outgoing.flushHeaders()
    if (response.body === null) outgoing.end()
    else await pipeline(Readable.fromWeb(response.body), outgoing)
  } catch {
    // Who is told half must not take it for the whole: the connection breaks.
    outgoing.destroy()
  }
}

const requestOf = (incoming: http.IncomingMessage): Request => {
  const { headers, method = "GET", url = "/" } = incoming
  const pairs = Object.entries(headers).flatMap(([name, value]): ReadonlyArray<[string, string]> =>
    value === undefined ? [] : [[name, String(value)]]
  )
  const hasBody = method !== "GET" && method !== "HEAD"
  const body = hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" as const } : {}
  return new Request(new URL(url, "http://127.0.0.1"), { method, headers: [...pairs], ...body })
}
