import { assert, describe, it, layer } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as SqliteIngressStore from "@reprise/ingress/SqliteIngressStore"
import * as IngressStoreSuite from "@reprise/ingress/testing/IngressStoreSuite"
import { append, holds, keys, lines, native, newStream } from "@reprise/ingress/testing/store/lines"
import type * as AppendChain from "@reprise/ingress/AppendChain"
import type * as StreamLine from "@reprise/ingress/StreamLine"
import { Effect, Fiber, Result } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Worker } from "node:worker_threads"
import * as SmallDisk from "../smallDisk.ts"
import * as Stores from "./stores.ts"
import * as Temporary from "./temporary.ts"

layer(Stores.sqlite, { excludeTestServices: true })("SqliteIngressStore", (it) => {
  for (const { name, run } of IngressStoreSuite.tests) it.effect(name, () => run)
})

/** Runs with the store in this file, opened for it and closed after it. */
const opened = <A, E>(file: string, run: Effect.Effect<A, E, IngressStore.IngressStore>) =>
  Effect.provide(run, SqliteIngressStore.layer({ file }))
const backend = IngressStore.IngressStore.use(({ backendId }) => Effect.succeed(backendId))
const refusal = (file: string) => Effect.map(Effect.flip(opened(file, backend)), ({ message }) => message)

// Each opening starts two threads, so these tests are few.
describe("the file", () => {
  it.live("holds what was answered, keeps its id, and is for its user alone", () =>
    Effect.gen(function* () {
      const file = yield* Stores.fileIn
      const stream = newStream()
      fs.writeFileSync(file, "", { mode: 0o666 })
      fs.chmodSync(file, 0o666)
      const id = yield* opened(file, Effect.andThen(append(stream, native("a .1 ~2")), backend))
      yield* opened(
        file,
        Effect.gen(function* () {
          yield* append(stream, native("b", "a"))
          yield* holds(stream, "a .1 ~2 b")
          assert.strictEqual(yield* backend, id)
          for (const suffix of ["", "-wal", "-shm"]) assert.strictEqual(fs.statSync(file + suffix).mode & 0o777, 0o600)
        })
      )
    })
  )

  it.live("may be opened by two, who write after each other and read what the other wrote", () =>
    Effect.gen(function* () {
      const file = yield* Stores.fileIn
      const stream = newStream()
      const write = (who: string) =>
        Effect.forEach(Array.from({ length: 20 }), (_, i) => append(stream, native(`${who}${i}`, "*")))
      const all = Effect.map(
        Effect.repeat(Effect.delay(keys(stream), "20 millis"), { until: (found) => found.split(" ").length === 40 }),
        (found) => found.split(" ")
      )
      const [ids, found] = yield* Effect.all(
        [
          opened(file, Effect.andThen(write("a"), Effect.zip(backend, all))),
          opened(file, Effect.andThen(write("b"), Effect.zip(backend, all)))
        ],
        { concurrency: 2 }
      )
      assert.deepStrictEqual(ids, found)
      for (const who of ["a", "b"])
        assert.deepStrictEqual(
          found[1].filter((key) => key.startsWith(who)),
          Array.from({ length: 20 }, (_, i) => `${who}${i}`)
        )
      // A later program has been here meanwhile.
      const database = new DatabaseSync(file)
      database.exec("PRAGMA user_version = 1000")
      database.close()
      assert.match(yield* refusal(file), /has version 1000, this program knows \d+\. Run the later program/)
    })
  )

  it.live("a disk that is full takes nothing more, keeps what was answered, and goes on when there is space", () =>
    Effect.gen(function* () {
      const disk = yield* SmallDisk.make("512k")
      if (disk === undefined) return console.log("skipped: no file system can be mounted here")
      const file = path.join(disk.directory, "ingress.db")
      const stream = newStream()
      const long = (name: string): AppendChain.Attempt<StreamLine.StreamLine> => {
        const [line] = lines(name) as [StreamLine.StreamLine]
        return {
          ...native(name, "*"),
          lines: [{ ...line, text: `${line.text.slice(0, -1)},"x":"${"x".repeat(20_000)}"}` }]
        }
      }
      const answered: Array<string> = []
      yield* opened(
        file,
        Effect.gen(function* () {
          const told = yield* Effect.flip(
            Effect.forever(
              Effect.suspend(() => {
                const name = `a${answered.length}`
                return Effect.tap(append(stream, long(name)), () => Effect.sync(() => answered.push(name)))
              })
            )
          )
          assert.strictEqual(told._tag, "Unavailable")
          assert.isAbove(answered.length, 3)
          assert.strictEqual(yield* keys(stream), answered.join(" "))
          assert.isTrue(disk.remount("size=8m"))
          yield* append(stream, long("b"))
          assert.strictEqual(yield* keys(stream), [...answered, "b"].join(" "))
        })
      )
      assert.strictEqual(yield* opened(file, keys(stream)), [...answered, "b"].join(" "))
    })
  )

  it.live("a thread of the database that dies is started again, and who waited is told", () =>
    Effect.gen(function* () {
      const threads: Array<Worker> = []
      const met = (thread: Worker): number => threads.push(thread)
      process.on("worker", met)
      yield* Effect.addFinalizer(() => Effect.sync(() => process.off("worker", met)))
      const stream = newStream()
      const run = Effect.gen(function* () {
        yield* append(stream, native("a"))
        const waiting = yield* Effect.forkChild(Effect.result(append(stream, native("b", "*"))), {
          startImmediately: true
        })
        yield* Effect.promise(() => Promise.all(threads.map((thread) => thread.terminate())))
        const told = yield* Fiber.join(waiting)
        if (Result.isFailure(told)) assert.strictEqual(told.failure._tag, "Unavailable")
        // Safe after any answer: by its key it is there once.
        yield* append(stream, native("b", "*"))
        yield* append(stream, native("c", "b"))
        yield* holds(stream, "a b c")
      })
      yield* opened(yield* Stores.fileIn, run)
      assert.strictEqual(threads.length, 4)
    })
  )

  it.live("is none where it cannot be one, and why is said", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const target = path.join(directory, "target")
      fs.writeFileSync(target, "this is no database, and it is longer than the header of one".repeat(20))
      fs.symlinkSync(target, path.join(directory, "link"))
      assert.match(yield* refusal(path.join(directory, "link")), /ELOOP/)
      assert.match(yield* refusal(path.join(directory, "missing/x.db")), /ENOENT/)
      assert.match(yield* refusal(target), /not a database/)
      fs.chmodSync(directory, 0o777)
      assert.match(yield* refusal(path.join(directory, "x.db")), /others may write .*chmod go-w/)
    })
  )
})
