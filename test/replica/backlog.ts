/**
 * A log that grew while the remote was away: it is sent in batches, and what is held is one batch, however much is behind.
 */
import { Effect } from "effect"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import * as Remote from "./remote.ts"
import * as Replicating from "./running.ts"

const sessionId = "00000000-0000-4000-8000-0000000000b4"
const BATCH = 256 << 10

/** So many bytes behind; gives what was held, the growth of the process, and how long catching up took. */
export const once = (bytes: number) =>
  Effect.gen(function* () {
    const directory = yield* Temporary.directory
    const main = path.join(directory, "projects", "-work", `${sessionId}.jsonl`)
    fs.mkdirSync(path.dirname(main), { recursive: true })
    const remote = yield* Remote.make("sqlite", { seed: 1, percent: 0 })
    let count = 0
    const write = (most: number): void => {
      const fd = fs.openSync(main, "a")
      for (let size = 0; size < most;) {
        const lines = Array.from({ length: 256 }, () => {
          const content = "x".repeat(300 + ((count * 7919) % 3_000))
          return `${JSON.stringify({ type: "user", uuid: `m${count++}`, message: { content }, sessionId })}\n`
        }).join("")
        size += fs.writeSync(fd, lines)
      }
      fs.closeSync(fd)
    }
    // The first megabytes warm the program up.
    write(8 << 20)
    const replicator = Replicating.start(main, remote.url)
    yield* Effect.addFinalizer(() => Effect.promise(() => replicator.kill()))
    yield* Effect.promise(() => replicator.until(({ _tag }) => _tag === "Live"))
    const before = replicator.told().at(-1)!
    yield* Effect.promise(remote.kill)
    write(bytes)
    yield* Effect.promise(() => replicator.until(({ _tag }) => _tag === "Backoff"))
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1_000)))
    const away = replicator.told().length
    yield* Effect.promise(remote.start)
    const began = performance.now()
    const after = yield* Effect.promise(() => replicator.until(({ _tag }) => _tag === "Live", away, 600))
    const seconds = (performance.now() - began) / 1000
    const size = fs.statSync(main).size
    assert.ok(after.held.read <= BATCH, `read ${after.held.read} bytes at once`)
    assert.ok(after.held.batch <= BATCH, `sent ${after.held.batch} bytes at once`)
    const there = yield* remote.text(sessionId)
    assert.equal(there.length, size)
    return { megabytes: bytes / 2 ** 20, ...after.held, growth: after.held.rss - before.held.rss, seconds }
  }).pipe(Effect.scoped)
