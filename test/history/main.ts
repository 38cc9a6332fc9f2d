/**
 * The history campaign: `node main.ts --ops N [--seed S] [--store sqlite|postgres]`. Rounds of at most 1,000 operations,
 * each closed by the checker; after each full one the rounds of the store that are about one fault alone. Closes with
 * `N passed, N failed`: rounds.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import * as Cluster from "../postgres/cluster.ts"
import * as Backlog from "./backlog.ts"
import * as Failover from "./failover.ts"
import * as Faults from "./faults.ts"
import * as Fence from "./fence.ts"
import * as Network from "./network.ts"
import * as Partition from "./partition.ts"
import * as Replicating from "./replicating.ts"
import type { Outcome } from "./round.ts"

const ROUND = 1_000

const { values } = parseArgs({
  options: {
    ops: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    store: { type: "string", default: "sqlite" }
  }
})
const operations = Number(values.ops)
const seed = Number(values.seed)
const { store } = values
if (!Number.isInteger(operations) || operations < 1 || !Number.isInteger(seed) || !/^(sqlite|postgres)$/.test(store)) {
  console.error("usage: npm run history -- --ops N [--seed S] [--store sqlite|postgres], N and S whole numbers")
  process.exit(2)
}
if (store === "postgres" && Cluster.binaries === undefined) {
  console.log(Cluster.skipped)
  console.log("0 passed, 1 failed")
  process.exit(1)
}

/** A round, and what it is called. */
interface Round {
  readonly name: string
  readonly run: Effect.Effect<Outcome, unknown>
}

const unconnected = store === "postgres" && operations >= ROUND ? Network.missing() : undefined
if (unconnected !== undefined) console.log(`skipped: partitions, since ${unconnected}`)

/** Operations of a round about one fault, and bytes that a replicator is behind. */
const FEW = 300
const BEHIND = 500 << 20

const single = (seed: number): ReadonlyArray<Round> =>
  store === "sqlite"
    ? [
        { name: "a writer is frozen, and fenced off", run: Fence.run(seed) },
        { name: "far behind", run: Backlog.run(BEHIND) }
      ]
    : [
        { name: "a server is killed", run: Failover.server(FEW, seed) },
        { name: "a synchronous standby takes over", run: Failover.synchronous(FEW, seed) },
        { name: "an asynchronous standby takes over", run: Replicating.healed(seed) },
        ...(unconnected === undefined ? [{ name: "partitions", run: Partition.run(FEW, seed) }] : [])
      ]

const rounds = Array.from({ length: Math.ceil(operations / ROUND) }, (_, i): ReadonlyArray<Round> => {
  const count = Math.min(ROUND, operations - i * ROUND)
  const own = seed * 1_000_003 + i
  const history = store === "sqlite" ? Faults.sqlite(count, own) : Faults.postgres(count, own)
  return [{ name: `history on ${store}`, run: history }, ...(count === ROUND ? single(own) : [])]
}).flat()

/** One that is interrupted stops what it started. */
const stopping = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort())

let passed = 0
let failed = 0
for (const [i, { name, run }] of rounds.entries()) {
  const outcome = await Effect.runPromise(
    run.pipe(
      Effect.match({ onFailure: (error) => ({ error }), onSuccess: (done) => done }),
      Effect.catchDefect((error) => Effect.succeed({ error }))
    ),
    { signal: stopping.signal }
  )
  const failure = "error" in outcome ? [outcome.error] : outcome.violations
  if (failure.length === 0) passed++
  else failed++
  console.log(
    `round ${i + 1} ${name}: ${failure.length === 0 ? "passed" : `FAILED, seed ${seed}`}`,
    "summary" in outcome ? outcome.summary : "",
    ...failure.slice(0, 20)
  )
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
