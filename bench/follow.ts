/**
 * What following a growing transcript costs, beside the least that it can cost, in the same run.
 *
 *   node bench/follow.ts [--reps 5] [--quick] [--json]
 *
 * G9: one more entry is taken in by a follower that holds 1,000, 10,000 and 50,000 of them; the figure is the median per
 * entry. At 1,000 the code is not warm yet, which costs the one with more code more.
 */
import * as Projection from "@reprise/domain/Projection"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as Follow from "@reprise/storage/Follow"
import * as Effect from "effect/Effect"
import "effect/schema/SchemaJITCompiler/enable"
import * as fs from "node:fs"
import * as path from "node:path"
import { compare, type Args, median, type Run, type Variant } from "./support/compare.ts"
import { entries } from "./support/entries.ts"
import { main, type Measure, rowOf, type Rows } from "./support/report.ts"

/** Appends one entry after the other, and times what comes between `begin` and `end`. */
interface Feed {
  readonly lines: number
  readonly begin: (line: number) => void
  readonly end: () => void
}

const following = (note: string, run: (file: string, feed: Feed) => void | Promise<void>): Variant => ({
  note,
  setup: (args: Args) => {
    const file = path.join(args.scratch, `follow-${process.pid}.jsonl`)
    const linesOf = (count: unknown, seed: number) =>
      entries(Number(count), seed).map((entry) => `${JSON.stringify(entry)}\n`)
    fs.writeFileSync(file, linesOf(args["held"], 1).join(""))
    return { file, more: linesOf(args["appended"], 2) }
  },
  run: async ({ file, more }: { readonly file: string; readonly more: ReadonlyArray<string> }): Promise<Run> => {
    const times: Array<number> = []
    const writer = fs.openSync(file, "a")
    let [cpu, before, start] = [0, process.cpuUsage(), 0]
    await run(file, {
      lines: more.length,
      begin: (line) => {
        fs.writeSync(writer, more[line]!)
        before = process.cpuUsage()
        start = performance.now()
      },
      end: () => {
        times.push(performance.now() - start)
        const { system, user } = process.cpuUsage(before)
        cpu += system + user
      }
    })
    fs.closeSync(writer)
    fs.rmSync(file)
    return { n: more.length, ms: median(times), cpuMs: cpu / 1000 / more.length }
  }
})

const LF = 10

/** What a client holds at least: messages by id, the last of each kind of metadata, the leaf. */
const freshState = () => ({ messages: new Map<string, unknown>(), metadata: new Map<string, unknown>(), leaf: "" })

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = {
  keptOffset: following("floor: kept descriptor and offset, parse the new line, mutable state", (file, feed) => {
    const fd = fs.openSync(file, "r")
    const state = freshState()
    const evolve = (line: string): void => {
      const entry = JSON.parse(line)
      if (entry.uuid === undefined) state.metadata.set(entry.type, entry)
      else state.messages.set((state.leaf = entry.uuid), entry)
    }
    const buffer = Buffer.allocUnsafe(1 << 20)
    let at = 0
    const take = (): void => {
      const size = fs.fstatSync(fd).size
      const view = buffer.subarray(0, fs.readSync(fd, buffer, 0, Math.min(buffer.length, size - at), at))
      let from = 0
      for (let to = view.indexOf(LF); to >= 0; to = view.indexOf(LF, from)) {
        evolve(view.toString("utf8", from, to))
        from = to + 1
      }
      at += from
    }
    while (at < fs.fstatSync(fd).size) take()
    for (let line = 0; line < feed.lines; line++) {
      feed.begin(line)
      take()
      feed.end()
    }
    fs.closeSync(fd)
  }),
  follower: following("Follow.make, every entry checked, evolve of Recovery", (file, feed) =>
    Effect.gen(function* () {
      const follower = yield* Follow.make(EntryLog.at(file))
      const run = Projection.run(Recovery.projection)
      const take = Effect.map(follower.next, ({ entries, isAtEnd }) => {
        for (const located of entries) run.evolve(located)
        return isAtEnd
      })
      while (!(yield* take)) yield* Effect.yieldNow
      for (let line = 0; line < feed.lines; line++) {
        feed.begin(line)
        yield* take
        feed.end()
      }
    }).pipe(Effect.scoped, Effect.provide(FileEntryLog.layerWith({ projects: path.dirname(file) })), Effect.runPromise)
  )
}

/** G9. */
export const measure: Measure = ({ quick, reps, scratch }) => {
  const run = (held: number) =>
    compare({
      module: new URL(import.meta.url),
      variants: ["keptOffset", "follower"],
      reps,
      together: quick,
      warm: 0,
      times: 1,
      args: { scratch, held, appended: quick ? 500 : 3000 }
    })
  const [few, some] = [run(1000), run(quick ? 5000 : 10_000)]
  const many = quick ? some : run(50_000)
  const ms = (rows: Rows): number => rowOf(rows, "follower")?.ms ?? NaN
  const cpu = (rows: Rows): number => rowOf(rows, "follower")?.cpuRatio ?? NaN
  return {
    tables: new Map([
      ["few held", few],
      ["10,000 held", some],
      ["many held", many]
    ]),
    goals: [
      { name: "G9 one more entry at 10,000 held, CPU over keptOffset", value: cpu(some), most: 1.5 },
      { name: "G9 the same at 50,000 held", value: cpu(many), most: 1.5 },
      { name: "G9 at 50,000 held, over that at 1,000", value: ms(many) / ms(few), most: 2 }
    ]
  }
}

if (import.meta.main) main({ follow: measure })
