/**
 * Follow: a log that is still being written, told as it grows.
 *
 *   │ line LF line LF │ line LF li            next ─▶ entries of the lines that ended since
 *                     └ mark     └ carried
 *
 * 1. Only whole lines are told; the beginning of one is carried until its LF comes. What is told stands before the mark,
 *    from which another follower can go on.
 * 2. A log that was cut, replaced or written anew is told from its beginning again, after `Restarted`: the last bytes
 *    before the mark are compared whenever there is something to read.
 * 3. `CaughtUp` is told once for each beginning: all that was there by then has been told.
 * 4. A log that does not exist yet is waited for, also one that was removed; what was written before stays told.
 * 5. What a look costs does not grow with the log.
 */
import * as Line from "@reprise/domain/Line"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Projection from "@reprise/domain/Projection"
import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as EntryLog from "./EntryLog.ts"
import * as LineReader from "./LineReader.ts"

/**
 * Why a log is told from its beginning again: it is shorter than what was told of it; its name leads to another log; or
 * other bytes stand where it was told.
 *
 * @category models
 * @since 0.1.0
 */
export type Why = "cut" | "replaced" | "rewritten"

/**
 * What a follower tells: an entry on a line that has ended; that all which was there has been told; or that the log
 * begins anew, so that what was told before `mark` no longer counts.
 *
 * @category models
 * @since 0.1.0
 */
export type Followed = Data.TaggedEnum<{
  readonly Entry: { readonly located: Line.Located }
  readonly CaughtUp: { readonly mark: LineReader.Mark }
  readonly Restarted: { readonly why: Why; readonly mark: LineReader.Mark }
}>

/**
 * Constructors of {@link Followed}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const followed = Data.taggedEnum<Followed>()

/**
 * Where to begin (at the beginning of the log), and how long a log is left alone that says nothing (1 second).
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly from?: LineReader.Mark
  readonly interval?: Duration.Input
}

/**
 * One look at a log: the entries of the lines that ended since the last one, at most those of one chunk; `isAtEnd`:
 * there was no more.
 *
 * @category models
 * @since 0.1.0
 */
export interface Look {
  readonly entries: ReadonlyArray<Line.Located>
  readonly restarted?: Why
  readonly isAtEnd: boolean
}

/**
 * A follower for whoever has a rhythm of their own: `next` looks once and waits for nothing. `mark` is where the line
 * begins that is told next.
 *
 * @category models
 * @since 0.1.0
 */
export interface Follower {
  readonly next: Effect.Effect<Look, EntryLog.EntryLogError>
  readonly mark: () => LineReader.Mark
}

const CHUNK = 1 << 18
/** So many bytes before the mark tell whether the log is still the same. */
const KNOWN = 64

/**
 * A follower; it keeps the log open until its scope ends.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (log: EntryLog.LogId, from: LineReader.Mark = LineReader.start) {
  const port = yield* EntryLog.EntryLog
  const scope = yield* Effect.scope
  const buffer = new Uint8Array(KNOWN + CHUNK)
  let place = begin(from)
  let open: { readonly reader: EntryLog.Reader; readonly scope: Scope.Closeable } | undefined

  const reopen = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    const reader = yield* Scope.provide(port.reader(log), own).pipe(
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
    )
    open = { reader, scope: own }
    return reader
  })
  const restart = Effect.fnUntraced(function* (why: Why) {
    if (open !== undefined) yield* Scope.close(open.scope, Exit.void)
    open = undefined
    place = begin(LineReader.start)
    return { entries: [], restarted: why, isAtEnd: false } satisfies Look
  })
  // One read tells all but whether the name leads elsewhere; that is asked when there is nothing new.
  const look = ({ isReplaced, read }: EntryLog.Reader): Follower["next"] =>
    Effect.flatMap(read(place.offset - place.known.length, buffer), (count) => {
      const { known } = place
      if (count < known.length) return restart("cut")
      for (let i = 0; i < known.length; i++) if (known[i] !== buffer[i]) return restart("rewritten")
      if (count > known.length) return Effect.succeed(take(place, buffer, count))
      return Effect.flatMap(isReplaced, (isIt) => (isIt ? restart("replaced") : Effect.succeed(atEnd)))
    })
  const next: Follower["next"] = Effect.suspend(() => (open === undefined ? reopen : Effect.succeed(open.reader))).pipe(
    Effect.flatMap(look),
    Effect.catchIf(isNotFound, () => Effect.succeed(atEnd))
  )
  const follower: Follower = { next, mark: () => place.mark }
  return follower
})

/**
 * What happens to the log from the mark on, for ever; the entries of one look come as one batch. The log is looked at
 * when its port says that it has changed, and else every `interval`.
 *
 * @category streams
 * @since 0.1.0
 */
