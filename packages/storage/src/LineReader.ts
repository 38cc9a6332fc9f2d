/**
 * LineReader: a log as located entries, at the speed of a newline scan.
 *
 *   reader ─ 1 MB ─▶ one buffer, used again ─ LineSplitter ─▶ line ─ Line.decode ─▶ located ─▶ evolve
 *
 * 1. All of a line is done before the next one is touched: what dies, dies young.
 * 2. Per chunk one effect, per line none; a line may be of any length, and the log is never held as a whole.
 * 3. A last line without LF is read as well: it may be whole. The mark stays before it, since it may yet grow.
 */
import * as Line from "@reprise/domain/Line"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Projection from "@reprise/domain/Projection"
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import * as EntryLog from "./EntryLog.ts"

const CHUNK = 1 << 20

/**
 * A place between two lines: the number of the line that begins there (1-based) and its byte offset.
 *
 * @category models
 * @since 0.1.0
 */
export interface Mark {
  readonly line: number
  readonly byte: number
}

/**
 * The beginning of a log.
 *
 * @category constructors
 * @since 0.1.0
 */
export const start: Mark = { line: 1, byte: 0 }

/**
 * Calls `onLocated` with each entry from the mark on, in order, but for those of lines that are passed by, and gives the
 * mark behind the last whole line.
 *
 * @category running
 * @since 0.1.0
 */
export const forEach = (
  log: EntryLog.LogId,
  onLocated: (located: Line.Located) => void,
  from: Mark = start,
  isPassed?: LineSplitter.IsPassed
) => forEachLine(log, decoding(onLocated), from, isPassed)

/**
 * Calls `onLine` with the bytes of each line from the mark on, in order, but for those that are passed by, and gives the
 * mark behind the last whole line.
 *
 * @category running
 * @since 0.1.0
 */
export const forEachLine = Effect.fnUntraced(function* (
  log: EntryLog.LogId,
  onLine: LineSplitter.OnLine,
  from: Mark = start,
  isPassed?: LineSplitter.IsPassed
) {
  const read = yield* open(log, onLine, from, isPassed)
  while (yield* read.next) yield* Effect.yieldNow
  return read.mark()
}, Effect.scoped)

/**
 * Runs the projection over the whole log.
 *
 * @category running
 * @since 0.1.0
 */
export const fold = Effect.fn("LineReader.fold")(function* <S>(
  log: EntryLog.LogId,
  projection: Projection.Projection<Line.Located, S>
) {
  const run = Projection.run(projection)
  yield* forEach(log, run.evolve)
  return run.extract()
})

/**
 * The entries from the mark on as a stream; the entries of one chunk of the log come as one batch.
 *
 * @category streams
 * @since 0.1.0
 */
export const stream = (
  log: EntryLog.LogId,
  from: Mark = start
): Stream.Stream<Line.Located, EntryLog.EntryLogError, EntryLog.EntryLog> =>
  Stream.unwrap(
    Effect.gen(function* () {
      let batch: Array<Line.Located> = []
      const read = yield* open(
        log,
        decoding((located) => batch.push(located)),
        from
      )
      const pull = Effect.gen(function* () {
        batch = []
        while (batch.length === 0) {
          if (!(yield* read.next) && batch.length === 0) return yield* Cause.done()
        }
        return batch as unknown as Arr.NonEmptyReadonlyArray<Line.Located>
      })
      return Stream.fromPull(Effect.succeed(pull))
    })
  )

const decoding =
  (onLocated: (located: Line.Located) => void): LineSplitter.OnLine =>
  (line, at) => {
    for (const located of Line.decode(line, at)) onLocated(located)
  }

/** A log being read: `next` reads and splits one chunk; false: the end was reached, with its last line. */
const open = Effect.fnUntraced(function* (
  log: EntryLog.LogId,
  onLine: LineSplitter.OnLine,
  from: Mark,
  isPassed?: LineSplitter.IsPassed
) {
  const port = yield* EntryLog.EntryLog
  const reader = yield* port.reader(log)
  // Of a Buffer, a byte is found five times as fast; one of its own, since it is large.
  const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK, Math.max(4096, reader.size - from.byte)))
  let offset = from.byte
  let ended = false
  const splitter = LineSplitter.make(onLine, from, isPassed)
  const next = Effect.map(
    Effect.suspend(() => reader.read(offset, buffer)),
    (count) => {
      if (count > 0) {
        offset += count
        splitter.push(buffer.subarray(0, count))
      } else if (!ended) {
        ended = true
        splitter.end()
      }
      return count > 0
    }
  )
  return { next, mark: splitter.mark }
})
