/**
 * History: how much of a log is read, by one of three doors.
 *
 *   suffix      │ ……………………………………………………│ boundary … end │     conversation and model messages of the whole log
 *   metadata    │ tag · title · snapshot … │ boundary … end │     also all metadata and snapshots
 *   full        │ beginning …                           end │     everything
 *
 * 1. The first two read from the last boundary that the conversation passes, and fold what they read. The projection
 *    says whether that is enough (`Suffix.Verdict`); where it is not, an earlier boundary is tried, or all is read.
 * 2. A log without a boundary, or one of which only the whole can tell, is read as a whole by every door: the answer
 *    never hangs on the door.
 * 3. What was read is told by the answer itself: `history` names the door that it came through in the end.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import type * as Suffix from "@reprise/domain/Suffix"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as BoundaryScan from "./BoundaryScan.ts"
import * as EntryLog from "./EntryLog.ts"
import * as Older from "./internal/older.ts"
import * as Sayings from "./internal/sayings.ts"
import * as Sift from "./internal/sift.ts"
import * as LineReader from "./LineReader.ts"

/**
 * Through which door (by default: `full`), and how the boundary is looked for.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends BoundaryScan.Options {
  readonly history?: Suffix.History
}

/**
 * An answer, what was read for it and from which byte on the conversation was, and, where all had to be read though less
 * was asked for, why.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer<S> {
  readonly answer: S
  readonly history: Suffix.History
  readonly from: number
  readonly why?: string
}

/**
 * Why only the whole log can tell.
 *
 * @category models
 * @since 0.1.0
 */
export interface Whole {
  readonly why: string
}

/** How many boundaries are tried before all is read. */
const TRIES = 4

/**
 * Reads a log through a door.
 *
 * @category running
 * @since 0.1.0
 */
export const read = Effect.fn("History.read")(function* <S, B>(
  log: EntryLog.LogId,
  doors: Suffix.Doors<S, B>,
  options: Options = {}
) {
  const { history = "full" } = options
  const part = history === "full" ? undefined : yield* readEnd(log, doors, { ...options, history })
  if (part !== undefined && "answer" in part) return part
  const answer: Answer<S> = { answer: yield* LineReader.fold(log, doors.full), history: "full", from: 0, ...part }
  return answer
})

/**
 * The same where the end of the log is enough, and else what keeps it from being that.
 *
 * @category running
 * @since 0.1.0
 */
export const readEnd = Effect.fnUntraced(function* <S, B>(
  log: EntryLog.LogId,
  doors: Suffix.Doors<S, B>,
  options: Options & { readonly history: Exclude<Suffix.History, "full"> }
): Effect.fn.Return<Answer<S> | Whole, EntryLog.EntryLogError, EntryLog.EntryLog | Scope.Scope> {
  const port = yield* EntryLog.EntryLog
  const reader = yield* port.reader(log)
  let why = "there is no boundary"
  let before = reader.size
  for (let tries = 0; tries < TRIES; tries++) {
    const found: BoundaryScan.Found | undefined = yield* BoundaryScan.last(reader, before, options)
    // What begins before the middle of the log costs as much as all of it.
    if (found === undefined || (tries > 0 && found.from < reader.size / 2)) return { why }
    const { history } = options
    const read = history === "metadata" ? withMetadata(log, reader, found.from, doors) : suffix(log, found.from, doors)
    const { beside, judged } = yield* read
    const { answer, verdict } = judged
    if (verdict._tag === "Sufficient") return { answer: answer(beside, history), history, from: found.from }
    why = verdict.why
    if (verdict._tag === "Whole") return { why }
    before = found.start
  }
  return { why }
}, Effect.scoped)

const suffix = Effect.fnUntraced(function* <S, B>(log: EntryLog.LogId, from: number, doors: Suffix.Doors<S, B>) {
  const run = Projection.run(Projection.struct({ judged: doors.conversation, beside: doors.beside }))
  yield* LineReader.forEach(log, run.evolve, { line: 1, byte: from })
  return run.extract()
})

/** What is said before the suffix comes first, as it does in the log; which of it matters is known from the suffix. */
const withMetadata = Effect.fnUntraced(function* <S, B>(
  log: EntryLog.LogId,
  reader: EntryLog.Reader,
  from: number,
  doors: Suffix.Doors<S, B>
) {
  const located: Array<Line.Located> = []
  yield* LineReader.forEach(log, (one) => located.push(one), { line: 1, byte: from })
  const beside = Projection.run(doors.beside)
  const start = Sift.starting({ first: true, each: true })
  const noted = Sayings.noting(located, Sayings.keys)
  let begun = 0
  const evolve = (one: Line.Located): void => {
    if (Entry.isMessage(one.entry)) begun = one.at.byteEnd
    beside.evolve(one)
  }
  const mark = yield* Older.forEach(reader, from, evolve, { start, noted })
  for (const saying of yield* Sayings.last(reader, noted, located)) {
    if (saying.at.byteStart >= begun) beside.evolve(saying)
  }
  const conversation = Projection.run(doors.conversation)
  for (const one of located) {
    const shifted = Line.shift(one, mark.line - 1)
    beside.evolve(shifted)
    conversation.evolve(shifted)
  }
  return { judged: conversation.extract(), beside: beside.extract() }
})
