/**
 * A program that records until it ends: `node ending-child.ts PROJECTS SESSION HOW`. It numbers its prompts, and prints
 * `accepted n` unbuffered when one is accepted.
 *
 *   signal   under `runMain`, until a signal comes
 *   exit     without `runMain`; it calls `process.exit` in the middle, with a hook that flushes
 */
import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as Message from "@reprise/domain/Message"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fs from "node:fs"

const [projects = "", sessionId = "", how = ""] = process.argv.slice(2)
// The disk is asked once in an hour, so that much is not committed at any time.
const layer = SessionWriter.layerWith({ durability: "fsync-interval", interval: "1 hour" }).pipe(
  Layer.provideMerge(FileEntryLog.layerWith({ projects }))
)

const program = Effect.gen(function* () {
  const transcript = yield* Transcript.open({ sessionId, cwd: "/work", version: "2.1.0" })
  const runSync = Effect.runSyncWith(yield* Effect.context<never>())
  if (how === "exit") process.on("exit", () => runSync(transcript.flushSync))
  yield* transcript.title("T")
  for (let n = 0; ; n++) {
    yield* transcript.append(Message.user(`${n} ${"x".repeat(2000)}`))
    fs.writeSync(1, `accepted ${n}\n`)
    if (how === "exit" && n === 99) process.exit(3)
    if (n % 7 === 0) yield* Effect.yieldNow
    if (n === 2000) return yield* Effect.never
  }
}).pipe(Effect.scoped, Effect.provide(layer))

if (how === "signal") NodeRuntime.runMain(program)
else Effect.runFork(program)
