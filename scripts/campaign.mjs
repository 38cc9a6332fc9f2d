// Runs a campaign: `node scripts/campaign.mjs FILE ARGUMENTS`, as `npm run crash`, `kill-service` and `history` do. Ends
// with one line that any CI can read: `N passed, N failed`.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

if (process.argv.includes("postgres")) spawnSync("bash", [`${root}scripts/postgres.sh`], { stdio: "inherit" })

const run = spawnSync(process.execPath, ["--no-warnings", ...process.argv.slice(2)], { cwd: root, stdio: "inherit" })

// A campaign that broke has said no last line of its own.
if (run.status === null || run.status > 2) console.log("0 passed, 1 failed")
process.exitCode = run.status ?? 1
