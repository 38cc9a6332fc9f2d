import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as Follow from "@reprise/storage/Follow"
import { Effect, Fiber, Layer, Queue, References, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const log = EntryLog.session("-w", "s")
const bytes = (text: string) => new TextEncoder().encode(text)
const append = (text: string) => EntryLog.EntryLog.use((port) => port.append(log, bytes(text)))

/** All that a follower has to tell by now. */
const drain = Effect.fnUntraced(function* (follower: Follow.Follower) {
  const told: Array<Line.Located | Follow.Why> = []
  for (;;) {
    const { entries, isAtEnd, restarted } = yield* follower.next
    told.push(...entries, ...(restarted === undefined ? [] : [restarted]))
    if (isAtEnd) return told
  }
})

const tags = (text: string) => text.split("").map((tag) => `{"type":"tag","tag":"${tag}"}`)
const tagsOf = (told: ReadonlyArray<Line.Located | Follow.Why>) =>
  told.map((one) => (typeof one === "string" ? one : String((one.entry as { readonly tag?: unknown }).tag))).join("")

/** A log in a file that tests write by its path. */
const withFile = <A, E>(use: (log: EntryLog.LogId, file: string) => Effect.Effect<A, E, EntryLog.EntryLog>) =>
  Effect.gen(function* () {
    const file = path.join(yield* Temporary.directory, "log.jsonl")
    return yield* Effect.provide(use(EntryLog.at(file), file), FileEntryLog.layerWith({ projects: path.dirname(file) }))
  }).pipe(Effect.scoped)

const write = (file: string, ...lines: ReadonlyArray<string>): void =>
  fs.appendFileSync(file, lines.map((line) => `${line}\n`).join(""))

const Piece = Schema.Literals(['{"type":"x","n":1}', '{"type":"tag","tag":"é😀"}', "\n", "\n", "\r\n", "{", "é", "[1]"])

describe("a follower", () => {
  it.effect.prop(
    "tells what a reader of the whole lines finds, whatever was written between two looks",
    [Schema.Array(Schema.Array(Piece)), Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))],
    ([writes, resumed]) =>
      withFile((log, file) =>
        Effect.gen(function* () {
          fs.writeFileSync(file, "")
          let follower = yield* Follow.make(log)
          const told: Array<Line.Located | Follow.Why> = []
          for (const [i, pieces] of writes.entries()) {
            fs.appendFileSync(file, pieces.join(""))
            told.push(...(yield* drain(follower)))
            // Another one goes on where it was.
            if (i === resumed) follower = yield* Follow.make(log, follower.mark())
          }
          const text = writes.flat().join("")
          const whole = bytes(text.slice(0, text.lastIndexOf("\n") + 1))
          assert.deepStrictEqual(told, [...Line.decodeAll(whole)])
          assert.strictEqual(follower.mark().byte, whole.length)
        }).pipe(Effect.scoped)
      ),
    { arbitrary: { runs: 100 } }
  )

  it.effect("carries a line of any length until it ends", () =>
    withFile((log, file) =>
      Effect.gen(function* () {
        const long = `{"type":"x","long":"${"é".repeat(1 << 20)}"}`
        fs.writeFileSync(file, long)
        const follower = yield* Follow.make(log)
        assert.deepStrictEqual(yield* drain(follower), [])
        assert.deepStrictEqual(follower.mark(), { line: 1, byte: 0 })
        write(file, "")
        assert.deepStrictEqual(yield* drain(follower), [...Line.decodeAll(bytes(long))])
        assert.deepStrictEqual(follower.mark(), { line: 2, byte: bytes(long).length + 1 })
      }).pipe(Effect.scoped)
    )
  )

  it.effect("begins anew when the log is cut, replaced or written anew", () =>
    withFile((log, file) =>
      Effect.gen(function* () {
        write(file, ...tags("abc"))
        const follower = yield* Follow.make(log)
        assert.strictEqual(tagsOf(yield* drain(follower)), "abc")
        fs.truncateSync(file, 5)
        write(file, "", ...tags("d"))
        assert.strictEqual(tagsOf(yield* drain(follower)), "cutundefinedd")
        fs.writeFileSync(file, "")
        write(file, ...tags("efgh"))
        assert.strictEqual(tagsOf(yield* drain(follower)), "rewrittenefgh")
        fs.writeFileSync(`${file}.new`, fs.readFileSync(file))
        fs.renameSync(`${file}.new`, file)
        write(file, ...tags("i"))
        assert.strictEqual(tagsOf(yield* drain(follower)), "replacedefghi")
        write(file, ...tags("j"))
        assert.strictEqual(tagsOf(yield* drain(follower)), "j")
      }).pipe(Effect.scoped)
    )
  )

  it.effect("that goes on from a mark which is no longer between two lines begins anew", () =>
    withFile((log, file) =>
      Effect.gen(function* () {
        write(file, ...tags("ab"))
        assert.strictEqual(tagsOf(yield* drain(yield* Follow.make(log, { line: 2, byte: 7 }))), "rewrittenab")
        assert.strictEqual(tagsOf(yield* drain(yield* Follow.make(log, { line: 9, byte: 700 }))), "cutab")
      }).pipe(Effect.scoped)
    )
  )

  it.effect("waits for a log that is not there yet, and for one that was removed", () =>
    withFile((log, file) =>
      Effect.gen(function* () {
        const follower = yield* Follow.make(log)
        assert.deepStrictEqual(yield* drain(follower), [])
        write(file, ...tags("a"))
        assert.strictEqual(tagsOf(yield* drain(follower)), "a")
        fs.rmSync(file)
        assert.deepStrictEqual(yield* drain(follower), [])
        write(file, ...tags("b"))
        assert.strictEqual(tagsOf(yield* drain(follower)), "replacedb")
      }).pipe(Effect.scoped)
    )
  )

  it.effect("keeps no more descriptors open than one", () =>
    withFile((log, file) =>
      Effect.gen(function* () {
        const open = () => fs.readdirSync("/proc/self/fd").length
        write(file, ...tags("a"))
        const before = open()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const follower = yield* Follow.make(log)
            for (let i = 0; i < 20; i++) {
              fs.writeFileSync(`${file}.new`, `${tags("b").join("\n")}\n`)
              fs.renameSync(`${file}.new`, file)
              yield* drain(follower)
            }
            assert.strictEqual(open(), before + 1)
          })
        )
        assert.strictEqual(open(), before)
      })
    )
  )

  it.effect("reads what is new, and a few bytes before it", () =>
    Effect.gen(function* () {
      let read = 0
      const counting = Layer.effect(
        EntryLog.EntryLog,
        Effect.map(EntryLog.EntryLog, (port) => ({
          ...port,
          reader: (id: EntryLog.LogId) =>
            Effect.map(port.reader(id), (reader) => ({
              ...reader,
              read: (offset: number, into: Uint8Array) =>
                Effect.tap(reader.read(offset, into), (count) => Effect.sync(() => void (read += count)))
            }))
        }))
      ).pipe(Layer.provideMerge(EntryLog.layerMemory))
      yield* Effect.gen(function* () {
        yield* append(`${tags("a".repeat(1000)).join("\n")}\n`)
        const follower = yield* Follow.make(log)
        yield* drain(follower)
        read = 0
        const line = `${tags("b")[0]}\n`
        yield* append(line)
        assert.strictEqual(tagsOf(yield* drain(follower)), "b")
        yield* drain(follower)
        assert.isAtMost(read, line.length + 2 * 64)
      }).pipe(Effect.provide(counting))
    }).pipe(Effect.scoped)
  )
})

