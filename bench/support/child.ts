/**
 * Runs variants, by turns, in a process of their own: what `compare` starts. Of several runs the lower quartile counts: what
 * a run costs when nobody else wants the core. It tells a line for each variant.
 */
import { lowerQuartile, type Run, type Variant } from "./compare.ts"

const { args, module, names, times, warm } = JSON.parse(process.argv[2]!)
const { variants }: { readonly variants: { readonly [name: string]: Variant } } = await import(module)

interface Turn {
  readonly name: string
  readonly variant: Variant
  readonly state: unknown
  readonly runs: Array<Run>
  error?: string
}

/** Of what takes long: the first and the end of the runs that count. */
const few = [Math.min(warm, 2), Math.min(warm, 2) + Math.min(times, 3)] as const

const turns: Array<Turn> = []
for (const name of names) {
  const variant = variants[name]!
  turns.push({ name, variant, state: await variant.setup(args), runs: [] })
}
for (let i = 0; i < warm + times; i++) {
  for (const turn of turns) {
    const [first, end] = turn.variant.few === true ? few : [warm, warm + times]
    if (i >= end || turn.error !== undefined) continue
    try {
      const run = await turn.variant.run(turn.state)
      if (i >= first) turn.runs.push(run)
    } catch (cause) {
      turn.error = String(cause)
    }
  }
}
for (const { error, name, runs, variant } of turns) {
  const ms = lowerQuartile(runs.map((run) => run.ms))
  const cpuMs = lowerQuartile(runs.map((run) => run.cpuMs))
  const run = { ...runs.at(-1)!, ms, cpuMs, note: variant.note }
  console.log(JSON.stringify({ name, ...(error === undefined ? { run } : { error }) }))
}
process.exit(0)
