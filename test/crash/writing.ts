/**
 * The writer alone: interrupted, on a simulated disk that crashes, and on a real one that is full.
 */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import { Cause, Effect, Exit, Fiber, Layer, Result, Scope, SubscriptionRef } from "effect"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as path from "node:path"
import * as SmallDisk from "../smallDisk.ts"
import * as Temporary from "../storage/temporary.ts"
import * as Seeded from "./seeded.ts"

const log = EntryLog.session("-work", "00000000-0000-4000-8000-000000000001")
const faulty = FaultyEntryLog.layer.pipe(Layer.provide(EntryLog.layerMemory))
const entry = (n: number) => ({ type: "n", n })
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i)

/** The numbers of the lines; those that are no JSON are counted apart. */
const numbersIn = (text: string) => {
  const numbers: Array<number> = []
  let torn = 0
  for (const line of text.split("\n")) {
    if (line === "") continue
    try {
      numbers.push((JSON.parse(line) as { readonly n: number }).n)
    } catch {
      torn++
    }
  }
  return { numbers, torn }
}

const textOf = (port: EntryLog.EntryLog["Service"]) =>
  Effect.scoped(
    Effect.gen(function* () {
      const reader = yield* port.reader(log)
      const into = new Uint8Array(reader.size)
      yield* reader.read(0, into)
      return new TextDecoder().decode(into)
    })
  ).pipe(Effect.orElseSucceed(() => ""))

const unwrittenOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return ""
  const error = Cause.squash(exit.cause)
  assert.ok(error instanceof SessionWriter.UnwrittenError, String(error))
  return error.logs.map(({ lines }) => Buffer.from(lines).toString()).join("")
}

/** Producers, flushes and the writer itself are interrupted anywhere, some on a broken disk: offered = written + queued. */
export const interruptions = (random: Seeded.Random, count: number) =>
  Effect.gen(function* () {
    for (let left = count; left > 0;) {
      const offered: Array<number> = []
      const port = yield* EntryLog.EntryLog
      const { breakDown, mend, plan } = yield* FaultyEntryLog.Faults
      const before = numbersIn(yield* textOf(port)).numbers.length
      const scope = yield* Scope.make()
      const writerLayer = SessionWriter.layerWith({
        capacity: 1 + Seeded.below(random, 30),
        batchBytes: 64 + Seeded.below(random, 200),
        durability: (["os", "fsync", "fsync-interval"] as const)[Seeded.below(random, 3)]!,
        retry: { first: "1 millis", most: "1 millis", onClose: 2 }
      })
      const context = yield* Layer.buildWithScope(Layer.fresh(writerLayer), scope)
      const writer = yield* Effect.provide(SessionWriter.SessionWriter, context)
      const produce = Effect.gen(function* () {
        for (let i = 0; i < 20; i++) {
          yield* writer.submit((offer) => {
            const n = before + offered.length
            offered.push(n)
            offer(log, entry(n), JSON.stringify(entry(n)))
          })
          if (random() < 0.3) yield* Effect.yieldNow
          if (random() < 0.1) yield* Effect.ignore(writer.flush())
        }
      })
      for (let i = 0; i < 4 && left > 0; i++, left--) {
        if (random() < 0.3) yield* plan({ after: Seeded.below(random, 90) })
        if (random() < 0.1) yield* plan({ operation: "sync", reason: "InputOutput" })
        const fiber = yield* Effect.forkChild(produce)
        for (let turns = Seeded.below(random, 12); turns > 0; turns--) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
      }
      if (random() < 0.3) yield* breakDown({ after: Seeded.below(random, 40) })
      const late = yield* Effect.forkChild(Effect.ignore(produce))
      for (let turns = Seeded.below(random, 6); turns > 0; turns--) yield* Effect.yieldNow
      left--
      const unwritten = unwrittenOf(yield* Effect.exit(Scope.close(scope, Exit.void)))
      yield* Fiber.interrupt(late)
      yield* mend
      if (unwritten !== "") yield* port.append(log, new TextEncoder().encode(unwritten))
      const { numbers } = numbersIn(yield* textOf(port))
      assert.deepEqual(numbers, upTo(before + offered.length), "offered is not written + queued")
    }
  }).pipe(Effect.provide(faulty))

const history = upTo(200)
const historyBytes = history.reduce((sum, n) => sum + JSON.stringify(entry(n)).length + 1, 0)

/** The disk crashes after each byte of `every` in a history of 200 entries, from `first` on. */
export const crashes = (first: number, every: number) =>
  Effect.gen(function* () {
    for (let bytes = first; bytes <= historyBytes; bytes += every) yield* crashAt(bytes)
  })

