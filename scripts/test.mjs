// Runs the tests and ends with one line that any CI can read: `N passed, N failed`.
// Arguments go to vitest: `npm test -- test/domain`. Fails when a test failed, when a file did not load, and when nothing ran.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), "reprise-test-"))
const tally = join(scratch, "tally.json")

const vitest = join(root, "node_modules/vitest/vitest.mjs")
const reporters = ["--reporter=default", "--reporter=./scripts/tally.mjs"]
const run = spawnSync(process.execPath, [vitest, "run", ...reporters, ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, REPRISE_TALLY: tally }
})

const { passed, failed } = counts()
rmSync(scratch, { recursive: true, force: true })

// A run that broke without a failed test (a crash, no test at all) still counts as a failure.
const ok = run.status === 0 && failed === 0 && passed > 0
console.log(`${passed} passed, ${ok ? 0 : Math.max(failed, 1)} failed`)
process.exitCode = ok ? 0 : 1

function counts() {
  try {
    return JSON.parse(readFileSync(tally, "utf8"))
  } catch {
    return { passed: 0, failed: 1 }
  }
}