describe("the stream", () => {
  const layers = {
    memory: EntryLog.layerMemory,
    files: Temporary.layer,
    "Effect's FileSystem": Layer.unwrap(
      Effect.map(Temporary.directory, (made) => FileEntryLog.layerFileSystem({ projects: path.join(made, "projects") }))
    ).pipe(Layer.provide([NodeFileSystem.layer, NodePath.layer]))
  }
  for (const [name, layer] of Object.entries(layers)) {
    it.live(`tells an entry when the port hints at it: ${name}`, () =>
      Effect.gen(function* () {
        yield* append(`${tags("a")[0]}\n`)
        const told = yield* Queue.unbounded<Follow.Followed>()
        yield* Follow.stream(log, { interval: "1 hour" }).pipe(
          Stream.runForEach((one) => Queue.offer(told, one)),
          Effect.forkScoped
        )
        assert.strictEqual((yield* Queue.take(told))._tag, "Entry")
        assert.strictEqual((yield* Queue.take(told))._tag, "CaughtUp")
        for (let n = 0; n < 3; n++) {
          // The system may take a moment until it watches; from then on one write is one hint.
          const written = yield* Effect.forkScoped(
            Effect.forever(Effect.andThen(append(`${tags("b")[0]}\n`), Effect.sleep(50)))
          )
          assert.strictEqual((yield* Queue.take(told))._tag, "Entry")
          yield* Fiber.interrupt(written)
        }
      }).pipe(Effect.provide(layer), Effect.scoped)
    )
  }

  it.effect("looks by itself when nothing hints", () =>
    Effect.gen(function* () {
      const deaf = Layer.effect(
        EntryLog.EntryLog,
        Effect.map(EntryLog.EntryLog, (port) => ({ ...port, changes: () => Stream.empty }))
      ).pipe(Layer.provideMerge(EntryLog.layerMemory))
      yield* Effect.gen(function* () {
        const told = yield* Queue.unbounded<Follow.Followed>()
        const following = yield* Follow.stream(log, { interval: "1 minute" }).pipe(
          Stream.runForEach((one) => Queue.offer(told, one)),
          Effect.forkScoped
        )
        assert.deepStrictEqual(yield* Queue.take(told), Follow.followed.CaughtUp({ mark: { line: 1, byte: 0 } }))
        const line = `${tags("a")[0]}\n`
        yield* append(line)
        yield* TestClock.adjust("59 seconds")
        assert.strictEqual(yield* Queue.size(told), 0)
        yield* TestClock.adjust("1 second")
        const [located] = Line.decodeAll(bytes(line))
        assert.deepStrictEqual(yield* Queue.take(told), Follow.followed.Entry({ located: located! }))
        yield* Fiber.interrupt(following)
      }).pipe(Effect.provide(deaf))
    }).pipe(Effect.scoped)
  )

  it.live("says once that it has caught up, and again after a restart", () =>
    withFile((log, file) =>
      Effect.gen(function* () {
        write(file, ...tags("ab"))
        const told = yield* Queue.unbounded<Follow.Followed>()
        yield* Follow.stream(log, { interval: 5 }).pipe(
          Stream.runForEach((one) => Queue.offer(told, one)),
          Effect.forkScoped
        )
        const next = (n: number) => Effect.map(Queue.takeN(told, n), (some) => some.map(({ _tag }) => _tag).join(" "))
        const end = fs.statSync(file).size
        assert.strictEqual(yield* next(3), "Entry Entry CaughtUp")
        write(file, ...tags("c"))
        assert.strictEqual(yield* next(1), "Entry")
        fs.writeFileSync(file, `${tags("d")[0]}\n`)
        const [restarted] = yield* Queue.takeN(told, 1)
        assert.deepStrictEqual(
          restarted,
          Follow.followed.Restarted({ why: "cut", mark: { line: 4, byte: (end / 2) * 3 } })
        )
        assert.strictEqual(yield* next(2), "Entry CaughtUp")
      }).pipe(Effect.scoped)
    )
  )

  it.effect("fails as the port does", () =>
    Effect.gen(function* () {
      const folder = yield* Temporary.directory
      const error = yield* Follow.stream(EntryLog.at(folder)).pipe(Stream.runDrain, Effect.flip)
      assert.strictEqual(error.operation, "read")
    }).pipe(Effect.provide(Temporary.layer), Effect.scoped)
  )
})