const crashAt = (bytes: number) =>
  Effect.gen(function* () {
    const port = yield* EntryLog.EntryLog
    const { crashAfter, mend } = yield* FaultyEntryLog.Faults
    const layer = SessionWriter.layerWith({ batchBytes: 256, retry: { first: "1 millis", onClose: 1 } })
    yield* crashAfter(bytes)
    // It falls among one, some or many that were given at once.
    const share = 1 + (bytes % 20)
    const writing = Effect.gen(function* () {
      const writer = yield* SessionWriter.SessionWriter
      for (let n = 0; n < history.length; n += share) {
        yield* writer.appendAll(log, history.slice(n, n + share).map(entry))
      }
      yield* Effect.ignore(writer.flush())
    })
    const unwritten = numbersIn(unwrittenOf(yield* Effect.exit(Effect.provide(writing, Layer.fresh(layer))))).numbers
    yield* mend
    const { numbers } = numbersIn(yield* textOf(port))
    assert.deepEqual(numbers, upTo(numbers.length), `crash at byte ${bytes}: not a prefix`)
    assert.deepEqual([...numbers, ...unwritten], history, `crash at byte ${bytes}: lost or twice`)
    const next = SessionWriter.append(log, entry(numbers.length))
    yield* Effect.provide(next, Layer.fresh(layer))
    const after = numbersIn(yield* textOf(port))
    assert.deepEqual(after.numbers, upTo(numbers.length + 1), `crash at byte ${bytes}: the next append cost a line`)
    assert.ok(after.torn <= 1)
  }).pipe(Effect.provide(Layer.fresh(faulty)))

/** The same where no file system can be mounted: the log leads to /dev/full, and later to a folder with space. */
export const deviceFull = (random: Seeded.Random) =>
  Effect.gen(function* () {
    if (!fs.existsSync("/dev/full")) return false
    const directory = yield* Temporary.directory
    const [folder, space] = [path.join(directory, "folder"), path.join(directory, "space")]
    fs.mkdirSync(space)
    fs.symlinkSync("/dev", folder)
    const full = EntryLog.at(path.join(folder, "full"))
    const before = Seeded.below(random, 1000)
    const writing = Effect.gen(function* () {
      const writer = yield* SessionWriter.SessionWriter
      yield* writer.appendAll(full, history1000.slice(0, before).map(entry))
      const told = yield* Effect.result(writer.flush())
      if (before > 0) assert.ok(Result.isFailure(told) && told.failure._tag === "FlushError")
      yield* writer.appendAll(full, history1000.slice(before).map(entry))
      fs.unlinkSync(folder)
      fs.symlinkSync(space, folder)
      yield* writer.flush()
    })
    const layer = SessionWriter.layerWith({ retry: { first: "5 millis", most: "50 millis" } })
    const files = FileEntryLog.layerWith({ projects: path.join(directory, "projects") })
    yield* Effect.provide(writing, layer.pipe(Layer.provide(files)))
    assert.deepEqual(numbersIn(fs.readFileSync(path.join(space, "full"), "utf8")).numbers, history1000)
    return true
  }).pipe(Effect.scoped)

const history1000 = upTo(1000)

/** 1,000 entries are queued, the disk fills, space returns: all are on the disk, in order. False: it could not be tried. */
export const diskFull = (random: Seeded.Random) =>
  Effect.gen(function* () {
    const disk = yield* SmallDisk.make("256k")
    if (disk === undefined) return yield* deviceFull(random)
    const filler = path.join(disk.directory, "filler")
    fs.writeFileSync(filler, Buffer.alloc(4096 * (1 + Seeded.below(random, 40))))
    const projects = path.join(disk.directory, "projects")
    const files = FileEntryLog.layerWith({ projects })
    const durability = (["os", "fsync", "fsync-interval"] as const)[Seeded.below(random, 3)]!
    const padding = "x".repeat(400 + Seeded.below(random, 400))
    const writing = Effect.gen(function* () {
      const writer = yield* SessionWriter.SessionWriter
      for (let n = 0; n < 1000; n++) yield* writer.append(log, { ...entry(n), padding })
      const error = yield* Effect.flip(writer.flush())
      assert.equal(error._tag, "FlushError")
      assert.equal(error._tag === "FlushError" && error.cause.reason, "NoSpace")
      const status = yield* SubscriptionRef.get(writer.status)
      assert.ok(status._tag === "Degraded" && status.queued > 0 && status.logs[0]?.why.reason === "NoSpace")
      fs.rmSync(filler)
      disk.remount("size=8m")
      // It comes back by itself.
      for (let i = 0; i < 100 && (yield* SubscriptionRef.get(writer.status))._tag !== "Ok"; i++) {
        yield* Effect.sleep("50 millis")
      }
      assert.equal((yield* SubscriptionRef.get(writer.status))._tag, "Ok")
      yield* writer.flush()
    })
    const layer = SessionWriter.layerWith({ durability, retry: { first: "10 millis", most: "100 millis" } })
    yield* Effect.provide(writing, layer.pipe(Layer.provide(files)))
    const text = fs.readFileSync(EntryLog.pathOf(projects, log), "utf8")
    assert.deepEqual(numbersIn(text).numbers, upTo(1000))
    return true
  }).pipe(Effect.scoped)
