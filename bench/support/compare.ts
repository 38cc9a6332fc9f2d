/**
 * Compares variants of one job: a fresh process per variant and repetition, interleaved, and medians of the ratios of each
 * repetition to its base. On a busy machine the CPU ratio is the one to trust.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

/** What a run did: `n` must be the same for all variants of a job; `ms` and `cpuMs` are of the job alone. */
export interface Run {
  readonly n: number
  readonly ms: number
  readonly cpuMs: number
  readonly [more: string]: number
}

/** One way to do a job. `setup` is not timed; `few` is set where a run may take seconds: some runs have to do then. */
export interface Variant {
  readonly note: string
  readonly few?: boolean
  readonly setup: (args: Args) => unknown
  readonly run: (state: any) => Promise<Run>
}

/** The arguments of a job; `scratch` is a directory of the run's own. */
export interface Args {
  readonly scratch: string
  readonly [name: string]: number | string
}

/** The medians of a variant; `over` is what it takes longer than the base per entry, in microseconds of CPU. */
export interface Row {
  readonly note: string
  readonly n: number
  readonly ms: number
  readonly ratio: number
  readonly cpuRatio: number
  readonly spread: readonly [number, number]
  readonly over: number
  readonly more: { readonly [name: string]: number }
}

/**
 * Runs the variants of a module; the first is the base. `together`: in one process, by turns, which saves most of
 * the time where little is measured; by how much one grows cannot be told then.
 */
export const compare = (options: {
  readonly module: URL
  readonly variants: ReadonlyArray<string>
  readonly reps: number
  readonly warm: number
  readonly times: number
  readonly args: Args
  readonly together?: boolean
}): ReadonlyMap<string, Row | string> => {
  const runs = new Map<string, Array<Told>>(options.variants.map((name) => [name, []]))
  const failures = new Map<string, string>()
  const groups = options.together === true ? [options.variants] : options.variants.map((name) => [name])
  for (let rep = 0; rep < options.reps; rep++) {
    for (const group of groups) {
      const names = group.filter((name) => !failures.has(name))
      if (names.length === 0) continue
      const { error, told } = runIn(options, names)
      for (const name of names) {
        const one = told.get(name)
        if (one !== undefined && "run" in one) runs.get(name)!.push(one.run)
        else failures.set(name, one?.error ?? error)
      }
    }
  }
  const base = runs.get(options.variants[0]!)!
  return new Map(options.variants.map((name) => [name, failures.get(name) ?? rowOf(runs.get(name)!, base)]))
}

type Told = Run & { readonly note: string }

/** What a process of its own tells of variants; `error` is what ended it before it told of all. */
const runIn = (
  { args, module, times, warm }: Pick<Parameters<typeof compare>[0], "args" | "module" | "times" | "warm">,
  names: ReadonlyArray<string>
) => {
  const request = JSON.stringify({ module: module.href, names, warm, times, args })
  const file = fileURLToPath(new URL("child.ts", import.meta.url))
  const child = spawnSync(process.execPath, ["--no-warnings", file, request], { encoding: "utf8", maxBuffer: 1 << 26 })
  const told = new Map<string, { readonly run: Told } | { readonly error: string }>()
  for (const line of child.stdout.split("\n")) {
    if (!line.startsWith('{"name":')) continue
    const { name, ...one } = JSON.parse(line)
    told.set(name, one)
  }
  return { told, error: child.stderr.split("\n").find((line) => line.includes("Error")) ?? `exit ${child.status}` }
}

const rowOf = (runs: ReadonlyArray<Told>, base: ReadonlyArray<Run>): Row => {
  const ratios = runs.map(({ ms }, i) => ms / (base[i]?.ms ?? NaN))
  const { cpuMs: _, ms: __, n, note, ...more } = runs.at(-1)!
  return {
    note,
    n,
    ms: median(runs.map(({ ms }) => ms)),
    ratio: median(ratios),
    cpuRatio: median(runs.map(({ cpuMs }, i) => cpuMs / (base[i]?.cpuMs ?? NaN))),
    spread: [Math.min(...ratios), Math.max(...ratios)],
    over: median(runs.map(({ cpuMs }, i) => (1000 * (cpuMs - (base[i]?.cpuMs ?? NaN))) / n)),
    more: more as { readonly [name: string]: number }
  }
}

/** The middle one. */
export const median = (list: ReadonlyArray<number>): number => {
  const sorted = list.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}

/** A quarter is below it. */
export const lowerQuartile = (list: ReadonlyArray<number>): number =>
  list.toSorted((a, b) => a - b)[(list.length - 1) >> 2]!

/** Times a job: wall and CPU. */
export const timed = async (job: () => unknown): Promise<{ readonly ms: number; readonly cpuMs: number }> => {
  const cpu = process.cpuUsage()
  const start = performance.now()
  await job()
  const ms = performance.now() - start
  const { system, user } = process.cpuUsage(cpu)
  return { ms, cpuMs: (user + system) / 1000 }
}

/** A table in Markdown. */
export const table = (title: string, rows: ReadonlyMap<string, Row | string>): string => {
  const [base] = rows.keys()
  const lines = [...rows].map(([name, row]) => {
    if (typeof row === "string") return `| ${name} | failed: ${row} |`
    const spread = row.spread.map((ratio) => ratio.toFixed(2)).join("–")
    const more = Object.entries(row.more).map(([key, value]) => ` ${key} ${value}`)
    const over = `${row.over >= 0 ? "+" : ""}${row.over.toFixed(2)}`
    return `| ${name} | ${row.ratio.toFixed(2)} [${spread}] | ${row.cpuRatio.toFixed(2)} | ${over} | ${row.n} | ${row.ms.toFixed(2)}${more.join("")} | ${row.note} |`
  })
  return [
    `### ${title} (Node ${process.version}; ratios to "${base}", median [min–max])`,
    "| variant | ratio | CPU ratio | CPU µs/entry over it | n | median ms, this run only | what |",
    "|---|---|---|---|---|---|---|",
    ...lines
  ].join("\n")
}
