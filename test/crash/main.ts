/**
 * The crash campaign: `node main.ts --rounds N [--seed S]`. Closes with `N passed, N failed`. A round that failed is had
 * again by its number and the seed: chance is drawn from both.
 */
import "effect/schema/SchemaJITCompiler/enable"
import { Effect } from "effect"
import { parseArgs } from "node:util"
import * as Kill from "./kill.ts"
import * as Seeded from "./seeded.ts"
import * as Takeover from "./takeover.ts"
import * as Writing from "./writing.ts"

/** Ten rounds in their proportion. */
const kinds: ReadonlyArray<{
  readonly name: string
  readonly run: (random: Seeded.Random, round: number) => Effect.Effect<unknown, unknown>
}> = [
  { name: "kill -9", run: (random) => Kill.once(random, "os") },
  { name: "disk full", run: (random) => Writing.diskFull(random) },
  { name: "kill -9, fsync", run: (random) => Kill.once(random, "fsync") },
  { name: "interruptions", run: (random) => Writing.interruptions(random, 100) },
  { name: "kill -9 while taking over", run: (random) => Takeover.once(random) },
  { name: "eight processes", run: (random) => Kill.eight(random) },
  { name: "kill -9, fsync-interval", run: (random) => Kill.once(random, "fsync-interval") },
  { name: "crash at every byte, a tenth", run: (_, round) => Writing.crashes(Math.floor(round / 10) % 10, 10) },
  { name: "kill -9", run: (random) => Kill.once(random, "os") },
  { name: "kill -9, fsync", run: (random) => Kill.once(random, "fsync") }
]

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "20" }, seed: { type: "string", default: "1" } }
})
const rounds = Number(values.rounds)
const seed = Number(values.seed)
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  console.error("usage: npm run crash -- --rounds N [--seed S], both whole numbers")
  process.exit(2)
}

let passed = 0
let failed = 0
for (let round = 0; round < rounds; round++) {
  const { name, run } = kinds[round % kinds.length]!
  const start = performance.now()
  const failure = await Effect.runPromise(
    run(Seeded.make(seed * 1_000_003 + round), round).pipe(
      Effect.match({ onFailure: (error) => error, onSuccess: (done) => (done === false ? "skipped" : undefined) }),
      Effect.catchDefect((defect) => Effect.succeed(defect))
    )
  )
  const ms = (performance.now() - start).toFixed(0)
  if (failure === undefined) passed++
  else if (failure === "skipped")
    console.log(`round ${round} ${name}: skipped, no file system can be mounted here, and there is no /dev/full`)
  else {
    failed++
    console.log(`round ${round} ${name}, seed ${seed}: FAILED`, failure)
  }
  if (failure === undefined) console.log(`round ${round} ${name}: passed, ${ms} ms`)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
