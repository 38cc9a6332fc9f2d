/**
 * The replica campaign: `node main.ts --rounds N [--seed S] [--megabytes M]`. Rounds of kills, on SQLite and on
 * PostgreSQL where that is there, and of frozen writers; with megabytes, a backlog of so many. Closes with `N passed, N failed`. A round that failed is had again by its number
 * and the seed: chance is drawn from both.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import * as Seeded from "../crash/seeded.ts"
import * as Cluster from "../postgres/cluster.ts"
import * as Backlog from "./backlog.ts"
import * as Crash from "./crash.ts"
import * as Fence from "./fence.ts"
import type * as Remote from "./remote.ts"

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    megabytes: { type: "string", default: "0" }
  }
})
const [rounds, seed, megabytes] = [Number(values.rounds), Number(values.seed), Number(values.megabytes)]
if (![rounds, seed, megabytes].every((number) => Number.isInteger(number)) || rounds < 0 || megabytes < 0) {
  console.error("usage: npm run replica -- --rounds N [--seed S] [--megabytes M], all whole numbers")
  process.exit(2)
}

if (Cluster.binaries === undefined) console.log(Cluster.skipped)
const other = Cluster.binaries === undefined ? "sqlite" : "postgres"

interface Round {
  readonly name: string
  readonly run: (random: Seeded.Random) => Effect.Effect<unknown, unknown>
}

const killing = (store: Remote.Store): Round => ({
  name: `kill -9, ${store}`,
  run: (random) => Crash.once(random, { store, kills: 6, lines: 150 })
})

/** Four rounds in their proportion. */
const kinds: ReadonlyArray<Round> = [
  killing("sqlite"),
  killing(other),
  killing("sqlite"),
  { name: "frozen writer", run: Fence.once }
]

const all: ReadonlyArray<readonly [name: string, run: Effect.Effect<unknown, unknown>]> = [
  ...Array.from({ length: rounds }, (_, round) => {
    const { name, run } = kinds[round % kinds.length]!
    return [name, run(Seeded.make(seed * 1_000_003 + round))] as const
  }),
  ...(megabytes > 0 ? [["backlog", Backlog.once(megabytes << 20)] as const] : [])
]

/** One that is interrupted stops what it started. */
const stopping = new AbortController()
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort())

let passed = 0
let failed = 0
for (const [round, [name, run]] of all.entries()) {
  const start = performance.now()
  const outcome = await Effect.runPromise(
    run.pipe(
      Effect.match({ onFailure: (error) => ({ error }), onSuccess: (done) => ({ done }) }),
      Effect.catchDefect((error) => Effect.succeed({ error }))
    ),
    { signal: stopping.signal }
  )
  const ms = (performance.now() - start).toFixed(0)
  if ("error" in outcome) {
    failed++
    console.log(`round ${round} ${name}: FAILED with seed ${seed} after ${ms} ms`, outcome.error)
  } else {
    passed++
    console.log(`round ${round} ${name}: passed in ${ms} ms`, JSON.stringify(outcome.done))
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
