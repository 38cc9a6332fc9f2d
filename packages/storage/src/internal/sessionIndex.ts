/**
 * SessionIndex: what summaries said, kept in a file. A cache: size and time of a log decide whether its row holds, and
 * without the file nothing changes but the work.
 *
 *   {"version":1,"check":"…"}
 *   [{"path":"/-work/5b0d….jsonl","size":…,"mtime":…,"title":…},…]
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
import type * as SessionCatalog from "../SessionCatalog.ts"
import * as Directories from "./directories.ts"

/** What a summary says has changed its meaning when this changes. */
const VERSION = 2

type Session = SessionCatalog.Session

/** A session as the file has it: its log is known from the listing, and so is whether it was put away. */
type Row = Omit<Session, "log" | "archived">

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
    find: ({ archived, log, mtime, path, size }) => {
      const row = rows.get(path)
      // A copy of each would cost more than reading the file.
      return row === undefined || row.size !== size || row.mtime !== mtime
        ? undefined
        : Object.assign(row, { log, archived })
    },
    add: (session) => {
      rows.set(session.path, session)
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
    save: Effect.suspend(() => (isChanged ? save(file, Array.from(rows.values(), rowOf)) : Effect.void))
  }
}

const rowOf = (session: Row & Partial<Session>): Row => {
  const { archived: _, log: __, ...row } = session
  return row
}

const LF = 0x0a

/** By path; none of a file that cannot be read, was torn or edited, or holds anything else. */
const load = (file: string): Map<string, Row> =>
  Result.getOrElse(
    Result.try(() => {
      const bytes = fs.readFileSync(file)
      const end = bytes.indexOf(LF)
      const rows = bytes.subarray(end + 1)
      if (bytes.toString("utf8", 0, end) !== headOf(rows)) return new Map<string, Row>()
      return new Map((JSON.parse(rows.toString()) as ReadonlyArray<Row>).map((row) => [row.path, row]))
    }),
    () => new Map<string, Row>()
  )

const headOf = (rows: string | Uint8Array): string => JSON.stringify({ version: VERSION, check: hash("sha1", rows) })

const save = Effect.fnUntraced(function* (file: string, rows: ReadonlyArray<Row>) {
  const text = JSON.stringify(rows)
  const draft = `${file}.${process.pid}.${yield* Clock.currentTimeNanos}`
  yield* Effect.try({
    try: () => {
      Directories.make(path.dirname(file), new Set())
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
