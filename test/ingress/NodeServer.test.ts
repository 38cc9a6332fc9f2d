import { assert, describe, it } from "@effect/vitest"
import * as NodeServer from "@reprise/ingress/NodeServer"
import { Effect } from "effect"
import type * as http from "node:http"
import * as net from "node:net"

const limits = { arrival: 300, stalled: 300 }

/** Listens on a port of its own; closed with the scope. */
const listening = (server: http.Server) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as net.AddressInfo).port)))
    }),
    () => Effect.sync(() => server.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => server.close())))
  )

/** Sends bytes and takes what comes until the connection ends; `take` false: it never reads. */
const exchange = (port: number, text: string, take = true) =>
  Effect.callback<string>((resume) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write(text))
    let heard = ""
    if (take) socket.on("data", (part) => (heard += part.toString()))
    else socket.pause()
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(heard)))
    return Effect.sync(() => socket.destroy())
  }).pipe(Effect.timeout("10 seconds"))

describe("NodeServer", () => {
  it.live("a request before anybody answers requests is sent away, and later ones are answered once", () =>
    Effect.gen(function* () {
      const server = NodeServer.make(limits)
      const port = yield* listening(server)
      const early = yield* exchange(port, "GET / HTTP/1.1\r\nhost: a\r\n\r\n")
      assert.match(early, /^HTTP\/1.1 503 [^]*retry-after: 1/i)
      server.on("request", (_, response) => response.writeHead(204, { connection: "close" }).end())
      assert.match(yield* exchange(port, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"), /^HTTP\/1.1 204 /)
    })
  )

  it.live("who sends headers or a body slowly loses the connection", () =>
    Effect.gen(function* () {
      const server = NodeServer.make(limits)
      const port = yield* listening(server)
      server.on("request", (request, response) => request.on("end", () => response.end()).resume())
      const began = performance.now()
      const headers = yield* exchange(port, "PUT / HTTP/1.1\r\nhost: a\r\n")
      const body = yield* exchange(port, "PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n123")
      for (const answer of [headers, body]) assert.match(answer, /^(HTTP\/1.1 408 |$)/)
      assert.isBelow(performance.now() - began, 9_000)
    })
  )

  it.live("who takes nothing of an answer loses the connection, and its server stops writing", () =>
    Effect.gen(function* () {
      const server = NodeServer.make(limits)
      const port = yield* listening(server)
      let written = 0
      const closed = new Promise<void>((done) => {
        server.on("request", (_, response) => {
          const chunk = Buffer.alloc(1 << 16)
          const more = (): void => {
            while (response.write(chunk)) written += chunk.length
            written += chunk.length
            response.once("drain", more)
          }
          response.once("close", done)
          more()
        })
      })
      yield* Effect.forkChild(exchange(port, "GET / HTTP/1.1\r\nhost: a\r\n\r\n", false))
      yield* Effect.timeout(
        Effect.promise(() => closed),
        "10 seconds"
      )
      assert.isAbove(written, 0)
    })
  )
})
