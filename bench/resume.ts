/**
 * What resuming costs, beside the least that it can cost, in the same run.
 *
 *   node bench/resume.ts [--mb 100] [--reps 5] [--quick] [--json]
 *
 * G4 whole recovery · G5 from the last boundary, also with preserved messages and with ten times the history · G6 with
 * older metadata. The code is warm, as in a program that has resumed before; `cold` figures are those of a first time.
 */
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as History from "@reprise/storage/History"
import * as Effect from "effect/Effect"
import "effect/schema/SchemaJITCompiler/enable"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { compare, type Row, table, type Variant } from "./support/compare.ts"
import { floors, job } from "./support/resumeFloors.ts"
import { write, type Shape } from "./support/transcript.ts"

const door = (note: string, history: "suffix" | "metadata" | "full"): Variant => {
  const doors = Recovery.judged()
  return job(note, (file) =>
    History.read(EntryLog.at(file), doors, { history }).pipe(
      Effect.provide(FileEntryLog.layerWith({ projects: path.dirname(file) })),
      Effect.runPromise
    )
  )
}

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = {
  ...floors,
  full: door("whole recovery, every entry checked", "full"),
  suffix: door("History.read, suffix", "suffix"),
  metadata: door("History.read, metadata", "metadata")
}

interface Goal {
  readonly goal: string
  readonly value: number
  readonly most: number
}

const main = (): void => {
  const { values } = parseArgs({
    options: {
      mb: { type: "string", default: "100" },
      reps: { type: "string", default: "5" },
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false }
    }
  })
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "reprise-bench-"))
  const [mb, reps] = values.quick ? [10, 3] : [Number(values.mb), Number(values.reps)]
  const fileOf = (shape: Shape): string => {
    const file = path.join(scratch, `${Object.values(shape).join("-")}.jsonl`)
    if (!fs.existsSync(file)) write(file, shape)
    return file
  }
  const run = (shape: Shape, names: ReadonlyArray<string>, warm: number) =>
    compare({
      module: new URL(import.meta.url),
      variants: names,
      reps,
      warm,
      times: 1,
      args: { scratch, file: fileOf(shape) }
    })
  const compacted = { mb, compactMb: 1.2, preserved: 0 }
  try {
    const tables = {
      "whole load": run({ mb, compactMb: 0, preserved: 0 }, ["chunked", "full"], 0),
      compacted: run(compacted, ["suffixFloor", "suffix"], 5),
      "compacted, 8 preserved": run({ ...compacted, preserved: 8 }, ["suffixFloor", "suffix"], 5),
      "compacted, a tenth of the history": run({ ...compacted, mb: mb / 10 }, ["suffixFloor", "suffix"], 5),
      "compacted, a first time": run(compacted, ["suffixFloor", "suffix", "metadata"], 0),
      "compacted, older metadata": run(compacted, ["metadataFloor", "metadata"], 3)
    }
    const goals = goalsOf(new Map(Object.entries(tables)))
    if (values.json) {
      const rows = Object.entries(tables).map(([title, rows]) => [title, Object.fromEntries(rows)])
      console.log(JSON.stringify({ mb, tables: Object.fromEntries(rows), goals }, null, 2))
      return
    }
    for (const [title, rows] of Object.entries(tables)) console.log(`${table(`${title}, ${mb} MB`, rows)}\n`)
    for (const { goal, most, value } of goals) {
      console.log(`${value <= most ? "met   " : "missed"} ${goal}, ≤ ${most}: ${value.toFixed(2)}`)
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

const goalsOf = (tables: ReadonlyMap<string, ReadonlyMap<string, Row | string>>): ReadonlyArray<Goal> => {
  const rowOf = (title: string, name: string): Row | undefined => {
    const row = tables.get(title)?.get(name)
    return typeof row === "string" ? undefined : row
  }
  const cpu = (title: string, name: string) => rowOf(title, name)?.cpuRatio ?? NaN
  const growth = (title: string, name: string) => rowOf(title, name)?.more["growthMb"] ?? NaN
  return [
    { goal: "G4 whole recovery, every entry checked, CPU over chunked", value: cpu("whole load", "full"), most: 1.45 },
    { goal: "G5 suffix, CPU over its floor", value: cpu("compacted", "suffix"), most: 1.5 },
    { goal: "G5 suffix with preserved messages", value: cpu("compacted, 8 preserved", "suffix"), most: 1.5 },
    { goal: "G5 growth in MB, a first time", value: growth("compacted, a first time", "suffix"), most: 15 },
    { goal: "G6 metadata, CPU over its floor", value: cpu("compacted, older metadata", "metadata"), most: 1.2 },
    { goal: "G6 growth in MB, a first time", value: growth("compacted, a first time", "metadata"), most: 20 }
  ]
}

if (import.meta.main) main()
