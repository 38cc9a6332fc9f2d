/**
 * NodeHttp: requests by `node:http` and `node:https`, over connections that are kept.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { Buffer } from "node:buffer"
import * as http from "node:http"
import * as https from "node:https"
import { urlToHttpOptions } from "node:url"
import * as Transport from "./transport.ts"

/** Connections end with the scope. */
export const make = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => ({
      plain: { request: http.request, agent: new http.Agent(kept()) },
      secure: { request: https.request, agent: new https.Agent(kept()) }
    })),
    ({ plain, secure }) =>
      Effect.sync(() => {
        plain.agent.destroy()
        secure.agent.destroy()
      })
  ),
  ({ plain, secure }): Transport.Transport =>
    (address, timeout) => {
      const { hostname, path: base, port, protocol } = urlToHttpOptions(new URL(address))
      const { agent, request } = protocol === "https:" ? secure : plain
      const most = Math.min(Duration.toMillis(timeout), LONGEST)

      const sentOf = ({ headers, method, path }: Transport.Request, span: Tracer.AnySpan | undefined) =>
        request({
          agent,
          hostname,
          port,
          protocol,
          method,
          path: `${base}${path}`,
          headers: span === undefined ? headers : { ...headers, traceparent: traceparent(span) }
        })

      /** Sends a request; `read` ends it, once the head of its answer is there. */
      const send = <A>(asked: Transport.Request, read: Read<A>) =>
        Effect.withFiber((fiber) =>
          Effect.callback<A, Transport.NoAnswer>((resume) => {
            const sent = sentOf(asked, Context.getOrUndefined(fiber.context, Tracer.ParentSpan))
            const end = (result: Effect.Effect<A, Transport.NoAnswer>) => {
              clearTimeout(timer)
              resume(result)
            }
            const timer = setTimeout(() => {
              end(Effect.fail(Transport.tooLong()))
              sent.destroy()
            }, most)
            const fail = (cause: unknown) => end(Effect.fail(broken(cause)))
            sent.on("error", fail)
            sent.on("response", (response) => {
              response.on("error", fail)
              read(response, (answer) => end(Effect.succeed(answer)), fail)
            })
            sent.end(asked.body)
            return Effect.sync(() => {
              clearTimeout(timer)
              sent.destroy()
            })
          })
        )

      return {
        ask: (asked) => send(asked, whole),
        open: (asked) =>
          Effect.acquireRelease(
            send<http.IncomingMessage>(asked, (response, end) => end(response)),
            (response) => Effect.sync(() => response.destroy()),
            { interruptible: true }
          ).pipe(Effect.map((response) => ({ ...headOf(response), bytes: Stream.fromAsyncIterable(response, broken) })))
      }
    }
)

/** Reads an answer, and says what it is or what broke it. */
type Read<A> = (response: http.IncomingMessage, end: (answer: A) => void, fail: (cause: unknown) => void) => void

const whole: Read<Transport.Whole> = (response, end, fail) => {
  const chunks: Array<Buffer> = []
  let size = 0
  const finish = () => end({ ...headOf(response), text: () => Buffer.concat(chunks).toString() })
  response.on("data", (chunk: Buffer) => {
    if ((size += chunk.length) <= Transport.MOST) return chunks.push(chunk)
    finish()
    return response.destroy()
  })
  // By then the connection is free again: at the end of the answer the next request would still open another one.
  response.on("close", () => (response.complete ? finish() : fail(undefined)))
}

/** As the global agents are, but without a time limit of their own, which costs each request a little. */
const kept = (): http.AgentOptions => ({
  keepAlive: true,
  proxyEnv: process.env["NODE_USE_ENV_PROXY"] === "1" ? process.env : undefined
})

/** Milliseconds that a timer of Node can wait at most. */
const LONGEST = 2 ** 31 - 1

const headOf = (response: http.IncomingMessage): Transport.Answer => ({
  status: response.statusCode!,
  header: (name) => {
    const value = response.headers[name]
    return typeof value === "string" ? value : undefined
  }
})

/** The span within which is asked, as W3C's Trace Context writes it. */
const traceparent = ({ sampled, spanId, traceId }: Tracer.AnySpan): string =>
  `00-${traceId.padStart(32, "0")}-${spanId}-${sampled ? "01" : "00"}`

const broken = (cause: unknown) =>
  new Transport.NoAnswer({ found: Transport.codeOf(cause) ?? "the connection broke", cause })
