/** A round of the campaign: a workload, what happens while it runs, and what the checker says of it. */
import * as HistoryChecker from "@reprise/ingress/testing/HistoryChecker"
import { Effect, Fiber } from "effect"
import type * as Servers from "./servers.ts"
import * as Workload from "./workload.ts"

/** What a round came to: what broke a rule, and what happened, for people. */
export interface Outcome {
  readonly violations: ReadonlyArray<HistoryChecker.Violation>
  readonly summary: string
}

export interface Disturbance {
  /** After this share of the operations. */
  readonly at: number
  readonly run: () => Promise<unknown>
}

/** Runs a workload while things happen to its servers, and checks what came of it. */
export const round = Effect.fnUntraced(function* (
  servers: Servers.Servers,
  workload: Workload.Workload,
  operations: number,
  disturbances: ReadonlyArray<Disturbance>
) {
  const began = Workload.now()
  const disturbing = yield* Effect.forkChild(
    Effect.forEach(disturbances, ({ at, run }) =>
      Effect.gen(function* () {
        while (workload.count() < at * operations) yield* Effect.sleep(5)
        yield* Effect.promise(run)
      })
    )
  )
  yield* workload.run
  yield* Fiber.join(disturbing)
  const seconds = (Workload.now() - began) / 1000
  const logs = yield* Workload.logsOf(yield* Workload.client(servers.urls, 10_000)).pipe(Effect.retry({ times: 20 }))
  const violations = HistoryChecker.check(workload.history, logs)
  const lines = [...logs.values()].reduce((sum, { length }) => sum + length, 0)
  const faults = Object.entries(servers.faults()).map(([fault, count]) => `${count} ${fault}`)
  const summary = `${workload.count()} operations, ${lines} lines, ${seconds.toFixed(1)} s; ${faults.join(", ")}`
  return { violations, summary } satisfies Outcome
})

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