export const stream = (
  log: EntryLog.LogId,
  options: Options = {}
): Stream.Stream<Followed, EntryLog.EntryLogError, EntryLog.EntryLog> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { from, interval = "1 second" } = options
      const follower = yield* make(log, from)
      const port = yield* EntryLog.EntryLog
      const hints = yield* Queue.sliding<void>(1)
      yield* Effect.forkScoped(Stream.runForEach(port.changes(log), () => Queue.offer(hints, undefined)))
      const wait = Effect.timeoutOption(Queue.take(hints), interval)
      let isTold = false
      const pull = Effect.gen(function* () {
        for (;;) {
          const { entries, isAtEnd, restarted } = yield* lookAndMark(follower)
          const told: Array<Followed> = entries.map((located) => followed.Entry({ located }))
          if (restarted !== undefined) {
            told.push(followed.Restarted(restarted))
            isTold = false
          } else if (isAtEnd && !isTold) {
            told.push(followed.CaughtUp({ mark: follower.mark() }))
            isTold = true
          }
          if (Arr.isArrayNonEmpty(told)) return told
          yield* isAtEnd ? wait : Effect.yieldNow
        }
      })
      return Stream.fromPull(Effect.succeed(pull))
    })
  )

/**
 * A projection over a growing log: `answer` takes in what was written since the last one, and no more.
 *
 * @category models
 * @since 0.1.0
 */
export interface Live<out S> {
  readonly answer: Effect.Effect<S, EntryLog.EntryLogError>
  readonly mark: () => LineReader.Mark
}

/**
 * Runs a projection over a log for as long as its scope lasts. An entry costs its `evolve` once; the rest of the work is
 * done when an answer is asked for.
 *
 * @category running
 * @since 0.1.0
 */
export const live = Effect.fnUntraced(function* <S>(
  log: EntryLog.LogId,
  projection: Projection.Projection<Line.Located, S>
) {
  const follower = yield* make(log)
  const one = yield* Semaphore.make(1)
  let run = Projection.run(projection)
  // What a look gave is told by no other: an interruption waits until it is taken in.
  const look = Effect.uninterruptible(
    Effect.map(follower.next, ({ entries, isAtEnd, restarted }) => {
      if (restarted !== undefined) run = Projection.run(projection)
      for (const located of entries) run.evolve(located)
      return isAtEnd
    })
  )
  const advance = Effect.gen(function* () {
    while (!(yield* look)) yield* Effect.yieldNow
    return run.extract()
  })
  const running: Live<S> = { answer: Semaphore.withPermit(one, advance), mark: follower.mark }
  return running
})

const atEnd: Look = { entries: [], isAtEnd: true }

const isNotFound = ({ reason }: EntryLog.EntryLogError): boolean => reason === "NotFound"

/** A look, and where the log was told up to when it turned out to begin anew. */
const lookAndMark = Effect.fnUntraced(function* ({ mark, next }: Follower) {
  const before = mark()
  const { entries, isAtEnd, restarted: why } = yield* next
  return { entries, isAtEnd, restarted: why && { why, mark: before } }
})

/** How far a log was read: `offset` is behind what is carried; `known` are the last bytes before it. */
interface Place {
  mark: LineReader.Mark
  offset: number
  known: Uint8Array
  found: Array<Line.Located>
  readonly splitter: LineSplitter.LineSplitter
}

const begin = (from: LineReader.Mark): Place => {
  const place: Place = {
    mark: from,
    offset: from.byte,
    known: from.byte === 0 ? new Uint8Array(0) : lineFeed,
    found: [],
    splitter: LineSplitter.make((line, at) => {
      place.mark = { line: at.line + 1, byte: at.byteEnd + 1 }
      for (const located of Line.decode(line, at)) place.found.push(located)
    }, from)
  }
  return place
}

const lineFeed = Uint8Array.of(0x0a)

/** Takes in what was read behind the known bytes. */
const take = (place: Place, buffer: Uint8Array, count: number): Look => {
  const { found, known, splitter } = place
  splitter.push(buffer.subarray(known.length, count))
  place.offset += count - known.length
  place.known = buffer.slice(Math.max(0, count - KNOWN), count)
  place.found = []
  return { entries: found, isAtEnd: count < buffer.length }
}
