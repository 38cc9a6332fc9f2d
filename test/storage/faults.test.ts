/** What the writer does when the disk fails, and how it says so. */
import { assert, describe, it } from "@effect/vitest"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import { Deferred, Effect, Layer, Stream, SubscriptionRef } from "effect"
import { TestClock } from "effect/testing"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as SmallDisk from "../smallDisk.ts"
import * as Temporary from "./temporary.ts"
import { lines, log, numbers, textOf, withFiles, withWriter } from "./writers.ts"

type Port = EntryLog.EntryLog["Service"]

const mistaken = (): never => {
  throw new Error("mistake")
}

describe("status", () => {
  it.effect("says since when, why and how many, and is well again when the disk is", () =>
    withWriter({}, ({ append, appendAll, flush, status }, { breakDown, mend }) =>
      Effect.gen(function* () {
        const seen: Array<SessionWriter.Status> = []
        yield* Effect.forkChild(
          Stream.runForEach(SubscriptionRef.changes(status), (s) => Effect.sync(() => seen.push(s)))
        )
        yield* TestClock.adjust("1 hour")
        yield* breakDown({ reason: "InputOutput", after: 20 })
        yield* appendAll(log, numbers(0, 3))
        yield* Effect.flip(flush())
        yield* breakDown({ reason: "InputOutput" })
        yield* append(log, { type: "n", n: 3 })
        yield* TestClock.adjust("1 minute")
        const now = yield* SubscriptionRef.get(status)
        assert(now._tag === "Degraded")
        assert.deepStrictEqual(
          [now.since, now.queued, now.logs.map(({ log, why }) => [log, why.reason])],
          [3_600_000, 3, [[log, "InputOutput"]]]
        )
        yield* mend
        yield* TestClock.adjust("5 seconds")
        yield* Effect.yieldNow
        assert.strictEqual((yield* SubscriptionRef.get(status))._tag, "Ok")
        assert.deepStrictEqual([seen[0]?._tag, seen[1]?._tag, seen.at(-1)?._tag], ["Ok", "Degraded", "Ok"])
      })
    )
  )
})

describe("a log that throws", () => {
  const mistakes: ReadonlyArray<readonly [string, (port: Port) => Port]> = [
    ["append", (port) => ({ ...port, blocking: undefined, append: () => Effect.die("mistake") })],
    ["sync", (port) => ({ ...port, sync: () => Effect.die("mistake") })],
    ["blocking append", (port) => ({ ...port, blocking: { ...port.blocking!, append: mistaken } })]
  ]
  for (const [name, throws] of mistakes) {
    it.effect(`${name}: is one that fails; whoever flushes is told, and all is written when it is well again`, () =>
      Effect.gen(function* () {
        const port = yield* EntryLog.EntryLog
        let current = throws(port)
        const mistaking: Port = {
          ...port,
          blocking: current.blocking && { ...port.blocking!, append: (...given) => current.blocking!.append(...given) },
          append: (...given) => current.append(...given),
          sync: (...given) => current.sync(...given)
        }
        const writer = SessionWriter.layerWith({ durability: "fsync" }).pipe(
          Layer.provide(Layer.succeed(EntryLog.EntryLog, mistaking))
        )
        yield* SessionWriter.SessionWriter.use(({ appendAll, flush }) =>
          Effect.gen(function* () {
            yield* appendAll(log, numbers(0, 3))
            const error = yield* Effect.flip(flush())
            assert(error._tag === "FlushError")
            assert.deepStrictEqual([error.queued, error.cause.reason], [3, "Other"])
            current = port
            yield* appendAll(log, numbers(3, 5))
            yield* flush()
            assert.strictEqual(yield* textOf(log), lines(0, 5))
          })
        ).pipe(Effect.provide(writer))
      }).pipe(Effect.provide(EntryLog.layerMemory))
    )
  }
})

describe("a disk that fails to sync", () => {
  it.effect("gets the bytes again, where they were, before it is asked again", () =>
    withWriter({ durability: "fsync" }, ({ appendAll, flush }, { operations, plan }) =>
      Effect.gen(function* () {
        yield* plan({ operation: "sync", reason: "InputOutput" })
        yield* appendAll(log, numbers(0, 3))
        const error = yield* Effect.flip(flush())
        assert(error._tag === "FlushError")
        assert.deepStrictEqual([error.queued, error.cause.operation, error.cause.reason], [3, "sync", "InputOutput"])
        assert.deepStrictEqual(yield* operations, ["append"])
        yield* flush()
        assert.deepStrictEqual(yield* operations, ["rewrite", "sync"])
        assert.strictEqual(yield* textOf(log), lines(0, 3))
      })
    )
  )

  it.effect("a log that is gone by then is written anew", () =>
    withFiles(
      ({ appendAll, flush, status }, file) =>
        Effect.gen(function* () {
          yield* appendAll(log, numbers(0, 3))
          yield* flush()
          fs.rmSync(path.dirname(file), { recursive: true })
          yield* appendAll(log, numbers(3, 5))
          yield* flush()
          assert.strictEqual(fs.readFileSync(file, "utf8"), lines(3, 5))
          assert.strictEqual((yield* SubscriptionRef.get(status))._tag, "Ok")
        }),
      { durability: "fsync" }
    )
  )

  it.effect("bytes are rewritten in place, in the same file only", () =>
    Effect.gen(function* () {
      const projects = yield* Temporary.directory
      const bytes = new TextEncoder().encode(lines(0, 2))
      yield* EntryLog.EntryLog.use((port) =>
        Effect.gen(function* () {
          const file = EntryLog.pathOf(projects, log)
          yield* port.append(log, new TextEncoder().encode("{}\n"))
          const { start } = yield* port.append(log, bytes)
          yield* port.rewrite(log, start, bytes)
          assert.strictEqual(fs.readFileSync(file, "utf8"), `{}\n${lines(0, 2)}`)
          fs.renameSync(file, `${file}.old`)
          fs.writeFileSync(file, "x".repeat(100))
          assert.strictEqual((yield* Effect.flip(port.rewrite(log, start, bytes))).reason, "NotFound")
          assert.strictEqual(fs.readFileSync(file, "utf8"), "x".repeat(100))
        })
      ).pipe(Effect.provide(FileEntryLog.layerWith({ projects })))
    }).pipe(Effect.scoped)
  )
})

