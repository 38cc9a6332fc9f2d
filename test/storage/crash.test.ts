/** kill -9 of a program in the middle of writing: the log is a prefix of what was accepted, and holds all that was flushed. */
import { assert, describe, it } from "@effect/vitest"
import * as Entry from "@reprise/domain/Entry"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import { Effect, Stream } from "effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { fileURLToPath } from "node:url"
import * as Temporary from "./temporary.ts"

const sessionId = "00000000-0000-4000-8000-000000000001"
const child = fileURLToPath(new URL("crash-child.ts", import.meta.url))

/** Runs the program until it has printed so many lines, kills it, and gives what it printed. */
const runAndKill = (projects: string, first: number, lines: number) =>
  Effect.callback<string>((resume) => {
    const running = spawn(process.execPath, [child, projects, sessionId, String(first)], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    let printed = ""
    running.stdout.on("data", (data) => {
      printed += data
      if (printed.split("\n").length > lines) running.kill("SIGKILL")
    })
    running.on("close", () => resume(Effect.succeed(printed)))
    return Effect.sync(() => running.kill("SIGKILL"))
  })

const last = (printed: string, what: string): number =>
  Math.max(-1, ...Array.from(printed.matchAll(new RegExp(`^${what} (\\d+)\n`, "gm")), ([, n]) => Number(n)))

const read = (log: EntryLog.LogId) =>
  Effect.map(Stream.runCollect(LineReader.stream(log)), (located) => {
    const prompts = located.flatMap(({ entry }) => (Entry.is("user")(entry) ? [entry] : []))
    return {
      prompts,
      torn: located.filter(({ entry }) => Entry.is("malformed")(entry)).length,
      numbers: prompts.map(({ message }) => Number.parseInt(String(message.content)))
    }
  })

describe("kill -9 in the middle of writing", () => {
  it.live(
    "the log is a prefix of what was accepted, holds all that was flushed, and a cut costs one line",
    () =>
      Effect.gen(function* () {
        const projects = yield* Temporary.directory
        const log = EntryLog.session("-work", sessionId)
        const file = EntryLog.pathOf(projects, log)
        yield* Effect.gen(function* () {
          let expected: Array<number> = []
          for (const [round, lines] of [130, 411, 77].entries()) {
            const first = 1000 * round
            const printed = yield* runAndKill(projects, first, lines)
            const { numbers, prompts, torn } = yield* read(log)
            const written = numbers.slice(expected.length)
            assert.deepStrictEqual(numbers.slice(0, expected.length), expected)
            assert.isAtMost(torn, round + 1)
            assert.deepStrictEqual(
              written,
              Array.from(written, (_, i) => first + i)
            )
            assert.isAtLeast(written.at(-1) ?? -1, last(printed, "flushed"))
            // The kill may fall between accepting an entry and saying so.
            assert.isAtMost(written.at(-1) ?? -1, Math.max(first, last(printed, "accepted") + 1))
            for (const [i, prompt] of prompts.entries()) {
              assert.strictEqual(prompt.parentUuid, prompts[i - 1]?.uuid ?? null)
            }
            // A kill seldom cuts a write, so this does.
            fs.truncateSync(file, fs.statSync(file).size - 5)
            expected = numbers.slice(0, -1)
          }
          const end = yield* read(log)
          assert.deepStrictEqual(end.numbers, expected)
        }).pipe(Effect.provide(FileEntryLog.layerWith({ projects })))
      }).pipe(Effect.scoped),
    60_000
  )
})
