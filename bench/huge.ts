/**
 * A log that fits into no string and no heap is resumed: `npm run bench:huge -- [--gib 2.5] [--seed S]`.
 *
 * What is asserted is counted, not timed: through which door it came, how much was read and held for it, and by how much
 * the process grew. The log is written into the directory for temporary files and removed.
 */
import * as Recovery from "@reprise/recovery/Recovery"
import * as SessionState from "@reprise/recovery/SessionState"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as History from "@reprise/storage/History"
import * as Effect from "effect/Effect"
import "effect/schema/SchemaJITCompiler/enable"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import { writeLong } from "./support/long.ts"
import { peakMb } from "./support/memory.ts"
import { seedOf } from "./support/report.ts"

interface Resumed {
  readonly history: string
  readonly leaf: string | undefined
  readonly title: string | undefined
  readonly bytesRead: number
  readonly bytesHeld: number
  readonly growthMb: number
  readonly ms: number
}

/** Resumes in a process of its own, in which every read is counted. */
const resume = async (file: string, history: "suffix" | "metadata"): Promise<Resumed> => {
  let bytesRead = 0
  const counted = Effect.map(EntryLog.EntryLog, (port) => ({
    ...port,
    reader: (log: EntryLog.LogId) =>
      Effect.map(port.reader(log), (reader) => ({
        ...reader,
        read: (offset: number, into: Uint8Array) =>
          Effect.tap(reader.read(offset, into), (count) => Effect.sync(() => void (bytesRead += count)))
      }))
  }))
  const before = peakMb()
  const start = performance.now()
  const { answer, history: through } = await History.read(EntryLog.at(file), Recovery.judged(), { history }).pipe(
    Effect.provideServiceEffect(EntryLog.EntryLog, counted),
    Effect.provide(FileEntryLog.layerWith({ projects: path.dirname(file) })),
    Effect.runPromise
  )
  return {
    history: through,
    leaf: SessionState.leafOf(answer)?.uuid,
    title: answer.metadata.title,
    bytesRead,
    bytesHeld: answer.extent.byteEnd - answer.extent.byteStart,
    growthMb: Math.round(peakMb() - before),
    ms: Math.round(performance.now() - start)
  }
}

const MB = 1e6

/** What must hold, in words. */
const checks = (size: number, last: ReadonlyArray<string>, suffix: Resumed, metadata: Resumed) =>
  [
    ["the suffix is enough", suffix.history === "suffix" && metadata.history === "metadata"],
    ["the conversation ends with the last messages of the log", last.includes(suffix.leaf ?? "")],
    ["… through either door", metadata.leaf === suffix.leaf],
    ["for the suffix, less than 8 MB are read", suffix.bytesRead < 8 * MB],
    ["… and less than 4 MB held", suffix.bytesHeld < 4 * MB],
    ["… and the process grows by at most 60 MB", suffix.growthMb <= 60],
    ["with older metadata, the log is read once", metadata.bytesRead < 1.1 * size],
    ["… and the process grows by at most 60 MB", metadata.growthMb <= 60],
    ["… and says the title", metadata.title === "A title"]
  ] as const

/** The ids of the last messages; a result that answers a call a second time is none that a conversation ends with. */
const lastMessages = (file: string, size: number): ReadonlyArray<string> => {
  const tail = Buffer.alloc(Math.min(size, 4 << 20))
  const fd = fs.openSync(file, "r")
  fs.readSync(fd, tail, 0, tail.length, size - tail.length)
  fs.closeSync(fd)
  const messages = tail
    .toString()
    .split("\n")
    .slice(1)
    .filter((line) => line.includes('"parentUuid":'))
  return messages.slice(-4).map((line) => JSON.parse(line).uuid)
}

const resumeInChild = (file: string, history: "suffix" | "metadata"): Resumed => {
  const args = ["--no-warnings", import.meta.filename, "--read", file, "--history", history]
  const child = spawnSync(process.execPath, args, { encoding: "utf8" })
  if (child.status !== 0) throw new Error(`resuming ended with ${child.status ?? child.signal}: ${child.stderr}`)
  return JSON.parse(child.stdout)
}

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      gib: { type: "string", default: "2.5" },
      seed: { type: "string", default: "1" },
      read: { type: "string" },
      history: { type: "string", default: "suffix" }
    }
  })
  if (values.read !== undefined) {
    console.log(JSON.stringify(await resume(values.read, values.history === "metadata" ? "metadata" : "suffix")))
    return
  }
  const bytes = Number(values.gib) * 2 ** 30
  const { bavail, bsize } = fs.statfsSync(os.tmpdir())
  if (!(bytes > 0) || bavail * bsize < 1.2 * bytes) {
    throw new Error(
      `--gib ${values.gib}: there are ${(bavail * bsize) / 2 ** 30} GiB in ${os.tmpdir()}, too few for it`
    )
  }
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "reprise-huge-"))
  try {
    const file = path.join(scratch, "log.jsonl")
    const size = writeLong(file, bytes, seedOf(values.seed))
    const [suffix, metadata] = [resumeInChild(file, "suffix"), resumeInChild(file, "metadata")]
    const found = checks(size, lastMessages(file, size), suffix, metadata)
    console.log(JSON.stringify({ node: process.version, size, suffix, metadata }, null, 2))
    for (const [what, holds] of found) console.log(`${holds ? "✓" : "✗"} ${what}`)
    const failed = found.filter(([, holds]) => !holds).length
    console.log(`${found.length - failed} passed, ${failed} failed`)
    if (failed > 0) process.exitCode = 1
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

await main()