describe("foreign writers", () => {
  it.effect("are told, and their bytes stay", () =>
    withFiles(({ appendAll, flush, onForeign }, file) =>
      Effect.gen(function* () {
        const told = yield* Deferred.make<SessionWriter.ForeignWriter>()
        yield* onForeign(log, (found) => Deferred.doneUnsafe(told, Effect.succeed(found)))
        yield* appendAll(log, numbers(0, 1))
        yield* flush()
        fs.appendFileSync(file, '{"type":"tag"}\n')
        yield* appendAll(log, numbers(1, 2))
        yield* flush()
        const { ours, size } = yield* Deferred.await(told)
        assert.deepStrictEqual([ours, size], [19, 34])
        assert.strictEqual(fs.readFileSync(file, "utf8"), `${lines(0, 1)}{"type":"tag"}\n${lines(1, 2)}`)
      }).pipe(Effect.scoped)
    )
  )
})

describe("a machine that refuses", () => {
  it.live("a file system that turns read-only: ReadOnly, kept, written when it is writable again", () =>
    Effect.gen(function* () {
      const disk = yield* SmallDisk.make("256k")
      if (disk === undefined) return console.log("skipped: no file system can be mounted here")
      const projects = path.join(disk.directory, "projects")
      const layer = SessionWriter.layer.pipe(Layer.provide(FileEntryLog.layerWith({ projects })))
      yield* SessionWriter.SessionWriter.use(({ appendAll, flush }) =>
        Effect.gen(function* () {
          disk.remount("ro")
          yield* appendAll(log, numbers(0, 3))
          const error = yield* Effect.flip(flush())
          assert(error._tag === "FlushError")
          assert.strictEqual(error.cause.reason, "ReadOnly")
          disk.remount("rw")
          yield* flush()
          assert.strictEqual(fs.readFileSync(EntryLog.pathOf(projects, log), "utf8"), lines(0, 3))
        })
      ).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.effect("no descriptors left: ours are closed to make room", () =>
    Effect.sync(() => {
      const child = fileURLToPath(new URL("../crash/descriptors.ts", import.meta.url))
      const run = spawnSync("sh", ["-c", 'ulimit -n 64 && exec "$0" --no-warnings "$1"', process.execPath, child], {
        encoding: "utf8"
      })
      assert.strictEqual(run.stdout, "300 lines in 100 logs\n", run.stderr)
    })
  )

  it.effect("an ordinary user: a closed directory is Denied, one that others may write is refused", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const child = fileURLToPath(new URL("../crash/denied.ts", import.meta.url))
      if (process.getuid?.() === 0) fs.chownSync(directory, 65534, 65534)
      const isRoot = process.getuid?.() === 0
      const shared = path.join(yield* Temporary.directory, "shared")
      fs.mkdirSync(shared)
      fs.chmodSync(shared, 0o777)
      fs.chmodSync(path.dirname(shared), 0o755)
      const run = spawnSync(process.execPath, ["--no-warnings", child, directory, shared], {
        encoding: "utf8",
        ...(isRoot && { uid: 65534, gid: 65534 })
      })
      if (/EACCES.*open|Cannot find module|EACCES: permission denied, (l?stat|open)/.test(run.stderr)) {
        return console.log("skipped: an ordinary user cannot read this repository")
      }
      // The shared directory belongs to another user only where this one is root.
      assert.strictEqual(run.stdout, `Denied 3\n3 lines\n${isRoot ? "SharedDirectory" : "written"}\n`, run.stderr)
    }).pipe(Effect.scoped)
  )
})

describe("a log that is moved away while entries wait", () => {
  it.effect("what waits goes to a new file at its path", () =>
    withFiles(({ appendAll, flush }, file) =>
      Effect.gen(function* () {
        yield* appendAll(log, numbers(0, 2))
        yield* flush()
        yield* appendAll(log, numbers(2, 4))
        fs.renameSync(file, `${file}.old`)
        yield* flush()
        assert.strictEqual(fs.readFileSync(`${file}.old`, "utf8"), lines(0, 2))
        assert.strictEqual(fs.readFileSync(file, "utf8"), lines(2, 4))
        assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
      })
    )
  )
})
