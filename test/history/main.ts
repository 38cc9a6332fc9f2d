/**
 * The history campaign: `node main.ts --ops N [--seed S] [--store sqlite|postgres]`. Rounds of at most 1,000 operations,
 * each closed by the checker. Closes with `N passed, N failed`: rounds.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import * as Cluster from "../postgres/cluster.ts"
import * as Faults from "./faults.ts"

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

/** A round, and what it is called; `skipped` says why it cannot be run here. */
interface Round {
  readonly name: string
  readonly run: Effect.Effect<Faults.Outcome, unknown>
}

const rounds = Array.from({ length: Math.ceil(operations / ROUND) }, (_, i): Round => {
  const count = Math.min(ROUND, operations - i * ROUND)
  const run = store === "sqlite" ? Faults.sqlite : Faults.postgres
  return { name: `history on ${store}`, run: run(count, seed * 1_000_003 + i) }
})

let passed = 0
let failed = 0
for (const [i, { name, run }] of rounds.entries()) {
  const outcome = await Effect.runPromise(
    run.pipe(
      Effect.match({ onFailure: (error) => ({ error }), onSuccess: (done) => done }),
      Effect.catchDefect((error) => Effect.succeed({ error }))
    )
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
