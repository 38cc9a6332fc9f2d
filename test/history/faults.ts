/**
 * The history of a store under faults: writers talk to servers over networks that break, while servers are killed and the
 * database is stopped as by a crash.
 */
import * as HistoryChecker from "@reprise/ingress/testing/HistoryChecker"
import { Effect, Fiber } from "effect"
import * as path from "node:path"
import * as Seeded from "../crash/seeded.ts"
import { directory } from "../ingress/temporary.ts"
import * as Cluster from "../postgres/cluster.ts"
import * as Servers from "./servers.ts"
import * as Workload from "./workload.ts"

/** What a round came to: what broke a rule, and what happened, for people. */
export interface Outcome {
  readonly violations: ReadonlyArray<HistoryChecker.Violation>
  readonly summary: string
}

interface Disturbance {
  /** After this share of the operations. */
  readonly at: number
  readonly run: () => Promise<unknown>
}

/** Runs a workload while things happen to its servers, and checks what came of it. */
const round = Effect.fnUntraced(function* (
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

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Two servers that share a file of SQLite, each killed once. */
export const sqlite = Effect.fnUntraced(function* (operations: number, seed: number) {
  const random = Seeded.make(seed)
  const file = path.join(yield* directory, "ingress.sqlite")
  const servers = yield* Servers.make(file, { count: 2, seed, percent: 30 })
  const workload = Workload.make({ urls: servers.urls, operations, writers: 6, random })
  const restart = (server: number) => async () => {
    await servers.kill(server)
    await servers.start(server)
  }
  return yield* round(servers, workload, operations, [
    { at: 0.2 + 0.2 * random(), run: restart(0) },
    { at: 0.6 + 0.2 * random(), run: restart(1) }
  ])
}, Effect.scoped)

/** A cluster of its own that stops with the scope. */
const cluster = Effect.acquireRelease(
  Effect.map(directory, (made) => Cluster.make(made, { durable: true })),
  (made) => Effect.promise(() => made.stop("immediate"))
)

/** Three servers, one of them killed and started again; the database is stopped as by a crash, and started again. */
export const postgres = Effect.fnUntraced(function* (operations: number, seed: number) {
  const random = Seeded.make(seed)
  const database = yield* cluster
  yield* Effect.promise(database.start)
  const servers = yield* Servers.make(database.url, { count: 3, seed, percent: 30 })
  const workload = Workload.make({ urls: servers.urls, operations, writers: 6, random })
  return yield* round(servers, workload, operations, [
    { at: 0.2, run: () => servers.kill(0) },
    { at: 0.35, run: () => servers.start(0) },
    {
      at: 0.5,
      run: async () => {
        await database.stop("immediate")
        await pause(500)
        await database.start()
      }
    }
  ])
}, Effect.scoped)
