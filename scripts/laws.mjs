// The campaign: every law over many logs, in rounds, ending with one line that any CI can read: `N passed, N failed`.
//
//   npm run laws -- --runs 20000                     another seed each time
//   npm run laws -- --runs 20000 --seed spring       the same logs each time
//   npm run laws -- --runs 20000 --seed spring --from 4      goes on with round 4, after an interruption
//   npm run laws -- --runs 20000 --minutes 20        starts no further round after 20 minutes
//
// A round is up to 2,000 runs of each law with a seed of its own. A law counts as failed when it failed in any round.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const root = fileURLToPath(new URL("..", import.meta.url))
const perRound = 2000

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "2000" },
    seed: { type: "string", default: Date.now().toString(36) },
    from: { type: "string", default: "1" },
    minutes: { type: "string", default: "Infinity" }
  }
})
const runs = positive("runs")
const from = positive("from")
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error(`--minutes: expected a positive number, found ${values.minutes}`)
const { seed } = values
const rounds = Math.ceil(runs / perRound)

const scratch = mkdtempSync(join(tmpdir(), "reprise-laws-"))
const start = Date.now()
const passed = new Set()
const failed = new Set()
let broken = false
for (let round = from; round <= rounds; round++) {
  if (Date.now() - start > minutes * 60_000) {
    console.log(`the time is over; go on with: npm run laws -- --runs ${runs} --seed ${seed} --from ${round}`)
    break
  }
  const share = round < rounds ? perRound : runs - (rounds - 1) * perRound
  console.log(`round ${round} of ${rounds}: ${share} runs, seed ${seed}.${round}`)
  tryLaws(share, `${seed}.${round}`, round === from)
}
rmSync(scratch, { recursive: true, force: true })

const held = [...passed].filter((name) => !failed.has(name)).length
const ok = !broken && failed.size === 0 && held > 0
console.log(`${held} passed, ${ok ? 0 : Math.max(failed.size, 1)} failed`)
process.exitCode = ok ? 0 : 1

function tryLaws(runs, seed, isFirst) {
  const report = join(scratch, "report.json")
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`]
  // The mutants are the same in every round.
  const which = isFirst ? [] : ["--exclude", "test/laws/mutations.test.ts"]
  const run = spawnSync(process.execPath, [vitest, "run", "test/laws", ...which, ...reporters], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, REPRISE_LAWS_RUNS: String(runs), REPRISE_LAWS_SEED: seed }
  })
  const tests = testsIn(report)
  for (const { fullName, status } of tests) (status === "failed" ? failed : passed).add(fullName)
  // A round that broke without a failed law (a crash, no law at all) is a failure as well.
  if (tests.length === 0 || (run.status !== 0 && !tests.some(({ status }) => status === "failed"))) broken = true
  rmSync(report, { force: true })
}

function testsIn(report) {
  try {
    return JSON.parse(readFileSync(report, "utf8")).testResults.flatMap(({ assertionResults }) => assertionResults)
  } catch {
    return []
  }
}

function positive(name) {
  const value = Number(values[name])
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`--${name}: expected a positive number, found ${values[name]}`)
  return value
}
