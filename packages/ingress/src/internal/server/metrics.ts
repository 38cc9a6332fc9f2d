/**
 * Metrics: what a server did, as numbers; none of them names a tenant or a session.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type { Attempt } from "../../AppendChain.ts"
import type { StreamLine } from "../../StreamLine.ts"

const requests = Metric.counter("ingress_requests_total", {
  description: "Requests by verb and status.",
  incremental: true
})
const seconds = Metric.histogram("ingress_request_seconds", {
  description: "How long requests took until their answer began.",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})
const lines = Metric.counter("ingress_appended_lines_total", {
  description: "Lines that were appended.",
  incremental: true
})
const bytes = Metric.counter("ingress_appended_bytes_total", { description: "Bytes of them.", incremental: true })
const followers = Metric.gauge("ingress_followers", { description: "Who follows a session now." })

/** Lines were appended. */
export const appended = (attempt: Attempt<StreamLine>): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(lines, attempt.lines.length),
    Metric.update(
      bytes,
      attempt.lines.reduce((sum, { text }) => sum + text.length, 0)
    )
  )

const counters = new Map<string, typeof requests>()

/** The counter of a verb and a status, made once: to find one by its attributes costs more than to count. */
const requestsOf = (verb: string, status: number): typeof requests => {
  const name = `${verb} ${status}`
  const counter = counters.get(name) ?? Metric.withAttributes(requests, { verb, status: String(status) })
  counters.set(name, counter)
  return counter
}

/** A request was answered. */
export const answered = (verb: string, { status }: Pick<HttpServerResponse, "status">, millis: number) =>
  Effect.andThen(Metric.update(requestsOf(verb, status), 1), Metric.update(seconds, millis / 1000))

/** So many follow now. */
export const following = (count: number): Effect.Effect<void> => Metric.update(followers, count)
