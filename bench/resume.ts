/**
 * What resuming costs, beside the least that it can cost, in the same run.
 *
 *   node bench/resume.ts [--mb 100] [--reps 5] [--quick] [--json] [--peers DIR]
 *
 * G4 whole recovery · G5 from the last boundary, also with preserved messages and with a tenth of the history · G6 with
 * older metadata · G7 the index. The code is warm in G5, G6 and G7, as in a program that has resumed before; growth is that
 * of a first time.
 */
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryIndex from "@reprise/storage/EntryIndex"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as History from "@reprise/storage/History"
import * as Effect from "effect/Effect"
import "effect/schema/SchemaJITCompiler/enable"
import * as fs from "node:fs"
import * as path from "node:path"
import { compare, type Variant } from "./support/compare.ts"
import * as Peers from "./support/peers.ts"
import { type Goal, main, type Measure, rowOf, type Rows } from "./support/report.ts"
import { floors, job } from "./support/resumeFloors.ts"
import { write, type Shape } from "./support/transcript.ts"

const inFiles = <A, E>(file: string, read: Effect.Effect<A, E, EntryLog.EntryLog>): Promise<A> =>
  read.pipe(Effect.provide(FileEntryLog.layerWith({ projects: path.dirname(file) })), Effect.runPromise)

const door = (note: string, history: "suffix" | "metadata" | "full"): Variant => {
  const doors = Recovery.judged()
  return job(note, (file) => inFiles(file, History.read(EntryLog.at(file), doors, { history })))
}

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = {
  ...floors,
  ...Peers.variants,
  full: door("whole recovery, every entry checked", "full"),
  suffix: door("History.read, suffix", "suffix"),
  metadata: door("History.read, metadata", "metadata"),
  index: job("EntryIndex.read", (file) => inFiles(file, Effect.scoped(EntryIndex.read(EntryLog.at(file)))))
}

/** G4, G5, G6, G7. */
export const measure: Measure = ({ mb, peers, quick, reps, scratch, seed }) => {
  const fileOf = (shape: Shape): string => {
    const file = path.join(scratch, `${Object.values(shape).join("-")}.jsonl`)
    if (!fs.existsSync(file)) write(file, shape)
    return file
  }
  const run = (shape: Shape, names: ReadonlyArray<string>, warm = 0, times = 1) =>
    compare({
      module: new URL(import.meta.url),
      variants: names,
      reps,
      together: quick && warm > 0,
      warm,
      times,
      args: { scratch, peers, file: fileOf(shape) }
    })
  const others = Peers.installed(peers)
  const whole: Shape = { seed, mb, compactMb: 0, preserved: 0, keys: "newest" }
  const compacted = { ...whole, compactMb: 1.2 }
  // A program that has resumed before: all that is to be compiled is.
  const [warm, times] = quick ? [6, 3] : [80, 15]
  // What reads the whole log is warm sooner.
  const [soon, few] = quick ? [3, 2] : [12, 9]
  return goalsOf(
    new Map([
      ["whole load", run(whole, ["chunked", "full", ...others])],
      ["index", run(whole, ["skeleton", "index"], soon, few)],
      ["index, a first time", run(whole, ["skeleton", "index"])],
      ["compacted", run(compacted, ["suffixFloor", "suffix", ...others], warm, times)],
      [
        "compacted, 8 preserved",
        run({ ...compacted, preserved: 8 }, ["suffixFloor", "suffix", ...others], warm, times)
      ],
      [
        "compacted, a tenth of the history",
        run({ ...compacted, mb: Math.max(3, mb / 10) }, ["suffixFloor", "suffix"], warm, times)
      ],
      ["compacted, a first time", run(compacted, ["suffixFloor", "suffix", "metadata"])],
      ["compacted, older metadata", run(compacted, ["metadataFloor", "metadata", ...others], soon, few)],
      [
        "compacted, older metadata and keys",
        run({ ...compacted, keys: "older" }, ["metadataFloor", "metadata", ...others], soon, few)
      ]
    ])
  )
}

const goalsOf = (tables: ReadonlyMap<string, Rows>) => {
  const row = (title: string, name: string) => rowOf(tables.get(title), name)
  const cpu = (title: string, name: string) => row(title, name)?.cpuRatio ?? NaN
  const growth = (title: string, name: string) => row(title, name)?.more["growthMb"] ?? NaN
  const faster = (title: string, name: string) => cpu(title, "sdk") / cpu(title, name)
  const [all, index, suffix, metadata] = ["whole load", "index", "compacted", "compacted, older metadata"] as const
  const [preserved, tenth, first] = [
    `${suffix}, 8 preserved`,
    `${suffix}, a tenth of the history`,
    `${suffix}, a first time`
  ]
  const goals: ReadonlyArray<Goal> = [
    { name: "G4 whole recovery, every entry checked, CPU over chunked", value: cpu(all, "full"), most: 1.45 },
    { name: "G4 times faster than the SDK", value: faster(all, "full"), least: 1.5 },
    { name: "G4 growth over the SDK's", value: growth(all, "full") / growth(all, "sdk"), most: 0.8 },
    { name: "G5 suffix, CPU over its floor", value: cpu(suffix, "suffix"), most: 1.5 },
    { name: "G5 … with preserved messages", value: cpu(preserved, "suffix"), most: 1.5 },
    { name: "G5 … with a tenth of the history", value: cpu(tenth, "suffix"), most: 1.5 },
    { name: "G5 growth in MB, a first time", value: growth(first, "suffix"), most: 15 },
    { name: "G5 times faster than the SDK", value: faster(suffix, "suffix"), least: 6 },
    { name: "G5 … with preserved messages", value: faster(preserved, "suffix"), least: 50 },
    { name: "G6 metadata, CPU over its floor", value: cpu(metadata, "metadata"), most: 1.2 },
    { name: "G6 … where the log lacks two keys", value: cpu(`${metadata} and keys`, "metadata"), most: 1.2 },
    { name: "G6 growth in MB, a first time", value: growth(first, "metadata"), most: 20 },
    { name: "G6 times faster than the SDK", value: faster(metadata, "metadata"), least: 1.4 },
    { name: "G6 … with keys in the older order", value: faster(`${metadata} and keys`, "metadata"), least: 15 },
    { name: "G7 index, CPU over the skeleton", value: cpu(index, "index"), most: 1.5 },
    { name: "G7 growth in MB, a first time", value: growth("index, a first time", "index"), most: 30 }
  ]
  return { tables, goals }
}

if (import.meta.main) main({ resume: measure })
