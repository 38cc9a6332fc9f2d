/** Servers of `node:http` on this machine that answer as a test says. */
import type { Ingress } from "@reprise/ingress/Ingress"
import * as IngressClient from "@reprise/ingress/IngressClient"
import { Effect, Redacted, type Scope } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import * as zlib from "node:zlib"

/** A request as it came; `body` is decompressed. */
export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An answer; `hang`: none ever comes; `break`: the connection is cut, or is so after `body`. */
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly hang?: true
  readonly break?: true
}

/** A server: what it was asked, how many connections it had and has, and its address. */
interface Scripted {
  readonly asked: Array<Asked>
  readonly open: () => { readonly all: number; readonly now: number }
  readonly url: string
  readonly close: () => void
}

/** A server that lives as long as the scope. */
export const serve = (answer: (asked: Asked) => Answer | Promise<Answer>) =>
  Effect.acquireRelease(
    Effect.callback<Scripted>((resume) => {
      const asked: Array<Asked> = []
      let all = 0
      let now = 0
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("error", () => {})
        request.on("end", async () => {
          const { headers, method = "", url = "" } = request
          const raw = Buffer.concat(chunks)
          const body = (headers["content-encoding"] === "gzip" ? zlib.gunzipSync(raw) : raw).toString()
          asked.push({ method, url, headers, body })
          const said = await answer(asked.at(-1)!)
          if (said.hang) return
          if (said.break && said.body === undefined) {
            request.socket.destroy()
            return
          }
          response.writeHead(said.status ?? 200, said.headers)
          if (said.break) {
            response.write(said.body)
            setTimeout(() => request.socket.destroy(), 20)
          } else response.end(said.body)
        })
      })
      server.on("connection", (socket) => {
        all++
        now++
        socket.on("close", () => now--)
      })
      server.listen(0, "127.0.0.1", () => {
        const close = () => {
          server.close()
          server.closeAllConnections()
        }
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
        resume(Effect.succeed({ asked, open: () => ({ all, now }), url, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** An answer in JSON. */
export const json = (value: unknown, status = 200, headers: Answer["headers"] = {}): Answer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(value)
})

/** Makes a client of addresses. */
export type Client = (
  urls: ReadonlyArray<string>,
  options?: Partial<IngressClient.Options>
) => Effect.Effect<Ingress["Service"], IngressClient.BadAddress, Scope.Scope>

const optionsOf = (urls: ReadonlyArray<string>, options: Partial<IngressClient.Options>): IngressClient.Options => ({
  urls,
  token: Redacted.make("sli_secret"),
  timeout: "2 seconds",
  ...options
})

/** A client of addresses over `node:http`. */
export const client: Client = (urls, options = {}) => IngressClient.makeNode(optionsOf(urls, options))

/** Clients of all kinds, by what they are over. */
export const clients: Readonly<Record<string, Client>> = {
  "node:http": client,
  HttpClient: (urls, options = {}) =>
    Effect.provide(IngressClient.make(optionsOf(urls, options)), FetchHttpClient.layer)
}
