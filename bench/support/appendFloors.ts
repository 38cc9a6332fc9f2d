/**
 * Floors of appending: the least code that does the job in plain Node, and what one would write first.
 */
import * as fs from "node:fs"
import * as fsp from "node:fs/promises"
import * as path from "node:path"
import type * as Sqlite from "node:sqlite"
import { type Args, median, type Run, timed, type Variant } from "./compare.ts"
import { entries } from "./entries.ts"

interface State {
  readonly entries: ReadonlyArray<object>
  readonly file: string
  readonly buffer: Buffer
}

const LF = 0x0a

const setup = (args: Args): State => ({
  entries: entries(Number(args["entries"]), Number(args["seed"])),
  file: path.join(args.scratch, `floor-${process.pid}.jsonl`),
  buffer: Buffer.allocUnsafe(8 << 20)
})

const variant = (note: string, job: (state: State) => unknown): Variant => ({
  note,
  setup,
  run: async (state: State): Promise<Run> => {
    const time = await timed(() => job(state))
    for (const suffix of ["", "-wal", "-shm"]) fs.rmSync(state.file + suffix, { force: true })
    return { ...time, n: state.entries.length }
  }
})

function* batches(all: ReadonlyArray<object>): Generator<ReadonlyArray<object>> {
  for (let i = 0; i < all.length; i += 100) yield all.slice(i, i + 100)
}

const joined = (batch: ReadonlyArray<object>): string => {
  let text = ""
  for (const entry of batch) text += `${JSON.stringify(entry)}\n`
  return text
}

/** Appending without a sync; the first is the base. */
export const floors: { readonly [name: string]: Variant } = {
  reusedBuffer: variant("floor: each entry encoded into one buffer, one write per 100", ({ buffer, entries, file }) => {
    const fd = fs.openSync(file, "a", 0o600)
    for (const batch of batches(entries)) {
      let end = 0
      for (const entry of batch) {
        const line = JSON.stringify(entry)
        if (end + 3 * line.length + 1 > buffer.length) {
          fs.writeSync(fd, buffer, 0, end)
          end = 0
        }
        end += buffer.write(line, end)
        buffer[end++] = LF
      }
      fs.writeSync(fd, buffer, 0, end)
    }
    fs.closeSync(fd)
  }),
  stringify: variant("bound: JSON.stringify, no output", ({ entries }) => {
    let size = 0
    for (const entry of entries) size += JSON.stringify(entry).length
    return size
  }),
  concatByPath: variant("string concatenated, appendFile by path per 100", async ({ entries, file }) => {
    for (const batch of batches(entries)) await fsp.appendFile(file, joined(batch), { mode: 0o600 })
  }),
  perEntryByPath: variant("first idea: appendFile by path per entry", async ({ entries, file }) => {
    for (const entry of entries) await fsp.appendFile(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 })
  }),
  sqlite: {
    note: "node:sqlite WAL, 100 per transaction",
    setup: async (args) => ({ ...setup(args), ...(await import("node:sqlite")) }),
    run: async ({ DatabaseSync, entries, file }: State & Pick<typeof Sqlite, "DatabaseSync">) => {
      const db = new DatabaseSync(file)
      db.exec("pragma journal_mode=WAL; pragma synchronous=NORMAL; create table e(seq integer primary key, body text)")
      const insert = db.prepare("insert into e(body) values(?)")
      const time = await timed(() => {
        for (const batch of batches(entries)) {
          db.exec("begin")
          for (const entry of batch) insert.run(JSON.stringify(entry))
          db.exec("commit")
        }
      })
      db.close()
      for (const suffix of ["", "-wal", "-shm"]) fs.rmSync(file + suffix, { force: true })
      return { ...time, n: entries.length }
    }
  }
}

/** A run whose `ms` is the median latency. */
export const latencies = (times: ReadonlyArray<number>, cpuMs: number): Run => {
  const sorted = times.toSorted((a, b) => a - b)
  const ms = median(sorted)
  return { n: times.length, ms, cpuMs, p99: Number(sorted[Math.floor(sorted.length * 0.99)]!.toFixed(3)) }
}

/** Calls `offer` with the entries that are due, `rate` a second for so many seconds. */
export const offering = (
  all: ReadonlyArray<object>,
  rate: number,
  seconds: number,
  offer: (due: ReadonlyArray<object>, now: number) => void
): Promise<void> =>
  new Promise((done) => {
    const start = performance.now()
    let offered = 0
    const tick = (): void => {
      const now = performance.now()
      if (now - start > 1000 * seconds) return done()
      const due: Array<object> = []
      for (const upTo = Math.floor(((now - start) / 1000) * rate); offered < upTo; offered++) {
        due.push(all[offered % all.length]!)
      }
      if (due.length > 0) offer(due, now)
      setImmediate(tick)
    }
    tick()
  })

/** Appending until the disk has it: one at a time, and under load. */
export const durableFloors: { readonly [name: string]: Variant } = {
  single: {
    note: "floor: write and fdatasync per entry, nothing queued",
    setup,
    run: async ({ entries, file }: State) => {
      const file_ = await fsp.open(file, "a", 0o600)
      const times: Array<number> = []
      const { cpuMs } = await timed(async () => {
        for (const entry of entries) {
          const start = performance.now()
          await file_.write(`${JSON.stringify(entry)}\n`)
          await file_.datasync()
          times.push(performance.now() - start)
        }
      })
      await file_.close()
      fs.rmSync(file)
      return latencies(times, cpuMs)
    }
  },
  adaptive: {
    note: "floor under load: one flush in flight takes all that queued",
    setup: (args) => ({ ...setup(args), rate: args["rate"], seconds: args["seconds"] }),
    run: async ({ entries, file, rate, seconds }: State & { readonly rate: number; readonly seconds: number }) => {
      const file_ = await fsp.open(file, "a", 0o600)
      const times: Array<number> = []
      let queue: Array<readonly [string, number]> = []
      let flushing: Promise<void> | undefined
      const flush = async (): Promise<void> => {
        while (queue.length > 0) {
          const batch = queue
          queue = []
          await file_.write(Buffer.from(batch.map(([line]) => line).join("")))
          await file_.datasync()
          const now = performance.now()
          for (const [, at] of batch) times.push(now - at)
        }
        flushing = undefined
      }
      const { cpuMs } = await timed(async () => {
        await offering(entries, rate, seconds, (due, now) => {
          for (const entry of due) queue.push([`${JSON.stringify(entry)}\n`, now])
          flushing ??= flush()
        })
        await flushing
      })
      await file_.close()
      fs.rmSync(file)
      return latencies(times, cpuMs)
    }
  }
}
