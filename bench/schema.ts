/**
 * What checking every entry adds to parsing it: `node bench/schema.ts [--reps N] [--quick] [--json]`.
 *
 * G11 schema check ≤ 1.25 of JSON.parse. There is no Effect construct per entry in reading, so there is nothing else to add.
 */
import * as Line from "@reprise/domain/Line"
import "effect/schema/SchemaJITCompiler/enable"
import { Buffer } from "node:buffer"
import { type Args, compare, timed, type Variant } from "./support/compare.ts"
import { entries } from "./support/entries.ts"
import { main, type Measure, rowOf } from "./support/report.ts"

interface State {
  readonly lines: ReadonlyArray<Buffer>
  kept?: unknown
}

const variant = (note: string, read: (line: Buffer, number: number) => unknown): Variant => ({
  note,
  setup: (args: Args): State => ({
    lines: entries(Number(args["entries"]), Number(args["seed"])).map((entry) => Buffer.from(JSON.stringify(entry)))
  }),
  run: async (state: State) => {
    const time = await timed(() => {
      let number = 0
      for (const line of state.lines) state.kept = read(line, ++number)
    })
    return { n: state.lines.length, ...time }
  }
})

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = {
  parse: variant("floor: bytes to text, JSON.parse", (line) => JSON.parse(line.toString())),
  decode: variant("Line.decode: the same, today's shape, checked, located", (line, number) =>
    Line.decode(line, { line: number, byteStart: 0, byteEnd: line.length })
  )
}

/** G11, the check. */
export const measure: Measure = ({ quick, reps, scratch, seed }) => {
  const rows = compare({
    module: new URL(import.meta.url),
    variants: Object.keys(variants),
    reps,
    together: quick,
    warm: quick ? 4 : 8,
    times: quick ? 5 : 15,
    args: { scratch, seed, entries: 3000 }
  })
  const value = rowOf(rows, "decode")?.cpuRatio ?? NaN
  return {
    tables: new Map([["reading lines", rows]]),
    goals: [{ name: "G11 reading a line with its check, CPU over JSON.parse", value, most: 1.25 }]
  }
}

if (import.meta.main) main({ schema: measure })
