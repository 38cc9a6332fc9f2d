/**
 * MetadataTail: the metadata that a session says again at the end of its log, so that a reader of the last 64 KiB sees it.
 *
 *   … tag ………… mode ……………………………………………… title │ next entry
 *      └ out of the window then ─▶ tag, said again first    └ still inside: nothing
 *
 * 1. The cache is a fold: `SessionMetadata.projection` over what was set here, and over what others wrote. A restated
 *    line says nothing new and is not folded.
 * 2. Places are offsets of the log as it will be when all that was accepted is written. A value whose line would leave
 *    the window is restated before the entry that pushes it out; one that stands in the window adds no bytes.
 * 3. Of a value set here and one that another program wrote, the later in the log wins; a line restated here before the
 *    other was seen wins nothing: the other's value is restated behind it.
 * 4. A value whose line takes more than a sixteenth of the window is not restated: it would crowd out the conversation.
 */
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import type * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"

/**
 * How many bytes at the end of a log a reader of lists looks at.
 *
 * @category models
 * @since 0.1.0
 */
export const WINDOW = 65536

/** A line feed that heals a torn tail is not counted; this is room for some. */
const SLACK = 64

/** All kinds together, as long as they may be, leave room in the window; else each entry would push one of them out. */
const LONGEST = WINDOW / 16

/** Where the last line of a kind starts and how long it is, in bytes; -Infinity: it must be said again. */
interface Place {
  at: number
  readonly bytes: number
}

/**
 * The cache and the places; mutable, and private to its transcript.
 *
 * @category models
 * @since 0.1.0
 */
export interface MetadataTail {
  readonly cache: Projection.Run<Entry.Entry, SessionMetadata.SessionMetadata>
  readonly places: Map<Metadata.Kind, Place>
  /** Where each kind was last set here. */
  readonly sets: Map<Metadata.Kind, number>
  /** The leaf that the last prompt came with. */
  leaf: string | undefined
  /** The first of the places that count. */
  oldest: number
}

/**
 * Of a log without metadata.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): MetadataTail => ({
  cache: Projection.run(SessionMetadata.projection),
  places: new Map(),
  sets: new Map(),
  leaf: undefined,
  oldest: Infinity
})

/**
 * That of a whole log.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection: Projection.Projection<Line.Located, MetadataTail> = Projection.make({
  initial: make,
  evolve: (self: MetadataTail, { at, entry }: Line.Located) => {
    if (SessionMetadata.isRestated(entry)) learn(self, entry, at.byteStart, at.byteEnd + 1 - at.byteStart)
    return self
  },
  extract: (self) => self
})

/**
 * Takes note of a value that is set here, and of where its line will stand.
 *
 * @category combinators
 * @since 0.1.0
 */
export const set = (self: MetadataTail, entry: Metadata.Metadata, at: number, bytes: number): void => {
  self.sets.set(entry.type, at)
  learn(self, entry, at, bytes)
}

/**
 * Takes note of a line that says a value again.
 *
 * @category combinators
 * @since 0.1.0
 */
export const restated = (self: MetadataTail, kind: Metadata.Kind, at: number, bytes: number): void => {
  self.places.set(kind, { at, bytes })
  findOldest(self)
}

/**
 * Takes note of a line that another program wrote; true: a line of ours stands behind it and says an older value.
 *
 * @category combinators
 * @since 0.1.0
 */
export const absorb = (self: MetadataTail, entry: Metadata.Metadata, at: number, bytes: number): boolean => {
  if ((self.sets.get(entry.type) ?? -1) > at) return false
  const isStale = (self.places.get(entry.type)?.at ?? -1) > at
  learn(self, entry, isStale ? -Infinity : at, bytes)
  return isStale
}

/**
 * Others have written so many bytes at an offset; what was to stand from there on stands behind them.
 *
 * @category combinators
 * @since 0.1.0
 */
export const shift = (self: MetadataTail, from: number, bytes: number): void => {
  for (const place of self.places.values()) if (place.at >= from) place.at += bytes
  for (const [kind, at] of self.sets) if (at >= from) self.sets.set(kind, at + bytes)
  findOldest(self)
}

/**
 * The log is not what it was: all is to be said again.
 *
 * @category combinators
 * @since 0.1.0
 */
export const forget = (self: MetadataTail): void => {
  for (const place of self.places.values()) place.at = -Infinity
  self.sets.clear()
  findOldest(self)
}

/**
 * Whether a place is out of the window when the log ends at `end`: something may be to be said again then.
 *
 * @category guards
 * @since 0.1.0
 */
export const isDue = (self: MetadataTail, end: number): boolean => end - self.oldest > WINDOW - SLACK

/**
 * What is to be said again when the log ends at `end`; `leafUuid` goes with the last prompt.
 *
 * @category combinators
 * @since 0.1.0
 */
export const due = (
  self: MetadataTail,
  end: number,
  leafUuid: string | undefined = self.leaf
): ReadonlyArray<Metadata.Body> => {
  if (!isDue(self, end)) return none
  return SessionMetadata.restate(self.cache.extract(), leafUuid).filter(({ type }) => {
    const place = self.places.get(type)
    return place !== undefined && place.bytes <= LONGEST && end - place.at > WINDOW - SLACK
  })
}

const none: ReadonlyArray<Metadata.Body> = []

/**
 * Takes values from another cache where they differ, as if set here and not written yet; `keep` names the kinds that stay.
 *
 * @category combinators
 * @since 0.1.0
 */
export const adopt = (
  self: MetadataTail,
  metadata: SessionMetadata.SessionMetadata,
  keep: ReadonlySet<Metadata.Kind>,
  sizeOf: (body: Metadata.Body) => number
): void => {
  const own = new Map(SessionMetadata.restate(self.cache.extract()).map((body) => [body.type, JSON.stringify(body)]))
  for (const body of SessionMetadata.restate(metadata)) {
    if (keep.has(body.type) || own.get(body.type) === JSON.stringify(body)) continue
    learn(self, body as Metadata.Metadata, -Infinity, sizeOf(body))
  }
}

const learn = (self: MetadataTail, entry: Metadata.Metadata, at: number, bytes: number): void => {
  self.cache.evolve(entry)
  if (Entry.is("last-prompt")(entry)) self.leaf = entry.leafUuid
  self.places.set(entry.type, { at, bytes })
  findOldest(self)
}

const findOldest = (self: MetadataTail): void => {
  self.oldest = Infinity
  for (const { at, bytes } of self.places.values()) if (bytes <= LONGEST && at < self.oldest) self.oldest = at
}
