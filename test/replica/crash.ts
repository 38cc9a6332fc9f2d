/**
 * kill -9 of replicator and server while the logs of a session grow, with lines torn in the middle of being written: at
 * the end the remote holds the bytes of every log, and no line twice.
 */
import { Effect } from "effect"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as Seeded from "../crash/seeded.ts"
import * as Growth from "../history/growth.ts"
import * as Temporary from "../ingress/hydrated.ts"
import * as Remote from "./remote.ts"
import * as Replicating from "./running.ts"

/** Milliseconds that a line takes to be written, in the mean. */
const LINE = 5

export interface Options {
  readonly store: Remote.Store
  readonly kills: number
  /** How many are written around each kill. */
  readonly lines: number
}

const sleep = (millis: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, millis)))

export const once = (random: Seeded.Random, { kills, lines, store }: Options) =>
  Effect.gen(function* () {
    // The logs grow beside what is killed, so they draw from chance apart.
    const session = Growth.make(yield* Temporary.directory, Seeded.make(Seeded.below(random, 1 << 30)))
    const remote = yield* Remote.make(store, { seed: Seeded.below(random, 1 << 30), percent: 20 })
    // More batches than the logs would need, so that some are under way whenever one dies.
    const start = () => Replicating.start(session.main, remote.url, { batchBytes: 16 << 10 })
    let replicator = start()
    yield* Effect.addFinalizer(() => Effect.promise(() => replicator.kill()))
    for (let kill = 0; kill < kills; kill++) {
      yield* Effect.promise(() => replicator.port)
      const growing = session.grow(lines)
      yield* sleep(Seeded.below(random, lines * LINE))
      if (random() < 0.4) {
        yield* Effect.promise(remote.kill)
        yield* Effect.promise(remote.start)
      } else {
        yield* Effect.promise(() => replicator.kill())
        replicator = start()
      }
      yield* Effect.promise(() => growing)
    }
    for (const [sub, file] of session.logs) {
      const here = fs.readFileSync(file, "utf8")
      let there = ""
      for (let waited = 0; waited < 400 && there !== here; waited++) {
        if (waited > 0) yield* sleep(150)
        there = yield* Effect.orElseSucceed(remote.text(Growth.sessionId, sub), () => "")
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
