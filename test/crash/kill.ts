/**
 * kill -9 in the middle of writing.
 *
 * 1. The log is a prefix of what was accepted, and holds all that was flushed.
 * 2. A cut costs its line; the next append costs none.
 * 3. Recovery shows every prompt that is whole, in order.
 */
import * as EntryLog from "@reprise/storage/EntryLog"
import { Effect } from "effect"
import * as assert from "node:assert/strict"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { fileURLToPath } from "node:url"
import { env } from "../compiled.ts"
import * as Temporary from "../storage/temporary.ts"
import * as Logged from "./logged.ts"
import * as Seeded from "./seeded.ts"

const recorder = fileURLToPath(new URL("recorder.ts", import.meta.url))

interface Recording {
  readonly projects: string
  readonly sessionId: string
  readonly first: number
  readonly durability: "os" | "fsync" | "fsync-interval"
  /** How many prompts, if it is not killed before. */
  readonly count?: number
  /** Killed when it has printed so many lines. */
  readonly killAfter?: number
}

/** Runs the recorder to its end, or kills it, and gives what it printed. */
const record = (recording: Recording) =>
  Effect.callback<string>((resume) => {
    const { count = Infinity, durability, first, killAfter = Infinity, projects, sessionId } = recording
    const running = spawn(process.execPath, [recorder, projects, sessionId, String(first), durability, String(count)], {
      stdio: ["ignore", "pipe", "inherit"],
      env
    })
    let printed = ""
    let lines = 0
    running.stdout.on("data", (data: Buffer) => {
      printed += data
      for (const byte of data) if (byte === 0x0a) lines++
      if (lines > killAfter) running.kill("SIGKILL")
    })
    running.on("close", () => resume(Effect.succeed(printed)))
    return Effect.sync(() => running.kill("SIGKILL"))
  })

const last = (printed: string, what: string): number =>
  Math.max(-1, ...Array.from(printed.matchAll(new RegExp(`^${what} (\\d+)\n`, "gm")), ([, n]) => Number(n)))

const read = (projects: string, sessionId: string) =>
  Effect.map(Logged.read(projects, sessionId), ({ texts, torn }) => ({
    numbers: texts.map((text) => Number.parseInt(text)),
    torn
  }))

/** What was written is a prefix of what was accepted, and holds what was flushed. */
const check = (written: ReadonlyArray<number>, first: number, printed: string): void => {
  assert.deepEqual(
    written,
    Array.from(written, (_, i) => first + i),
    "not a prefix of what was accepted"
  )
  const end = written.at(-1) ?? first - 1
  assert.ok(end >= last(printed, "flushed"), `flushed up to ${last(printed, "flushed")}, written up to ${end}`)
  // The kill may fall between accepting an entry and saying so.
  assert.ok(end <= Math.max(first, last(printed, "accepted") + 1), `written up to ${end}, more than was accepted`)
}

/** One session, killed some times; after some of them its log is cut as well, since a kill seldom cuts a write. */
export const once = (random: Seeded.Random, durability: Recording["durability"], kills = 2) =>
  Effect.gen(function* () {
    const projects = yield* Temporary.directory
    const sessionId = "00000000-0000-4000-8000-000000000001"
    const file = EntryLog.pathOf(projects, EntryLog.session("-work", sessionId))
    let expected: ReadonlyArray<number> = []
    for (let kill = 0; kill < kills; kill++) {
      const first = 100_000 * kill
      const killAfter = Seeded.below(random, durability === "os" ? 500 : 150)
      const printed = yield* record({ projects, sessionId, first, durability, killAfter })
      const { numbers, torn } = yield* read(projects, sessionId)
      assert.deepEqual(numbers.slice(0, expected.length), expected, "an earlier line is lost")
      assert.ok(torn <= kill + 1, `${torn} torn lines after ${kill + 1} kills`)
      check(numbers.slice(expected.length), first, printed)
      expected = numbers
      if (numbers.length > 0 && random() < 0.5 && lastLineIsPrompt(file)) {
        fs.truncateSync(file, fs.statSync(file).size - 1 - Seeded.below(random, 40) - 1)
        expected = numbers.slice(0, -1)
      }
    }
    // One more, to its end: nothing that was whole before is lost.
    yield* record({ projects, sessionId, first: 100_000 * kills, durability, count: 3 })
    const { numbers } = yield* read(projects, sessionId)
    assert.deepEqual(numbers, [...expected, ...[0, 1, 2].map((n) => 100_000 * kills + n)])
  }).pipe(Effect.scoped)

const lastLineIsPrompt = (file: string): boolean => {
  const text = fs.readFileSync(file, "utf8")
  return text.endsWith("\n") && text.slice(text.lastIndexOf("\n", text.length - 2) + 1).includes('"type":"user"')
}

/** Eight processes on eight sessions of one project; some are killed. */
export const eight = (random: Seeded.Random) =>
  Effect.gen(function* () {
    const projects = yield* Temporary.directory
    const sessions = Array.from({ length: 8 }, (_, i): Recording => {
      const isKilled = random() < 0.5
      return {
        projects,
        sessionId: `00000000-0000-4000-8000-00000000000${i}`,
        first: 1000 * i,
        durability: random() < 0.3 ? ("fsync" as const) : ("os" as const),
        ...(isKilled ? { killAfter: Seeded.below(random, 120) } : { count: 60 + Seeded.below(random, 60) })
      }
    })
    const printed = yield* Effect.forEach(sessions, record, { concurrency: 8 })
    for (const [i, session] of sessions.entries()) {
      const { numbers, torn } = yield* read(projects, session.sessionId)
      check(numbers, session.first, printed[i]!)
      assert.ok(torn <= (session.count === undefined ? 1 : 0), "lines of other processes inside a line")
      if (session.count !== undefined) assert.equal(numbers.length, session.count)
    }
  }).pipe(Effect.scoped)
