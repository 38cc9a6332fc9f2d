/** The command as a process of its own, with what only a process has: an exit code, pipes, and memory that ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Notation from "@reprise/domain/testing/Notation"
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as Temporary from "../storage/temporary.ts"
import { fixture, write } from "./running.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const main = "packages/cli/src/main.ts"
const { FORCE_COLOR: _, NO_COLOR: __, ...env } = process.env

const start = (
  args: ReadonlyArray<string>,
  options: { readonly node?: ReadonlyArray<string>; readonly env?: object } = {}
) =>
  spawn(process.execPath, [...(options.node ?? []), main, ...args], {
    cwd: root,
    env: { ...env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"]
  })

/** How a process ended, and what it printed; nobody reads its output until this is asked. */
const end = (running: ChildProcess) =>
  Effect.callback<{ readonly code: number | null; readonly out: string; readonly errors: string }>((resume) => {
    let out = ""
    let errors = ""
    running.stdout!.on("data", (data) => (out += data))
    running.stderr!.on("data", (data) => (errors += data))
    running.on("close", (code) => resume(Effect.succeed({ code, out, errors })))
    return Effect.sync(() => running.kill("SIGKILL"))
  })

const run = (...args: ReadonlyArray<string>) => Effect.suspend(() => end(start(args)))

describe("reprise", { timeout: 60_000 }, () => {
  it.live("runs from the root of the project, on paths as they are given", () =>
    Effect.gen(function* () {
      const file = path.relative(root, fixture("interrupted"))
      const { code, errors, out } = yield* run("resume", "--json", file)
      assert.deepStrictEqual([code, errors], [0, ""])
      const answer = JSON.parse(out)
      assert.strictEqual(answer.file, file)
      assert.strictEqual(answer.sessionId, "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e14")
      assert.strictEqual(answer.interruption.kind, "interrupted-turn")
      assert.deepStrictEqual(answer.messages.at(-1).blocks.at(-1), { type: "text", synthetic: true })
    })
  )

  it.live("ends with 1 when a file cannot be read, after the others are printed", () =>
    Effect.gen(function* () {
      const { code, errors, out } = yield* run("resume", "missing.jsonl", "test", fixture("damaged"))
      assert.deepStrictEqual([code, errors], [1, ""])
      assert.match(out, /^TranscriptUnreadable {2}missing\.jsonl: .* found no file/)
      assert.match(out, /\nTranscriptUnreadable {2}test: .* found a directory/)
      assert.include(out, "6 messages: 6 in the conversation")
    })
  )

  it.live("prints all of its output before it ends with 1, however slowly it is read", () =>
    Effect.gen(function* () {
      // Answers that are small each: the last ones wait in the process when the pipe is full.
      const running = start(["resume", "--json", ...Array(600).fill(fixture("interrupted")), "missing.jsonl"])
      running.stdout.on("data", () => {
        running.stdout.pause()
        setTimeout(() => running.stdout.resume(), 50)
      })
      const { code, out } = yield* end(running)
      assert.strictEqual(code, 1)
      assert.strictEqual(out.trimEnd().split("\n").length, 601)
    })
  )

  it.live("stops quietly when its reader has seen enough", () =>
    Effect.gen(function* () {
      const log = write(yield* Temporary.directory, "long", Notation.bytes(long(400)))
      const running = start(["resume", "--json", ...Array(50).fill(log)])
      running.stdout.once("data", () => running.stdout.destroy())
      const { code, errors } = yield* end(running)
      assert.deepStrictEqual([code, errors], [0, ""])
    }).pipe(Effect.scoped)
  )

  it.live("reads many files in the memory of one", () =>
    Effect.gen(function* () {
      const log = write(yield* Temporary.directory, "large", Notation.bytes(long(800)))
      // Held at once, the states of these would take more than twice as much.
      const running = start(["resume", "--json", ...Array(50).fill(log)], { node: ["--max-old-space-size=48"] })
      const { code, out } = yield* end(running)
      assert.strictEqual(code, 0)
      assert.strictEqual(out.match(/\n/g)?.length, 50)
    }).pipe(Effect.scoped)
  )

  it.live("paints on request only, where there is no terminal", () =>
    Effect.gen(function* () {
      const plain = yield* run("resume", fixture("interrupted"))
      assert.notInclude(plain.out, "\u001b")
      const painted = yield* end(start(["resume", fixture("interrupted")], { env: { FORCE_COLOR: "1" } }))
      assert.include(painted.out, "\u001b[31mloss")
    })
  )

  it.live("explains a mistake in the arguments", () =>
    Effect.gen(function* () {
      const { code, errors } = yield* run("resume", "--jsonn", "x")
      assert.strictEqual(code, 1)
      assert.include(errors, "--jsonn")
    })
  )
})

/** So many turns in a line. */
function long(turns: number): string {
  return Array.from({ length: turns }, (_, i) => `u${i}-a${i}`).join("-")
}
