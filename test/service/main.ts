/**
 * The kill campaign of the example service: `node main.ts --kills N [--seed S]`. Closes with `N passed, N failed`: each
 * kill, and the comparison in the end.
 */
import { parseArgs } from "node:util"
import * as Kill from "./kill.ts"

const { values } = parseArgs({
  options: { kills: { type: "string", default: "20" }, seed: { type: "string", default: "1" } }
})
const kills = Number(values.kills)
const seed = Number(values.seed)
if (!Number.isInteger(kills) || kills < 1 || !Number.isInteger(seed)) {
  console.error("usage: npm run kill-service -- --kills N [--seed S], both whole numbers")
  process.exit(2)
}

let passed = 0
let failed = 0
for await (const { failure, name } of Kill.campaign(kills, seed)) {
  if (failure === undefined) passed++
  else failed++
  console.log(
    `${name}: ${failure === undefined ? "passed" : `FAILED, seed ${seed}`}`,
    ...(failure === undefined ? [] : [failure])
  )
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
