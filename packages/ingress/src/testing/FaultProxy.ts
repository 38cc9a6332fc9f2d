/**
 * FaultProxy: a network between a client and its server that does to requests what networks do.
 *
 *   DropBefore   the connection breaks, and the server never hears of it
 *   DropAfter    the server does what it was asked, and the connection breaks before the answer
 *   Duplicate    the server is asked twice, one after the other; the client hears the second answer
 *   Delay        the request waits
 *   Refuse       503 with Retry-After, and the server never hears of it
 *
 * The plan is a function from the number of the request to a fault, so that a run is told by its seed.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Buffer } from "node:buffer"
import * as http from "node:http"
import type * as net from "node:net"

/**
 * What becomes of a request.
 *
 * @category models
 * @since 0.1.0
 */
export type Fault = Data.TaggedEnum<{
  readonly None: {}
  readonly DropBefore: {}
  readonly DropAfter: {}
  readonly Duplicate: {}
  readonly Delay: { readonly millis: number }
  readonly Refuse: {}
}>

/**
 * Makes and matches faults.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Fault = Data.taggedEnum<Fault>()

/**
 * A proxy that runs: where clients find it, and how often each fault has happened.
 *
 * @category models
 * @since 0.1.0
 */
export interface FaultProxy {
  readonly url: string
  readonly counts: () => { readonly [Tag in Fault["_tag"]]: number }
}

/**
 * Faults drawn from a seed: of 100 requests, about `percent` have one, each kind as often as the others.
 *
 * @category constructors
 * @since 0.1.0
 */
export const seeded = (seed: number, percent = 30): ((request: number) => Fault) => {
  const kinds: ReadonlyArray<(n: number) => Fault> = [
    () => Fault.DropBefore(),
    () => Fault.DropAfter(),
    () => Fault.Duplicate(),
    (n) => Fault.Delay({ millis: n % 50 }),
    () => Fault.Refuse()
  ]
  return (request) => {
    const n = mixed(seed, request)
    return n % 100 < percent ? kinds[(n >>> 8) % kinds.length]!(n >>> 12) : Fault.None()
  }
}

/**
 * Starts a proxy on a free port of this machine, in front of the server that `upstream` names for each request. It ends with the scope.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: {
  readonly upstream: () => string
  readonly faultOf: (request: number) => Fault
}): Effect.Effect<FaultProxy, never, Scope.Scope> =>
  Effect.gen(function* () {
    const counts = { None: 0, DropBefore: 0, DropAfter: 0, Duplicate: 0, Delay: 0, Refuse: 0 }
    const agent = new http.Agent({ keepAlive: true })
    let count = 0
    const server = http.createServer((request, response) => {
      const fault = options.faultOf(count++)
      counts[fault._tag] += 1
      exchange(request, response, fault, options.upstream(), agent)
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.callback<void>((resume) => {
          agent.destroy()
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    return { url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`, counts: () => ({ ...counts }) }
  })

/** One request through the network. */
const exchange = (
  request: http.IncomingMessage,
  response: http.ServerResponse,
  fault: Fault,
  upstream: string,
  agent: http.Agent
): void => {
  const parts: Array<Buffer> = []
  const broken = () => request.socket.destroy()
  request.on("error", broken)
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    const forward = (then: (answer: http.IncomingMessage) => void) => {
      const asked = http.request(new URL(request.url ?? "/", upstream), {
        method: request.method,
        headers: request.headers,
        agent
      })
      asked.on("response", then)
      asked.on("error", broken)
      response.on("close", () => asked.destroy())
      asked.end(Buffer.concat(parts))
    }
    const give = (answer: http.IncomingMessage) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.on("error", broken)
      answer.pipe(response)
    }
    const lose = (then: () => void) => (answer: http.IncomingMessage) => void answer.on("end", then).resume()
    Fault.$match(fault, {
      None: () => forward(give),
      DropBefore: broken,
      DropAfter: () => forward(lose(broken)),
      Duplicate: () => forward(lose(() => forward(give))),
      Delay: ({ millis }) => void setTimeout(() => forward(give), millis),
      Refuse: () => void response.writeHead(503, { "retry-after": "0" }).end()
    })
  })
}

/** A number of 32 bits that depends on both. */
const mixed = (seed: number, n: number): number => {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(n + 1, 0xc2b2ae35)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39)
  return (h ^ (h >>> 15)) >>> 0
}
