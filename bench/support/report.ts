/**
 * What a bench measures and how it is told: tables of ratios, and goals, each met or missed with its figure.
 *
 * A measurement counts as passed when it ran. A goal that is missed is shown and fails nothing, since a figure hangs on
 * the machine; one that is missed by a factor of three fails the run: that is no noise. Of a quick run, in which
 * everything is measured once, no goal fails it.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { type Row, table } from "./compare.ts"

/** How much is measured: megabytes of a transcript, repetitions; `quick`: little, in seconds. */
interface Options {
  readonly mb: number
  readonly reps: number
  readonly quick: boolean
  readonly seed: number
  /** A directory of the run's own, removed after it. */
  readonly scratch: string
  /** A directory in whose `node_modules` other libraries are installed. */
  readonly peers: string
}

/** Rows by variant; a text says why there are no figures. */
export type Rows = ReadonlyMap<string, Row | string>

/** A figure and its bound: at most that, or at least. */
export interface Goal {
  readonly name: string
  readonly value: number
  readonly most?: number
  readonly least?: number
}

/** What came of a bench: its tables by title, and its goals. */
interface Measured {
  readonly tables: ReadonlyMap<string, Rows>
  readonly goals: ReadonlyArray<Goal>
}

/** Runs the variants of a job, and says what was found. */
export type Measure = (options: Options) => Measured

/** The row of a variant, where it ran. */
export const rowOf = (rows: Rows | undefined, name: string): Row | undefined => {
  const row = rows?.get(name)
  return typeof row === "string" ? undefined : row
}

const FAR = 3

/** By which factor a goal is missed; below one, it is met. */
const missed = ({ least, most, value }: Goal): number =>
  most !== undefined ? value / most : least !== undefined ? least / value : NaN

const bound = ({ least, most }: Goal): string => (most !== undefined ? `≤ ${most}` : `≥ ${least}`)

const verdict = (goal: Goal): string =>
  Number.isNaN(goal.value) ? "skipped" : missed(goal) <= 1 ? "met" : missed(goal) <= FAR ? "missed" : "far out"

/** The goals as a table in Markdown. */
const goalTable = (goals: ReadonlyArray<Goal>): string =>
  [
    "| goal | bound | figure | |",
    "|---|---|---|---|",
    ...goals.map((goal) => {
      const figure = Number.isNaN(goal.value) ? "" : goal.value.toFixed(2)
      return `| ${goal.name} | ${bound(goal)} | ${figure} | ${verdict(goal)} |`
    })
  ].join("\n")

/** Runs benches from the command line; ends with `N passed, N failed` alone on a line. */
export const main = (benches: { readonly [name: string]: Measure }): void => {
  const { values } = parseArgs({
    options: {
      mb: { type: "string", default: "100" },
      reps: { type: "string", default: "5" },
      seed: { type: "string", default: "1" },
      peers: { type: "string", default: "" },
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false }
    }
  })
  const { json, quick } = values
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "reprise-bench-"))
  const options: Options = {
    mb: quick ? 10 : positive("mb", values.mb),
    reps: quick ? 1 : positive("reps", values.reps),
    quick,
    seed: seedOf(values.seed),
    scratch,
    peers: values.peers
  }
  // What is compiled once is not compiled for each process: that halves the time, and changes no figure that is warm.
  if (quick) process.env["NODE_COMPILE_CACHE"] ??= path.join(scratch, "compiled")
  const all = new Map<string, Measured>()
  try {
    for (const [name, measure] of Object.entries(benches)) {
      const measured = measure(options)
      all.set(name, measured)
      if (json) continue
      for (const [title, rows] of measured.tables) console.log(`${table(`${name}: ${title}`, rows)}\n`)
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
  const goals = [...all.values()].flatMap((one) => one.goals)
  const rows = [...all.values()].flatMap(({ tables }) => [...tables.values()].flatMap((rows) => [...rows.values()]))
  const ran = rows.filter((row) => typeof row !== "string").length
  const broken = rows.length - ran
  const far = quick ? 0 : goals.filter((goal) => verdict(goal) === "far out").length
  if (options.peers === "" && !json)
    console.log("skipped: the SDK; --peers DIR names a directory with it in node_modules\n")
  if (json) console.log(JSON.stringify({ ...about(options), benches: jsonOf(all) }, null, 2))
  else console.log(`${goalTable(goals)}\n\n${Object.values(about(options)).join(" · ")}`)
  console.log(`${ran} passed, ${broken + far} failed`)
  if (broken + far > 0) process.exitCode = 1
}

const about = ({ mb, reps, seed }: Options) => ({
  node: `Node ${process.version}`,
  date: new Date().toISOString().slice(0, 10),
  size: `${mb} MB, ${reps} repetitions, seed ${seed}`
})

const jsonOf = (all: ReadonlyMap<string, Measured>) =>
  Object.fromEntries(
    Array.from(all, ([name, { goals, tables }]) => [
      name,
      {
        tables: Object.fromEntries(Array.from(tables, ([title, rows]) => [title, Object.fromEntries(rows)])),
        goals: goals.map((goal) => ({ ...goal, verdict: verdict(goal) }))
      }
    ])
  )

const positive = (name: string, text: string): number => {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name}: expected a positive number, found ${text}`)
  return value
}

/** A number is itself, a word the sum of its letters at their places. */
export const seedOf = (text: string): number => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : [...text].reduce((sum, one) => (31 * sum + one.charCodeAt(0)) | 0, 7)
}
