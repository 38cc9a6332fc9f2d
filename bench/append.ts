/**
 * What appending costs, beside the least that it can cost: `node bench/append.ts [--reps N] [--quick] [--json]`.
 *
 * G1 append ≤ 1.15 of the reused buffer, ≥ 1.5 times faster than concatByPath, ≥ 4 than perEntryByPath, ≥ 2 than SQLite ·
 * G2 durable: idle ≤ 1.5 of one write and fdatasync, under load ≤ 1.3 of the adaptive floor ·
 * G3 queue, router and batching ≤ 1 µs per entry.
 */
import { durableFloors, floors } from "./support/appendFloors.ts"
import { durableOurs, ours } from "./support/appendOurs.ts"
import { compare, type Variant } from "./support/compare.ts"
import { type Goal, main, type Measure, rowOf, type Rows } from "./support/report.ts"

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = { ...floors, ...ours, ...durableFloors, ...durableOurs }

/** G1, G2, G3. */
export const measure: Measure = ({ quick, reps, scratch, seed }) => {
  const run = (names: ReadonlyArray<string>, warm: number, times: number, args: { readonly [name: string]: number }) =>
    compare({
      module: new URL(import.meta.url),
      variants: names,
      reps,
      together: quick,
      warm,
      times,
      args: { ...args, seed, scratch }
    })
  const append = run([...Object.keys(floors), ...Object.keys(ours)], quick ? 3 : 8, quick ? 3 : 15, {
    entries: quick ? 1000 : 3000
  })
  const idle = run(["single", "appendDurable"], 0, 1, { entries: quick ? 100 : 300 })
  const loaded = run(["adaptive", "underLoad"], 0, 1, { entries: 2000, rate: 10_000, seconds: quick ? 0.3 : 1 })
  return {
    tables: new Map([
      ["append, no sync", append],
      ["durable, idle: median latency of one entry", idle],
      ["durable, 10,000 entries/s offered: median latency", loaded]
    ]),
    goals: [...appendGoals(append), ...durableGoals(idle, loaded)]
  }
}

const appendGoals = (rows: Rows): ReadonlyArray<Goal> =>
  ["appendAll", "append", "routed"].flatMap((name) => {
    const mine = rowOf(rows, name)
    const faster = [
      ["concatByPath", 1.5],
      ["perEntryByPath", 4],
      ["sqlite", 2]
    ] as const
    return [
      { name: `G1 ${name}, CPU over the reused buffer`, value: mine?.cpuRatio ?? NaN, most: 1.15 },
      ...faster.map(([other, least]) => {
        const value = (rowOf(rows, other)?.ratio ?? NaN) / (mine?.ratio ?? NaN)
        return { name: `G1 ${name}, times faster than ${other}`, value, least }
      }),
      { name: `G3 ${name}, CPU µs per entry over it`, value: mine?.over ?? NaN, most: 1 }
    ]
  })

const durableGoals = (idle: Rows, loaded: Rows): ReadonlyArray<Goal> => [
  { name: "G2 idle, latency over single", value: rowOf(idle, "appendDurable")?.ratio ?? NaN, most: 1.5 },
  { name: "G2 under load, latency over adaptive", value: rowOf(loaded, "underLoad")?.ratio ?? NaN, most: 1.3 }
]

if (import.meta.main) main({ append: measure })
