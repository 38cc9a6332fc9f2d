/**
 * A program that wants a session which others want too, and has it for some entries at a time, until it is killed:
 * `node contender.ts PROJECTS SESSION SEED DIES_AT`. From its first try to take a lock on it counts the changes that it
 * makes to lock files, and dies before or after number DIES_AT; never with -1.
 *
 * It prints `open TURN`, `accepted N`, `flushed N`, `closing TURN`, unbuffered, each behind a time that all programs share.
 * Its prompts say `PID TURN N`.
 */
import * as Message from "@reprise/domain/Message"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import * as Seeded from "./seeded.ts"

const [projects = "", sessionId = "", seed = "0", diesAt = "-1"] = process.argv.slice(2)
const random = Seeded.make(Number(seed))
const layer = SessionWriter.layer.pipe(Layer.provideMerge(FileEntryLog.layerWith({ projects })))

/** Counts the changes to lock files from the first link on. */
const dying = (): void => {
  let count = -1
  const isAfter = random() < 0.5
  const change = (name: "linkSync" | "renameSync" | "rmSync" | "writeFileSync" | "ftruncateSync"): void => {
    const made = fs[name] as (...given: ReadonlyArray<unknown>) => unknown
    const counted = (...given: ReadonlyArray<unknown>): unknown => {
      const isLock = name === "ftruncateSync" || String(given[0]).includes(".lock")
      if (isLock && (name === "linkSync" || count >= 0)) count++
      if (isLock && count === Number(diesAt) && !isAfter) process.kill(process.pid, "SIGKILL")
      try {
        return made(...given)
      } finally {
        if (isLock && count === Number(diesAt)) process.kill(process.pid, "SIGKILL")
      }
    }
    Object.assign(fs, { [name]: counted })
  }
  for (const name of ["linkSync", "renameSync", "rmSync", "writeFileSync", "ftruncateSync"] as const) change(name)
  syncBuiltinESMExports()
}

const say = (what: string): void => void fs.writeSync(1, `${process.hrtime.bigint()} ${what}\n`)

let n = 0
const once = Effect.fnUntraced(function* (turn: number) {
  const transcript = yield* Transcript.open({ sessionId, cwd: "/work", version: "2.1.0" })
  say(`open ${turn}`)
  yield* Effect.forkScoped(Stream.runForEach(transcript.foreign, () => Effect.sync(() => say("foreign 0"))))
  for (let left = 1 + Seeded.below(random, 60); left > 0; left--) {
    yield* transcript.append(Message.user(`${process.pid} ${turn} ${n}`))
    say(`accepted ${n}`)
    if (random() < 0.1) {
      yield* transcript.flush
      say(`flushed ${n}`)
    }
    n++
    if (random() < 0.3) yield* Effect.sleep("1 millis")
  }
  say(`closing ${turn}`)
}, Effect.scoped)

const program = Effect.gen(function* () {
  if (diesAt !== "-1") dying()
  for (let turn = 0; ;) {
    const opened = yield* Effect.as(once(turn), true).pipe(
      Effect.catchTag("SessionLocked", () => Effect.succeed(false))
    )
    if (opened) turn++
    yield* Effect.sleep("1 millis")
  }
})

Effect.runFork(Effect.provide(program, layer))
