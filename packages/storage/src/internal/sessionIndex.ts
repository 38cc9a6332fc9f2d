/**
 * SessionIndex: what summaries said, kept in a file. A cache: size and time of a log decide whether its row holds, and
 * without the file nothing changes but the work.
 *
 *   {"version":4,"check":"…"}
 *   {"path":"/-work/5b0d….jsonl","size":…,"title":…}          a row for each log, read when it is asked for
 *
 * 1. A file that is torn, of another version, or not as we wrote it is as good as none.
 * 2. It is replaced as a whole, by renaming, and is readable by its owner alone: it quotes prompts.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import type * as EntryLog from "../EntryLog.ts"
import type * as SessionCatalog from "../SessionCatalog.ts"
import * as Directories from "./directories.ts"
import { LF } from "./lines.ts"

/** What a summary says has changed its meaning when this changes. */
const VERSION = 4

type Session = SessionCatalog.Session

/** An index in use. */
export interface SessionIndex {
  /** What is known of a log that has this size and time. */
  readonly find: (listed: EntryLog.Listed) => Session | undefined
  readonly add: (session: Session) => void
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
  const rows = load(file)
  let isChanged = false
  return {
    find: (listed) => {
      const row = rows.get(listed.path)
      return row && sessionOf(row, listed)
    },
    add: ({ path, ...said }) => {
      // What is known from the listing is not there.
      rows.set(path, Buffer.from(JSON.stringify({ path, ...said, archived: undefined, log: undefined })))
      isChanged = true
    },
    keep: (listed, all) => {
      if (rows.size === listed.length && !isChanged) return
      const there = new Set(listed.map((one) => one.path))
      const folders = new Set(listed.map((one) => path.dirname(one.path)))
      for (const key of rows.keys()) {
        if (there.has(key) || !(all || folders.has(path.dirname(key)))) continue
        rows.delete(key)
        isChanged = true
      }
    },
    save: Effect.suspend(() => (isChanged ? save(file, rows.values()) : Effect.void))
  }
}

/** Undefined where the log is not as it was. */
const sessionOf = (row: Buffer, { archived, log, mtime, size }: EntryLog.Listed): Session | undefined => {
  const said: Omit<Session, "archived" | "log"> = JSON.parse(row.toString())
  return said.size === size && said.mtime === mtime ? Object.assign(said, { log, archived }) : undefined
}

const START = Buffer.from('{"path":"')
const QUOTE = 0x22

/** The rows by path; none of a file that cannot be read, was torn or edited, or holds anything else. */
const load = (file: string): Map<string, Buffer> =>
  Result.getOrElse(
    Result.try(() => {
      const bytes = fs.readFileSync(file)
      const rows = bytes.subarray(bytes.indexOf(LF) + 1)
      const isOurs = bytes.toString("utf8", 0, bytes.length - rows.length) === headOf(rows)
      return isOurs ? byPath(rows) : new Map<string, Buffer>()
    }),
    () => new Map<string, Buffer>()
  )

const byPath = (rows: Buffer): Map<string, Buffer> => {
  const found = new Map<string, Buffer>()
  for (let from = 0, to = 0; from < rows.length; from = to + 1) {
    to = rows.indexOf(LF, from)
    const row = rows.subarray(from, to)
    if (row.compare(START, 0, START.length, 0, START.length) !== 0) throw new Error("no row")
    const path = row.toString("utf8", START.length, row.indexOf(QUOTE, START.length))
    found.set(path.includes("\\") ? JSON.parse(row.toString()).path : path, row)
  }
  return found
}

const headOf = (rows: Uint8Array): string => `${JSON.stringify({ version: VERSION, check: hash("sha1", rows) })}\n`

const save = Effect.fnUntraced(function* (file: string, rows: Iterable<Buffer>) {
  const bytes = Buffer.concat([...rows].flatMap((row) => [row, end]))
  const draft = `${file}.${process.pid}.${yield* Clock.currentTimeNanos}`
  yield* Effect.try({
    try: () => {
      Directories.make(path.dirname(file), new Set())
      try {
        fs.writeFileSync(draft, Buffer.concat([Buffer.from(headOf(bytes)), bytes]), { mode: 0o600, flag: "wx" })
        fs.renameSync(draft, file)
      } finally {
        fs.rmSync(draft, { force: true })
      }
    },
    catch: (cause): IndexUnwritten => ({ path: file, cause })
  })
})

const end = Buffer.of(LF)
