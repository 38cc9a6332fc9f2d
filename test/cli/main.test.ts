/** The command as a process of its own, with what only a process has: an exit code, pipes, and memory that ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Notation from "@reprise/domain/testing/Notation"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { grow, snapshot, tree } from "./checking.ts"
import { fixture, write } from "./running.ts"
import { end, root, runMain as run, start } from "./starting.ts"

describe("reprise", () => {
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
      const running = start(["resume", "--json", ...Array(300).fill(fixture("interrupted")), "missing.jsonl"])
      running.stdout.on("data", () => {
        running.stdout.pause()
        setTimeout(() => running.stdout.resume(), 50)
      })
      const { code, out } = yield* end(running)
      assert.strictEqual(code, 1)
      assert.strictEqual(out.trimEnd().split("\n").length, 301)
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

  it.live("says the version of its package, from wherever it is started", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const manifest = JSON.parse(fs.readFileSync(path.join(root, "packages/cli/package.json"), "utf8"))
      const started = start(["--version"], { cwd: directory })
      assert.deepStrictEqual(yield* end(started), { code: 0, out: `reprise v${manifest.version}\n`, errors: "" })
    }).pipe(Effect.scoped)
  )

  it.live("explains a transcript, and one message of it", () =>
    Effect.gen(function* () {
      const log = write(yield* Temporary.directory, "log", "u1-a1 x9-u2-a2 a1-u3")
      const { code, errors, out } = yield* run("explain", log)
      assert.deepStrictEqual([code, errors], [0, ""])
      assert.include(
        out,
        "\n  line 3  u2  x9 (in no line) → a1\n          The parent x9 of u2 is in no line; it hangs on a1.\n"
      )
      const message = yield* run("explain", "--message", "u2", log)
      assert.include(message.out, "\nPlace         on the branch up to a2, that left at a1\n")
      const json = yield* run("explain", "--json", log)
      assert.strictEqual(JSON.parse(json.out.trimEnd().split("\n").at(-1)!).record, "sum")
      const unknown = yield* run("explain", "--message", "u9", log)
      assert.deepStrictEqual([unknown.code, unknown.errors], [1, ""])
      assert.match(unknown.out, /^MessageUnknown /)
    }).pipe(Effect.scoped)
  )

  it.live("checks a tree of transcripts, says by its exit code what it found, and changes nothing", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      grow(directory, tree)
      const before = snapshot(directory)
      const [text, json, strict] = yield* Effect.all(
        [run("doctor", directory), run("doctor", "--json", directory), run("doctor", "--strict", directory)],
        { concurrency: 2 }
      )
      assert.deepStrictEqual([text.code, text.errors], [0, ""])
      assert.match(text.out, /^severity {2}kind .*\nloss +torn-line +1 +1 {2}shop/)
      assert.include(text.out, "every message accounted for, in 4 of 4 files")
      assert.deepStrictEqual([json.code, json.out.trimEnd().split("\n").length], [0, 7])
      assert.deepStrictEqual([strict.code, strict.errors, strict.out], [1, "", text.out])
      assert.deepStrictEqual(snapshot(directory), before)

      fs.symlinkSync(path.join(directory, "gone"), path.join(directory, "broken.jsonl"))
      const broken = yield* run("doctor", directory)
      assert.strictEqual(broken.code, 1)
      assert.include(broken.out, "Not read (1)\n  broken.jsonl  no file; check the path\n")
    }).pipe(Effect.scoped)
  )

  it.live("checks many files in the memory of one", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const log = Notation.bytes(long(800))
      grow(directory, Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}/log.jsonl`, log])))
      const running = start(["doctor", directory], { node: ["--max-old-space-size=48"] })
      const { code, out } = yield* end(running)
      assert.strictEqual(code, 0)
      assert.include(out, "80000 messages: 80000 in the conversation")
    }).pipe(Effect.scoped)
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
