/**
 * Whether recovery grows with its log and with nothing else: `node bench/depth.ts [--reps N] [--quick] [--json]`.
 *
 * Linear: twice the entries, at most 2.6 times the work (PERFORMANCE: ten times the input, at most 13 times). The same
 * number of entries with ten times the branches, parallel results, snips or boundaries: about the same work.
 */
import * as Recovery from "@reprise/recovery/Recovery"
import { type Shape, entries } from "./support/chains.ts"
import { type Args, compare, timed, type Variant } from "./support/compare.ts"
import { type Goal, main, type Measure, rowOf, type Rows } from "./support/report.ts"

const SIZES = [125_000, 250_000, 500_000, 1_000_000]
const SHAPES = ["branches", "parallel", "snips", "boundaries"] as const
const [RARE, OFTEN] = [1000, 100]

const folding = (shape: Shape, size: number, every: number): Variant => ({
  note: shape === "chain" ? "one long chain" : `every ${every} entries`,
  setup: (args: Args) => size / Number(args["divisor"]),
  run: async (count: number) => {
    let messages = 0
    const time = await timed(() => {
      messages = Recovery.fold(entries(shape, count, every)).messages
    })
    return { n: messages, ...time }
  }
})

const name = (shape: Shape, size: number, every: number): string =>
  shape === "chain" ? `chain ${size / 1000}k` : `${shape} ${size / 1000}k, every ${every}`

const variant = (shape: Shape, size: number, every: number) =>
  [name(shape, size, every), folding(shape, size, every)] as const

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = Object.fromEntries([
  ...SIZES.map((size) => variant("chain", size, 1)),
  ...SHAPES.flatMap((shape) => [
    variant(shape, 125_000, RARE),
    variant(shape, 125_000, OFTEN),
    variant(shape, 250_000, OFTEN)
  ])
])

/** Linear growth. */
export const measure: Measure = ({ quick, reps, scratch }) => {
  const run = (names: ReadonlyArray<string>) =>
    compare({
      module: new URL(import.meta.url),
      variants: names,
      reps,
      together: quick,
      warm: quick ? 2 : 1,
      times: quick ? 1 : 3,
      args: { scratch, divisor: quick ? 25 : 1 }
    })
  const sizes = quick ? SIZES.slice(0, 2) : SIZES
  const chains = run(sizes.map((size) => name("chain", size, 1)))
  const shapes = SHAPES.map((shape) => {
    const names = [name(shape, 125_000, RARE), name(shape, 125_000, OFTEN), name(shape, 250_000, OFTEN)]
    return [shape, names, run(names)] as const
  })
  return {
    tables: new Map([["chains", chains], ...shapes.map(([shape, , rows]) => [shape, rows] as const)]),
    goals: [
      ...sizes.slice(1).map((size, i) => ({
        name: `depth, a chain of ${size / 1000}k entries, CPU over half of it`,
        value: over(chains, name("chain", size, 1), name("chain", SIZES[i]!, 1)),
        most: 2.6
      })),
      ...shapes.flatMap(([shape, [rare, often, longer], rows]): ReadonlyArray<Goal> => [
        {
          name: `depth, ten times the ${shape}, CPU over the same length`,
          value: over(rows, often!, rare!),
          most: 1.5
        },
        { name: `depth, ${shape}, twice the length`, value: over(rows, longer!, often!), most: 2.6 }
      ])
    ]
  }
}

const over = (rows: Rows, one: string, other: string): number =>
  (rowOf(rows, one)?.cpuRatio ?? NaN) / (rowOf(rows, other)?.cpuRatio ?? NaN)

if (import.meta.main) main({ depth: measure })
