/**
 * SessionIndex: what summaries said, kept in a file. A cache: size and time of a log decide whether its row holds, and
 * without the file nothing changes but the work.
 *
 *   {"version":1,"check":"…"}
 *   [["/-work/5b0d….jsonl",size,mtime,said],…]
 *
 * 1. A file that is torn, of another version, or not as we wrote it is as good as none.
 * 2. It is replaced as a whole, by renaming, and is readable by its owner alone: it quotes prompts.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { hash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import type * as EntryLog from "../EntryLog.ts"
import type * as SessionSummary from "../SessionSummary.ts"

/** What a summary says has changed its meaning when this changes. */
const VERSION = 1

type Row = readonly [path: string, size: number, mtime: number, said: SessionSummary.Said]

/** An index in use. */
export interface SessionIndex {
  /** What is known of a log that has this size and time. */
  readonly find: (listed: EntryLog.Listed) => SessionSummary.SessionSummary | undefined
  readonly add: (path: string, summary: SessionSummary.SessionSummary) => void
  /** Lets go of logs that are no more in the folders of these, or, where these are `all`, anywhere. */
  readonly keep: (listed: ReadonlyArray<EntryLog.Listed>, all: boolean) => void
  /** Writes what has changed. */
  readonly save: Effect.Effect<void, IndexUnwritten>
}

/** Why an index could not be written. */
interface IndexUnwritten {
  readonly path: string
  readonly cause: unknown
}

/** The index in a file. */
export const open = (file: string): SessionIndex => {
  const rows = new Map(load(file).map((row) => [row[0], row]))
  let isChanged = false
  return {
    find: ({ log, mtime, path, size }) => {
      const row = rows.get(path)
      return row === undefined || row[1] !== size || row[2] !== mtime ? undefined : { log, size, mtime, ...row[3] }
    },
    add: (path, summary) => {
      const { log: _, mtime, size, ...said } = summary
      rows.set(path, [path, size, mtime, said])
      isChanged = true
    },
    keep: (listed, all) => {
      const there = new Set(listed.map((one) => one.path))
      if (rows.size === there.size && !isChanged) return
      const folders = new Set(listed.map((one) => path.dirname(one.path)))
      for (const key of rows.keys()) {
        if (there.has(key) || !(all || folders.has(path.dirname(key)))) continue
        rows.delete(key)
        isChanged = true
      }
    },
    save: Effect.suspend(() => (isChanged ? save(file, [...rows.values()]) : Effect.void))
  }
}

const load = (file: string): ReadonlyArray<Row> =>
  Result.getOrElse(
    Result.try(() => {
      const text = fs.readFileSync(file, "utf8")
      const end = text.indexOf("\n")
      const rows = text.slice(end + 1)
      return text.slice(0, end) === headOf(rows) ? (JSON.parse(rows) as ReadonlyArray<Row>) : []
    }),
    () => []
  )

const headOf = (rows: string): string => JSON.stringify({ version: VERSION, check: hash("sha1", rows) })

const save = Effect.fnUntraced(function* (file: string, rows: ReadonlyArray<Row>) {
  const text = JSON.stringify(rows)
  const draft = `${file}.${process.pid}.${yield* Clock.currentTimeNanos}`
  yield* Effect.try({
    try: () => {
      fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
      try {
        fs.writeFileSync(draft, `${headOf(text)}\n${text}`, { mode: 0o600, flag: "wx" })
        fs.renameSync(draft, file)
      } finally {
        fs.rmSync(draft, { force: true })
      }
    },
    catch: (cause): IndexUnwritten => ({ path: file, cause })
  })
})
