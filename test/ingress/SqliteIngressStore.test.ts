import { assert, describe, it, layer } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as SqliteIngressStore from "@reprise/ingress/SqliteIngressStore"
import * as IngressStoreSuite from "@reprise/ingress/testing/IngressStoreSuite"
import { append, holds, keys, native, newStream } from "@reprise/ingress/testing/store/lines"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Temporary from "./temporary.ts"

const fileIn = Effect.map(Temporary.directory, (directory) => path.join(directory, "ingress.db"))
const store = Layer.unwrap(Effect.map(fileIn, (file) => SqliteIngressStore.layer({ file })))

layer(store, { excludeTestServices: true })("SqliteIngressStore", (it) => {
  for (const { name, run } of IngressStoreSuite.tests) it.effect(name, () => run)
})

/** Runs with the store in this file, opened for it and closed after it. */
const opened = <A, E>(file: string, run: Effect.Effect<A, E, IngressStore.IngressStore>) =>
  Effect.provide(run, SqliteIngressStore.layer({ file }))
const backend = IngressStore.IngressStore.use(({ backendId }) => Effect.succeed(backendId))
const refusal = (file: string) => Effect.map(Effect.flip(opened(file, backend)), ({ message }) => message)

describe("the file", () => {
  it.live("holds what was answered, and keeps its id", () =>
    Effect.gen(function* () {
      const file = yield* fileIn
      const stream = newStream()
      const id = yield* opened(file, Effect.andThen(append(stream, native("a .1 ~2")), backend))
      yield* opened(
        file,
        Effect.gen(function* () {
          yield* append(stream, native("b", "a"))
          yield* holds(stream, "a .1 ~2 b")
          assert.strictEqual(yield* backend, id)
        })
      )
      assert.notStrictEqual(yield* opened(yield* fileIn, backend), id)
    })
  )

  it.live("is for its user alone, as are those beside it", () =>
    Effect.gen(function* () {
      const file = yield* fileIn
      const umask = process.umask(0)
      try {
        fs.writeFileSync(file, "", { mode: 0o666 })
        yield* opened(
          file,
          Effect.andThen(
            append(newStream(), native("a")),
            Effect.sync(() => {
              for (const suffix of ["", "-wal", "-shm"])
                assert.strictEqual(fs.statSync(file + suffix).mode & 0o777, 0o600)
            })
          )
        )
      } finally {
        process.umask(umask)
      }
    })
  )

  it.live("may be opened by two, who write after each other and hear of each other", () =>
    Effect.gen(function* () {
      const file = yield* fileIn
      const stream = newStream()
      const write = (who: string) =>
        opened(
          file,
          Effect.forEach(Array.from({ length: 20 }), (_, i) => append(stream, native(`${who}${i}`, "*")))
        )
      yield* Effect.all([write("a"), write("b")], { concurrency: 2 })
      const found = (yield* opened(file, keys(stream))).split(" ")
      assert.strictEqual(found.length, 40)
      for (const who of ["a", "b"])
        assert.deepStrictEqual(
          found.filter((key) => key.startsWith(who)),
          Array.from({ length: 20 }, (_, i) => `${who}${i}`)
        )
    })
  )

  it.live("of a later program is left alone", () =>
    Effect.gen(function* () {
      const file = yield* fileIn
      yield* opened(file, backend)
      const database = new DatabaseSync(file)
      database.exec("PRAGMA user_version = 1000")
      database.close()
      assert.match(yield* refusal(file), /has version 1000, this program knows \d+\. Run the later program/)
    })
  )

  it.live("is none where it cannot be one, and why is said", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const target = path.join(directory, "target")
      fs.writeFileSync(target, "")
      fs.symlinkSync(target, path.join(directory, "link"))
      assert.match(yield* refusal(path.join(directory, "link")), /ELOOP/)
      assert.match(yield* refusal(path.join(directory, "missing/x.db")), /ENOENT/)
      fs.writeFileSync(target, "this is no database, and it is longer than the header of one".repeat(20))
      assert.match(yield* refusal(target), /not a database/)
      fs.chmodSync(directory, 0o777)
      assert.match(yield* refusal(path.join(directory, "x.db")), /others may write .*chmod go-w/)
    })
  )
})
