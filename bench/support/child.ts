/**
 * Runs one variant, in a process of its own: what `compare` starts. Of several runs the lower quartile counts: what a run
 * costs when nobody else wants the core.
 */
import { lowerQuartile, type Run, type Variant } from "./compare.ts"

const { args, module, name, times, warm } = JSON.parse(process.argv[2]!)
const variant: Variant = (await import(module)).variants[name]
const state = await variant.setup(args)
const runs: Array<Run> = []
for (let i = 0; i < warm + times; i++) {
  const run = await variant.run(state)
  if (i >= warm) runs.push(run)
}
const ms = lowerQuartile(runs.map((run) => run.ms))
const cpuMs = lowerQuartile(runs.map((run) => run.cpuMs))
console.log(JSON.stringify({ ...runs.at(-1)!, ms, cpuMs, note: variant.note }))
process.exit(0)
