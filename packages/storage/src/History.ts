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
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import type * as Suffix from "@reprise/domain/Suffix"
import * as Effect from "effect/Effect"
import * as BoundaryScan from "./BoundaryScan.ts"
import * as EntryLog from "./EntryLog.ts"
import * as Older from "./internal/older.ts"
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
 * An answer, what was read for it, and, where all had to be read though less was asked for, why.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer<S> {
  readonly answer: S
  readonly history: Suffix.History
  readonly why?: string
}

/** How many boundaries are tried before all is read. */
const TRIES = 4

/**
 * Reads a log through a door.
 *
 * @category running
 * @since 0.1.0
 */
export const read = Effect.fn("History.read")(function* <S>(
  log: EntryLog.LogId,
  doors: Suffix.Doors<S>,
  options: Options = {}
) {
  const { history = "full" } = options
  const part = history === "full" ? undefined : yield* partOf(log, doors, { ...options, history })
  if (part !== undefined && "answer" in part) return part
  const answer: Answer<S> = { answer: yield* LineReader.fold(log, doors.full), history: "full", ...part }
  return answer
})

type Part<S> = Answer<S> | { readonly why: string }

const partOf = Effect.fnUntraced(function* <S>(
  log: EntryLog.LogId,
  doors: Suffix.Doors<S>,
  options: Options & { readonly history: "suffix" | "metadata" }
) {
  const port = yield* EntryLog.EntryLog
  const reader = yield* port.reader(log)
  let why = "there is no boundary"
  let before = reader.size
  for (let tries = 0; tries < TRIES; tries++) {
    const found: BoundaryScan.Found | undefined = yield* BoundaryScan.last(reader, before, options)
    // What begins before the middle of the log costs as much as all of it.
    if (found === undefined || (tries > 0 && found.from < reader.size / 2)) return { why } as Part<S>
    const run = Projection.run(doors.suffix)
    yield* LineReader.forEach(log, run.evolve, { line: 1, byte: found.from })
    let judged = run.extract()
    // Judged without the few older messages that are read for metadata: a boundary among them is none to start from.
    if (options.history === "metadata" && judged.verdict._tag === "Sufficient") {
      const all = Projection.run(doors.metadata)
      yield* readWithOlder(log, reader, found.from, all)
      judged = all.extract()
    }
    const { answer, verdict } = judged
    if (verdict._tag === "Sufficient") return { answer, history: options.history } as Part<S>
    why = verdict.why
    if (verdict._tag === "Whole") return { why } as Part<S>
    before = found.start
  }
  return { why } as Part<S>
}, Effect.scoped)

/** What the prefix says of the session comes first, as it does in the log. */
const readWithOlder = Effect.fnUntraced(function* <S>(
  log: EntryLog.LogId,
  reader: EntryLog.Reader,
  from: number,
  run: Projection.Run<Line.Located, S>
) {
  const noted = Older.noting()
  const { found, mark } = yield* Older.read(reader, from, { sayings: noted })
  const suffix: Array<Line.Located> = []
  yield* LineReader.forEach(log, (located) => suffix.push(located), from === 0 ? LineReader.start : mark)
  const sayings = yield* Older.lastSayings(reader, noted.parts, suffix)
  const known = new Set(found.map(({ at }) => at.byteStart))
  const older = [...found, ...sayings.filter(({ at }) => !known.has(at.byteStart))]
  for (const located of older.toSorted((a, b) => a.at.byteStart - b.at.byteStart)) run.evolve(located)
  for (const located of suffix) run.evolve(located)
})
