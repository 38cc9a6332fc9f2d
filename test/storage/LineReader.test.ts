import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import { Effect, Layer, Schema, Stream } from "effect"

const log = EntryLog.session("-w", "s")
const all: Projection.Projection<Line.Located, ReadonlyArray<Line.Located>> = Projection.make({
  initial: () => [] as Array<Line.Located>,
  evolve: (seen, located: Line.Located) => {
    seen.push(located)
    return seen
  },
  extract: (seen) => [...seen]
})
const bytes = (text: string) => new TextEncoder().encode(text)
const append = (text: string) => EntryLog.EntryLog.use((port) => port.append(log, bytes(text)))

/** Logs in memory whose reads give at most `size` bytes. */
const inChunks = (size: number): Layer.Layer<EntryLog.EntryLog> =>
  Layer.effect(
    EntryLog.EntryLog,
    Effect.map(EntryLog.EntryLog, (port) => ({
      ...port,
      reader: (id: EntryLog.LogId) =>
        Effect.map(port.reader(id), (reader) => ({
          ...reader,
          read: (offset: number, into: Uint8Array) => reader.read(offset, into.subarray(0, size))
        }))
    }))
  ).pipe(Layer.provide(EntryLog.layerMemory))

const Piece = Schema.Literals(['{"type":"x","n":1}', '{"type":"tag","tag":"é😀"}', "\n", "\r\n", "\0", "{", "é", "[1]"])

describe("reading", () => {
  it.effect.prop(
    "any split of the bytes into chunks gives the same entries at the same places",
    [Schema.Array(Piece), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))],
    ([pieces, size]) =>
      Effect.gen(function* () {
        const text = pieces.join("")
        yield* append(text)
        const expected = Line.decodeAll(bytes(text))
        assert.deepStrictEqual(yield* LineReader.fold(log, all), expected)
        assert.deepStrictEqual(yield* Stream.runCollect(LineReader.stream(log)), [...expected])
      }).pipe(Effect.provide(inChunks(size)))
  )

  it.effect("a line may be longer than any chunk, and batches follow the chunks", () =>
    Effect.gen(function* () {
      const long = "é".repeat(3 << 20)
      yield* append(`{"type":"x"}\n{"type":"x","long":"${long}"}\n{"type":"y"}\n`)
      const batches = yield* Stream.runCollect(Stream.chunks(LineReader.stream(log)))
      assert.deepStrictEqual(
        batches.map((batch) => batch.length),
        [1, 2]
      )
      assert.strictEqual((batches[1]![0]!.entry as unknown as { long: string }).long, long)
      assert.strictEqual((yield* LineReader.fold(log, all)).length, 3)
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it.effect("a projection is run over all entries, once each", () =>
    Effect.gen(function* () {
      yield* append('{"type":"tag","tag":"a"}\n'.repeat(5000))
      const count = Projection.entries(Projection.match(() => 0, { tag: (n) => n + 1 }))
      assert.strictEqual(yield* LineReader.fold(log, count), 5000)
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it.effect("a log that does not exist is NotFound, also as a stream", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(LineReader.fold(log, all))).reason, "NotFound")
      assert.strictEqual((yield* Effect.flip(Stream.runCollect(LineReader.stream(log)))).reason, "NotFound")
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )
})

describe("marks", () => {
  it.effect("reading goes on from the mark, and a last line without LF is read again when it has grown", () =>
    Effect.gen(function* () {
      const seen: Array<Line.Located> = []
      const read = (from?: LineReader.Mark) => LineReader.forEach(log, (located) => seen.push(located), from)
      yield* append('{"type":"a"}\n{"type":"b"}')
      const mark = yield* read()
      assert.deepStrictEqual(mark, { line: 2, byte: 13 })
      yield* append('{"type":"c"}\n')
      assert.deepStrictEqual(yield* read(mark), { line: 4, byte: 39 })
      assert.deepStrictEqual(
        seen.map(({ at, entry }) => [entry.type, at.line, at.byteStart]),
        [
          ["a", 1, 0],
          ["b", 2, 13],
          ["b", 2, 13],
          ["c", 3, 26]
        ]
      )
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it.effect("from the end there is nothing", () =>
    Effect.gen(function* () {
      yield* append('{"type":"a"}\n')
      const mark = yield* LineReader.forEach(log, () => {})
      assert.deepStrictEqual(yield* Stream.runCollect(LineReader.stream(log, mark)), [])
      assert.deepStrictEqual(yield* LineReader.forEach(log, () => assert.fail("nothing to read"), mark), mark)
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )
})
