/** What a program that ends leaves: by a signal, by `process.exit`; and one whose log is taken away while it writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@reprise/domain/Message"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { env } from "../compiled.ts"
import * as Temporary from "./temporary.ts"

const sessionId = "00000000-0000-4000-8000-000000000001"
const program = fileURLToPath(new URL("ending-child.ts", import.meta.url))

/** Runs the program; a signal is sent when it has accepted some. Gives its exit code, what it accepted, and its log. */
const ended = (how: "signal" | "exit", signal?: NodeJS.Signals) =>
  Effect.gen(function* () {
    const projects = path.join(yield* Temporary.directory, "projects")
    const { code, printed } = yield* Effect.callback<{ readonly code: number | null; readonly printed: string }>(
      (resume) => {
        const running = spawn(process.execPath, ["--no-warnings", program, projects, sessionId, how], {
          stdio: ["ignore", "pipe", "inherit"],
          env
        })
        let printed = ""
        running.stdout.on("data", (data) => {
          printed += data
          if (signal !== undefined && printed.includes("accepted 150\n")) running.kill(signal)
        })
        running.on("close", (code) => resume(Effect.succeed({ code, printed })))
        return Effect.sync(() => running.kill("SIGKILL"))
      }
    )
    const text = fs.readFileSync(EntryLog.pathOf(projects, EntryLog.session("-work", sessionId)), "utf8")
    const all: ReadonlyArray<any> = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    return {
      code,
      accepted: Array.from(printed.matchAll(/^accepted (\d+)\n/gm), ([, n]) => Number(n)),
      prompts: all.filter(({ type }) => type === "user").map(({ message }) => Number.parseInt(message.content)),
      titleAt: text.lastIndexOf('"custom-title"') - text.length,
      left: fs.readdirSync(path.join(projects, "-work"))
    }
  }).pipe(Effect.scoped)

describe("a program that ends", () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it.live(`by ${signal} under runMain: all that was accepted is written, and the session is let go`, () =>
      Effect.gen(function* () {
        const { accepted, code, left, prompts, titleAt } = yield* ended("signal", signal)
        assert.isAbove(accepted.length, 150)
        assert.deepStrictEqual(
          prompts.slice(0, accepted.length),
          accepted.map((_, n) => n)
        )
        // The signal may fall between accepting a prompt and saying so.
        assert.isAtMost(prompts.length - accepted.length, 1)
        assert.strictEqual(code, 130)
        assert.isAbove(titleAt, -65536)
        assert.deepStrictEqual(left, [`${sessionId}.jsonl`])
      })
    )
  }

  it.live("by process.exit: flushSync in its hook writes all that was accepted, and restates", () =>
    Effect.gen(function* () {
      const { accepted, code, prompts, titleAt } = yield* ended("exit")
      assert.strictEqual(code, 3)
      assert.deepStrictEqual([accepted.length, prompts], [100, accepted])
      assert.isAbove(titleAt, -65536)
    })
  )
})

describe("a log that is taken away under an open session", () => {
  for (const [what, takeAway] of [
    ["rm -rf", (directory: string) => fs.rmSync(directory, { recursive: true })],
    ["mv", (directory: string) => fs.renameSync(directory, `${directory}-elsewhere`)]
  ] as const) {
    it.live(`${what}: is made again, 0600 below 0700, with all that is accepted from then on`, () =>
      Effect.gen(function* () {
        const projects = path.join(yield* Temporary.directory, "projects")
        const layer = SessionWriter.layer.pipe(Layer.provideMerge(FileEntryLog.layerWith({ projects })))
        const log = EntryLog.session("-work", sessionId)
        const file = EntryLog.pathOf(projects, log)
        const before = yield* Effect.gen(function* () {
          const transcript = yield* Transcript.open({ sessionId, cwd: "/work", version: "2.1.0" })
          yield* transcript.append(Message.user("one"))
          yield* transcript.flush
          const before = fs.readFileSync(file, "utf8")
          takeAway(projects)
          yield* transcript.append(Message.user("two"))
          yield* transcript.flush
          yield* transcript.append(Message.user("three"))
          return before
        }).pipe(Effect.scoped, Effect.provide(layer))
        const said = fs
          .readFileSync(file, "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line).message.content)
        assert.deepStrictEqual(said, ["two", "three"])
        assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
        assert.strictEqual(fs.statSync(path.dirname(file)).mode & 0o777, 0o700)
        if (what === "mv") {
          const moved = path.join(`${projects}-elsewhere`, path.relative(projects, file))
          assert.strictEqual(fs.readFileSync(moved, "utf8"), before)
        }
      }).pipe(Effect.scoped)
    )
  }
})
