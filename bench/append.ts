/**
 * What appending costs, beside the least that it can cost: `node bench/append.ts [--reps N] [--entries N] [--json]`.
 *
 * G1 append ≤ 1.15 of the reused buffer, ≥ 1.5 times faster than concatByPath, ≥ 4 than perEntryByPath, ≥ 2 than SQLite ·
 * G2 durable: idle ≤ 1.5 of one write and fdatasync, under load ≤ 1.3 of the adaptive floor ·
 * G3 queue, router and batching ≤ 1 µs per entry.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { durableFloors, floors } from "./support/appendFloors.ts"
import { durableOurs, ours } from "./support/appendOurs.ts"
import { compare, type Row, table, type Variant } from "./support/compare.ts"

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = { ...floors, ...ours, ...durableFloors, ...durableOurs }

interface Goal {
  readonly goal: string
  readonly value: number
  readonly met: boolean
}

const main = (): void => {
  const { values } = parseArgs({
    options: {
      reps: { type: "string", default: "7" },
      entries: { type: "string", default: "3000" },
      json: { type: "boolean", default: false }
    }
  })
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "reprise-bench-"))
  const reps = Number(values.reps)
  const run = (names: ReadonlyArray<string>, warm: number, times: number, args: { readonly [name: string]: number }) =>
    compare({ module: new URL(import.meta.url), variants: names, reps, warm, times, args: { ...args, scratch } })
  try {
    const append = run([...Object.keys(floors), ...Object.keys(ours)], 8, 5, { entries: Number(values.entries) })
    const idle = run(["single", "appendDurable"], 0, 1, { entries: 300 })
    const loaded = run(["adaptive", "underLoad"], 0, 1, { entries: 2000, rate: 10_000, seconds: 1 })
    const goals = [...appendGoals(append), ...durableGoals(idle, loaded)]
    if (values.json) {
      const rows = (table: ReadonlyMap<string, Row | string>) => Object.fromEntries(table)
      console.log(JSON.stringify({ append: rows(append), idle: rows(idle), loaded: rows(loaded), goals }, null, 2))
      return
    }
    console.log(table("append, no sync", append))
    console.log(`\n${table("durable, idle: median latency of one entry", idle)}`)
    console.log(`\n${table("durable, 10,000 entries/s offered: median latency", loaded)}\n`)
    for (const { goal, met, value } of goals) console.log(`${met ? "met   " : "missed"} ${goal}: ${value.toFixed(2)}`)
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

const rowOf = (rows: ReadonlyMap<string, Row | string>, name: string): Row | undefined => {
  const row = rows.get(name)
  return typeof row === "string" ? undefined : row
}

const appendGoals = (rows: ReadonlyMap<string, Row | string>): ReadonlyArray<Goal> =>
  ["appendAll", "append", "routed"].flatMap((name) => {
    const mine = rowOf(rows, name)
    if (mine === undefined) return [{ goal: `G1 ${name} ran`, value: NaN, met: false }]
    const faster = [
      ["concatByPath", 1.5],
      ["perEntryByPath", 4],
      ["sqlite", 2]
    ] as const
    return [
      { goal: `G1 ${name}, CPU ≤ 1.15 of the floor`, value: mine.cpuRatio, met: mine.cpuRatio <= 1.15 },
      { goal: `G3 ${name}, CPU µs per entry over the floor, ≤ 1`, value: mine.over, met: mine.over <= 1 },
      ...faster.flatMap(([other, least]) => {
        const row = rowOf(rows, other)
        const value = row === undefined ? NaN : row.ratio / mine.ratio
        return [{ goal: `G1 ${name}, times faster than ${other}, ≥ ${least}`, value, met: value >= least }]
      })
    ]
  })

const durableGoals = (
  idle: ReadonlyMap<string, Row | string>,
  loaded: ReadonlyMap<string, Row | string>
): ReadonlyArray<Goal> =>
  (
    [
      ["G2 idle, latency ≤ 1.5 of single", rowOf(idle, "appendDurable"), 1.5],
      ["G2 under load, latency ≤ 1.3 of adaptive", rowOf(loaded, "underLoad"), 1.3]
    ] as const
  ).map(([goal, row, most]) => ({ goal, value: row?.ratio ?? NaN, met: (row?.ratio ?? NaN) <= most }))

if (import.meta.main) main()
