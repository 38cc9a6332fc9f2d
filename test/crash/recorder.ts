/**
 * A program that records a session at full speed until it is killed, or has recorded enough:
 * `node recorder.ts PROJECTS SESSION FIRST DURABILITY [COUNT]`. It numbers its prompts from FIRST on and prints
 * `accepted n` and `flushed n`, unbuffered.
 */
import * as Message from "@reprise/domain/Message"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fs from "node:fs"

const [projects = "", sessionId = "", first = "0", durability = "os", count = "Infinity"] = process.argv.slice(2)
const layer = SessionWriter.layerWith({
  batchBytes: 4096,
  durability: durability as "os" | "fsync" | "fsync-interval"
}).pipe(Layer.provideMerge(FileEntryLog.layerWith({ projects })))

const program = Effect.gen(function* () {
  const transcript = yield* Transcript.open({ sessionId, cwd: "/work", version: "2.1.0" })
  for (let n = Number(first); n < Number(first) + Number(count); n++) {
    yield* transcript.append(Message.user(`${n} ${"x".repeat((n * 7919) % 3000)}`))
    fs.writeSync(1, `accepted ${n}\n`)
    if (n % 50 === 49) {
      yield* transcript.flush
      fs.writeSync(1, `flushed ${n}\n`)
    } else if (n % 7 === 0) yield* Effect.yieldNow
  }
})

Effect.runFork(program.pipe(Effect.scoped, Effect.provide(layer)))
