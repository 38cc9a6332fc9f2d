/**
 * AppendChain: the one rule by which a stream on the server grows. Pure; every store asks it.
 *
 *   attempt ─▶ judge ─▶ Duplicate     every line is there already, at any place: success, nothing to do
 *      head ─▶          StaleEpoch    another writer claimed the stream, or this one never did
 *                       KeyReused     a key is there with other bytes: nothing is stored
 *                       PrefixKnown   the stream ends with the first lines of the batch: the rest is appended
 *                       HeadMoved     the stream does not end where the writer thinks it does
 *                       Accepted      all lines are appended
 *
 * 1. The first that fits, from above, is the verdict: a retry is a success whatever happened since, and a writer that
 *    was fenced off hears nothing but that.
 * 2. A stream holds each key once, for ever: so an attempt has its effect once, however often it arrives.
 * 3. Without `*` lines are only ever put behind the line that the writer names: accepted lines form one chain.
 * 4. A stream once claimed takes lines of the current epoch alone; an attempt without epoch has epoch 0, as has a stream
 *    that was never claimed.
 *
 *   profile   an attempt                                     a key that is there with other bytes
 *   compat    one line, no epoch; the key is its uuid        Duplicate, and the key is named
 *   native    lines with keys, with or without an epoch      KeyReused
 */
import * as Data from "effect/Data"

/**
 * A line that is offered: `hash` tells its bytes, `uuid` is the id of its entry where that has one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Line {
  readonly key: string
  readonly hash: string
  readonly uuid?: string
}

/**
 * What a writer offers; `lastUuid` is the id behind which the lines belong: undefined where it knows none, `*` for the
 * end of the stream wherever that is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attempt<out L extends Line = Line> {
  readonly profile: "compat" | "native"
  readonly lines: ReadonlyArray<L>
  readonly lastUuid: string | undefined
  readonly epoch: number
}

/**
 * Where a stream ends: `uuid` is the id of the last line that has one, `seq` the number of lines.
 *
 * @category models
 * @since 0.1.0
 */
export interface Position {
  readonly uuid: string | undefined
  readonly seq: number
}

/**
 * What a store knows of a stream: where it ends, the epoch that was claimed last (0: none), and for those keys of the
 * attempt that the stream holds, the place of the line, from 1, and its hash.
 *
 * @category models
 * @since 0.1.0
 */
export interface Head extends Position {
  readonly epoch: number
  readonly known: ReadonlyMap<string, { readonly seq: number; readonly hash: string }>
}

/**
 * The verdict. `lines` are to be appended, in this order; `known` counts the first lines of the batch that the stream
 * ends with, or is the range of places where lines of the batch stand; `keys` are there with other bytes.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict<L = Line> = Data.TaggedEnum<{
  readonly Accepted: { readonly lines: ReadonlyArray<L> }
  readonly Duplicate: { readonly keys: ReadonlyArray<string> }
  readonly PrefixKnown: { readonly known: number; readonly lines: ReadonlyArray<L> }
  readonly HeadMoved: Position & { readonly known: readonly [first: number, last: number] | undefined }
  readonly StaleEpoch: { readonly epoch: number }
  readonly KeyReused: { readonly keys: ReadonlyArray<string> }
}>

interface Generic extends Data.TaggedEnum.WithGenerics<1> {
  readonly taggedEnum: Verdict<this["A"]>
}

const { Accepted, Duplicate, HeadMoved, KeyReused, PrefixKnown, StaleEpoch } = Data.taggedEnum<Generic>()

/**
 * An attempt of the compat profile: one line behind `lastUuid`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compat = <L extends Line>(line: L, lastUuid?: string): Attempt<L> => ({
  profile: "compat",
  lines: [line],
  lastUuid,
  epoch: 0
})

/**
 * An attempt of the native profile: a batch behind `lastUuid`, from the writer that claimed `epoch`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const native = <L extends Line>(
  lines: ReadonlyArray<L>,
  options: { readonly lastUuid?: string | undefined; readonly epoch?: number } = {}
): Attempt<L> => ({ profile: "native", lines, lastUuid: options.lastUuid, epoch: options.epoch ?? 0 })

/**
 * Judges an attempt; total.
 *
 * @category combinators
 * @since 0.1.0
 */
export const judge = <L extends Line>(head: Head, attempt: Attempt<L>): Verdict<L> => {
  const { keys, lines } = distinct(head, attempt.lines)
  const fresh = lines.filter((line) => !head.known.has(line.key))
  if (fresh.length === 0 && (keys.length === 0 || attempt.profile === "compat")) return Duplicate({ keys })
  if (attempt.epoch !== head.epoch) return StaleEpoch({ epoch: head.epoch })
  if (keys.length > 0) return KeyReused({ keys })

  const isAnywhere = attempt.lastUuid === "*"
  const known = lines.length - fresh.length
  const isPrefix = lines.slice(0, known).every((line) => head.known.has(line.key))
  const isTail = lines.slice(0, known).every((line, i) => seqOf(head, line) === head.seq - known + i + 1)
  if (known > 0 && isPrefix && (isTail || isAnywhere)) return PrefixKnown({ known, lines: fresh })
  if (isAnywhere || (known === 0 && attempt.lastUuid === head.uuid)) return Accepted({ lines: fresh })
  return HeadMoved({ uuid: head.uuid, seq: head.seq, known: rangeOf(head, lines) })
}

/**
 * What a verdict lets a store append; nothing where the lines are there, or are not taken.
 *
 * @category getters
 * @since 0.1.0
 */
export const linesOf = <L>(verdict: Verdict<L>): ReadonlyArray<L> => ("lines" in verdict ? verdict.lines : [])

/**
 * Where the stream ends once the lines are appended.
 *
 * @category combinators
 * @since 0.1.0
 */
export const advance = (from: Position, lines: ReadonlyArray<Line>): Position => ({
  uuid: lines.findLast((line) => line.uuid !== undefined)?.uuid ?? from.uuid,
  seq: from.seq + lines.length
})

/** The lines of a batch without equal copies, and the keys that stand for several bytes. */
const distinct = <L extends Line>(head: Head, batch: ReadonlyArray<L>) => {
  const lines = new Map<string, L>()
  const keys = new Set<string>()
  for (const line of batch) {
    const hash = (head.known.get(line.key) ?? lines.get(line.key))?.hash ?? line.hash
    if (hash !== line.hash) keys.add(line.key)
    if (!lines.has(line.key)) lines.set(line.key, line)
  }
  return { lines: [...lines.values()], keys: [...keys] }
}

const seqOf = (head: Head, line: Line): number | undefined => head.known.get(line.key)?.seq

const rangeOf = (head: Head, lines: ReadonlyArray<Line>): readonly [number, number] | undefined => {
  const places = lines.flatMap((line) => seqOf(head, line) ?? []).toSorted((a, b) => a - b)
  const [first] = places
  return first === undefined ? undefined : [first, places.at(-1)!]
}
