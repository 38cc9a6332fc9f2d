/**
 * The replica campaign: `node main.ts --rounds N [--seed S] [--megabytes M]`. Rounds of kills and of frozen writers, and,
 * with megabytes, a backlog of so many. Closes with `N passed, N failed`. A round that failed is had again by its number
 * and the seed: chance is drawn from both.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import * as Seeded from "../crash/seeded.ts"
import * as Backlog from "./backlog.ts"
import * as Crash from "./crash.ts"
import * as Fence from "./fence.ts"

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

const kills = (random: Seeded.Random) => Crash.once(random, { kills: 6, lines: 150 })
const all: ReadonlyArray<readonly [name: string, run: Effect.Effect<unknown, unknown>]> = [
  ...Array.from({ length: rounds }, (_, round) => {
    const random = Seeded.make(seed * 1_000_003 + round)
    return round % 4 === 3 ? (["frozen writer", Fence.once(random)] as const) : (["kill -9", kills(random)] as const)
  }),
  ...(megabytes > 0 ? [["backlog", Backlog.once(megabytes << 20)] as const] : [])
]

let passed = 0
let failed = 0
for (const [round, [name, run]] of all.entries()) {
  const start = performance.now()
  const outcome = await Effect.runPromise(
    run.pipe(
      Effect.match({ onFailure: (error) => ({ error }), onSuccess: (done) => ({ done }) }),
      Effect.catchDefect((error) => Effect.succeed({ error }))
    )
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