describe("a projection over a growing log", () => {
  it.effect("answers at each line what a fold of the lines so far answers", () =>
    Effect.gen(function* () {
      const text = new TextDecoder().decode(Notation.bytes("u1-a1(A)-rA-a2 B1{a1..a2>S1}-S1-u3-N1{u3}-a4 a2-w1 a4-w2"))
      const running = yield* Follow.live(log, Recovery.projection)
      let soFar = ""
      for (const line of text.trimEnd().split("\n")) {
        soFar += `${line}\n`
        yield* append(`${line}\n`)
        assert.deepStrictEqual(yield* running.answer, Recovery.fold(Line.decodeAll(bytes(soFar))))
        assert.deepStrictEqual(yield* running.answer, yield* running.answer)
      }
      assert.strictEqual(running.mark().byte, bytes(text).length)
    }).pipe(Effect.provide(EntryLog.layerMemory), Effect.scoped)
  )

  it.effect("forgets what a log was before it was replaced", () =>
    withFile((log, file) =>
      Effect.gen(function* () {
        fs.writeFileSync(file, Notation.bytes("u1-a1-u2"))
        const running = yield* Follow.live(log, Recovery.projection)
        assert.strictEqual(Notation.show((yield* running.answer).conversation), "u1-a1-u2")
        fs.writeFileSync(`${file}.new`, Notation.bytes("u7-a7"))
        fs.renameSync(`${file}.new`, file)
        assert.strictEqual(Notation.show((yield* running.answer).conversation), "u7-a7")
      }).pipe(Effect.scoped)
    )
  )

  it.effect("loses nothing where an answer is interrupted, at whatever step", () =>
    Effect.gen(function* () {
      const counted = Projection.make({ initial: () => 0, evolve: (n: number) => n + 1, extract: (n: number) => n })
      yield* append("{}\n{}\n{}\n")
      for (let step = 0; step < 40; step++) {
        const running = yield* Follow.live(log, counted)
        const asked = yield* Effect.forkChild(Effect.provideService(running.answer, References.MaxOpsBeforeYield, 3))
        for (let i = 0; i < step; i++) yield* Effect.yieldNow
        yield* Fiber.interrupt(asked)
        assert.strictEqual(yield* running.answer, 3, `interrupted at step ${step}`)
      }
    }).pipe(Effect.provide(EntryLog.layerMemory), Effect.scoped)
  )
})
