/**
 * kill -9 of replicator and server while a log grows, with lines torn in the middle of being written: at the end the
 * remote holds the bytes of every log, and no line twice.
 */
import { Effect } from "effect"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Seeded from "../crash/seeded.ts"
import * as Temporary from "../ingress/hydrated.ts"
import * as Remote from "./remote.ts"
import * as Replicating from "./running.ts"

const sessionId = "00000000-0000-4000-8000-0000000000c7"

/** Writes lines to logs of a session, some in two pieces, as a program does that is cut in the middle of a write. */
const writing = (main: string, random: Seeded.Random) => {
  const agent = path.join(path.dirname(main), sessionId, "subagents", "agent-a.jsonl")
  fs.mkdirSync(path.dirname(agent), { recursive: true })
  let count = 0
  let half: { readonly file: string; readonly rest: string } | undefined
  return {
    files: { "": main, a: agent },
    write: (): void => {
      if (half !== undefined) fs.appendFileSync(half.file, half.rest)
      half = undefined
      const uuid = `m${count++}`
      const kind = Seeded.below(random, 10)
      const text = "x".repeat(Seeded.below(random, 3_000))
      const entry =
        kind < 2 ? { type: "mode", mode: text.slice(0, 9) } : { type: "user", uuid, message: { content: text } }
      const line = kind === 9 ? `torn ${text.slice(0, 40)}\n` : `${JSON.stringify({ ...entry, sessionId })}\n`
      const file = kind === 3 ? agent : main
      const cut = kind === 4 ? Seeded.below(random, line.length) : line.length
      fs.appendFileSync(file, line.slice(0, cut))
      if (cut < line.length) half = { file, rest: line.slice(cut) }
    },
    end: (): void => {
      if (half !== undefined) fs.appendFileSync(half.file, half.rest)
    }
  }
}

const sleep = (millis: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, millis)))

/** One session; each kill falls somewhere in the writing of `lines` lines. */
export const once = (random: Seeded.Random, { kills, lines }: { readonly kills: number; readonly lines: number }) =>
  Effect.gen(function* () {
    const directory = yield* Temporary.directory
    const main = path.join(directory, "projects", "-work", `${sessionId}.jsonl`)
    const { end, files, write } = writing(main, random)
    const remote = yield* Remote.make(directory, { seed: Seeded.below(random, 1 << 30), percent: 20 })
    let replicator = Replicating.start(main, remote.url)
    yield* Effect.addFinalizer(() => Effect.promise(() => replicator.kill()))
    for (let kill = 0; kill < kills; kill++) {
      yield* Effect.promise(() => replicator.port)
      const slow = Seeded.below(random, lines)
      for (let line = 0; line < lines; line++) {
        write()
        if (line >= slow) yield* sleep(1)
      }
      yield* sleep(Seeded.below(random, 30))
      if (random() < 0.4) {
        yield* Effect.promise(remote.kill)
        write()
        yield* Effect.promise(remote.start)
      } else {
        yield* Effect.promise(() => replicator.kill())
        write()
        replicator = Replicating.start(main, remote.url)
      }
    }
    end()
    for (const [sub, file] of Object.entries(files)) {
      if (!fs.existsSync(file)) continue
      const here = fs.readFileSync(file, "utf8")
      let there = ""
      for (let waited = 0; waited < 400 && there !== here; waited++) {
        if (waited > 0) yield* sleep(150)
        there = yield* Effect.orElseSucceed(remote.text(sessionId, sub), () => "")
        assert.equal(here.slice(0, there.length), there, `${sub || "main"}: the remote is no prefix of the log`)
      }
      assert.equal(
        there.length,
        here.length,
        `${sub || "main"}: the remote never caught up\n${replicator.logged().slice(-900)}`
      )
    }
    return remote.counts()
  }).pipe(Effect.scoped)
