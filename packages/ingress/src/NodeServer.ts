/**
 * NodeServer: a server of `node:http` with the time limits of a service that strangers talk to.
 *
 * 1. Headers and body have a time in which to arrive, so nobody can hold a connection by sending slowly.
 * 2. A socket on which nothing moves is closed, so a follower that takes nothing loses its connection.
 * 3. A request that comes before somebody answers requests is sent away with 503; without that it would never be answered.
 */
import * as http from "node:http"
import type { Limits } from "./Limits.ts"

/** Longer than the minute after which a load balancer closes an idle connection, so that it is never we who do it first. */
const KEPT = 65_000

/**
 * Makes a server, which does not listen yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ arrival, stalled }: Pick<Limits, "arrival" | "stalled">): http.Server => {
  const server = http.createServer({
    requestTimeout: arrival,
    headersTimeout: Math.min(10_000, arrival),
    connectionsCheckingInterval: Math.min(5_000, arrival),
    keepAliveTimeout: KEPT
  })
  server.timeout = stalled
  server.on("request", (_, response) => {
    if (server.listenerCount("request") > 1) return
    response.writeHead(503, { "retry-after": "1", connection: "close" }).end()
  })
  return server
}
