/**
 * TranscriptSearch: a text in all that was said, wherever it stands.
 *
 *   logs, newest first ─ bytes ─▶ lines that may hold it ─ decode ─▶ texts ─ fold ─▶ hits, with their places
 *
 * 1. A text is found as people see it: in any case, composed or not, across line breaks, and however JSON spelled it.
 * 2. Only lines that may hold it are decoded; a log is never held as a whole.
 * 3. What cannot be read is told between the hits, and ends nothing.
 */
import type * as Entry from "@reprise/domain/Entry"
import type * as Finding from "@reprise/domain/Finding"
import * as Line from "@reprise/domain/Line"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as EntryLog from "./EntryLog.ts"
import * as Candidates from "./internal/candidates.ts"
import { fold, shown } from "./internal/fold.ts"
import * as Texts from "./internal/texts.ts"
import * as SessionCatalog from "./SessionCatalog.ts"

/**
 * Where to look: in the logs of a scope, by default those of sidechains too. `watch` hears how many bytes are done.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends SessionCatalog.Scope {
  readonly sidechains?: boolean
  readonly watch?: (progress: SessionCatalog.Progress) => Effect.Effect<void>
}

/**
 * What a search tells: an entry with the text, once however often it stands there, or what is no session or cannot be
 * read. Of a hit: its log and path, its place in it, the entry, and the text around its first place: gaps are single
 * spaces, and `start` and `end` say where in `excerpt` it stands.
 *
 * @category models
 * @since 0.1.0
 */
export type Told = Data.TaggedEnum<{
  readonly Hit: {
    readonly log: EntryLog.LogId
    readonly path: string
    readonly at: Finding.Position
    readonly entry: Entry.Entry
    readonly excerpt: string
    readonly start: number
    readonly end: number
  }
  readonly Passed: SessionCatalog.Passed
}>

/**
 * An entry that holds the text.
 *
 * @category models
 * @since 0.1.0
 */
export type Hit = Data.TaggedEnum.Value<Told, "Hit">

const { Hit, Passed } = Data.taggedEnum<Told>()

/**
 * Searches for a text; one of nothing but gaps is found nowhere.
 *
 * @category streams
 * @since 0.1.0
 */
export const search = (
  text: string,
  options: Options = {}
): Stream.Stream<Told, EntryLog.EntryLogError, EntryLog.EntryLog> => {
  const sought = fold(text).trim()
  if (sought === "") return Stream.empty
  const { sidechains = true, watch } = options
  return Stream.unwrap(
    Effect.gen(function* () {
      const { listed, passed } = yield* SessionCatalog.logs(options)
      const total = listed.reduce((sum, { size }) => sum + size, 0)
      let done = 0
      const onRead = (isMain: boolean) => (bytes: number) => {
        if (isMain) done += bytes
        return watch === undefined ? Effect.yieldNow : Effect.andThen(watch({ done, total }), Effect.yieldNow)
      }
      return Stream.fromIterable(listed).pipe(
        Stream.mapEffect((one) =>
          Effect.gen(function* () {
            const found = yield* searchLog(sought, one.log, one.path, onRead(true))
            if (!sidechains) return found
            for (const { log, path } of yield* lanesOf(one))
              found.push(...(yield* searchLog(sought, log, path, onRead(false))))
            return found
          })
        ),
        Stream.flatMap((found) => Stream.fromIterable(found)),
        Stream.concat(Stream.fromIterable(passed.map((other) => Passed(other))))
      )
    })
  )
}

/** The logs of a session's sidechains; a folder that cannot be listed has none. */
const lanesOf = Effect.fnUntraced(function* ({ log, path }: EntryLog.Listed) {
  const port = yield* EntryLog.EntryLog
  const lanes = yield* Effect.orElseSucceed(port.sidechains(log), () => [])
  const root = path.slice(0, path.length - EntryLog.keyOf(log).length)
  return lanes.map((lane) => ({ log: lane, path: root + EntryLog.keyOf(lane) }))
})

/**
 * The hits in one log.
 *
 * @category running
 * @since 0.1.0
 */
export const searchLog = Effect.fnUntraced(function* (
  sought: string,
  log: EntryLog.LogId,
  path: string,
  onRead: (bytes: number) => Effect.Effect<void>
) {
  const port = yield* EntryLog.EntryLog
  const found: Array<Told> = []
  const onLine = (line: Uint8Array, place: Finding.Position): void => {
    for (const { at, entry } of Line.decode(line, place)) {
      const place = placeIn(entry, sought)
      if (place !== undefined) found.push(Hit({ log, path, at, entry, ...place }))
    }
  }
  const pattern = Candidates.pattern(sought)
  const read = Effect.scoped(
    Effect.flatMap(port.reader(log), (reader) => Candidates.forEach(reader, pattern, onLine, onRead))
  )
  const result = yield* Effect.result(read)
  if (Result.isFailure(result)) found.push(Passed({ path, why: "Unreadable", error: result.failure }))
  return found
})

/** Characters before and behind what was found. */
const AROUND = 60

const placeIn = (entry: Entry.Entry, sought: string): Pick<Hit, "excerpt" | "start" | "end"> | undefined => {
  for (const text of Texts.of(entry)) {
    const folded = fold(text)
    const at = folded.indexOf(sought)
    if (at < 0) continue
    const seen = shown(text)
    // Few letters change their length with their case; where one did, the folded text is shown.
    const whole = seen.length === folded.length ? seen : folded
    const from = Math.max(0, at - AROUND)
    const to = at + sought.length
    const [before, behind] = [from > 0 ? "…" : "", to + AROUND < whole.length ? "…" : ""]
    const start = before.length + at - from
    return { excerpt: before + whole.slice(from, to + AROUND) + behind, start, end: start + sought.length }
  }
  return undefined
}
