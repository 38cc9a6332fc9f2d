// Runs the laws with as many cases each as asked for: `npm run laws -- --runs N [--seed S]`. Ends with one line that any
// CI can read: `N passed, N failed`. The same seed tries the same cases, so a run can be gone on with another seed.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: { runs: { type: "string", default: "20000" }, seed: { type: "string", default: "1" } }
})
if (!/^[1-9]\d*$/.test(values.runs)) {
  console.error(`--runs: expected a positive number, found ${values.runs}`)
  console.log("0 passed, 1 failed")
  process.exit(2)
}

const tests = fileURLToPath(new URL("test.mjs", import.meta.url))
// The mutations have a budget of their own, which the default run spends.
const laws = ["Reading", "Chain", "Reducers", "ModelView", "Projection"].map((name) => `test/laws/${name}.test.ts`)
const run = spawnSync(process.execPath, [tests, ...laws], {
  stdio: "inherit",
  env: { ...process.env, REPRISE_LAWS_RUNS: values.runs, REPRISE_LAWS_SEED: values.seed }
})
process.exitCode = run.status ?? 1
