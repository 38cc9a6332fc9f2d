/**
 * Evidence: whether a file may be a transcript at all, by what it holds.
 *
 *   {"type":"user",…}   known          # notes   foreign          {"type":"us   what is left of an entry: neither
 */
import * as Entry from "./Entry.ts"
import type { Located } from "./Line.ts"
import * as Projection from "./Projection.ts"

/**
 * What a file holds: entries of all kinds, those of a kind that transcripts have, and those that are something else. A
 * line that ends in the middle and bytes that are none may be what is left of an entry, so they count as neither.
 *
 * @category models
 * @since 0.1.0
 */
export interface Evidence {
  readonly entries: number
  readonly known: number
  readonly foreign: number
}

/**
 * Counts what a file holds.
 *
 * @category projections
 * @since 0.1.0
 */
export const projection: Projection.Projection<Located, Evidence> = Projection.entries(
  Projection.make({
    initial: () => ({ entries: 0, known: 0, foreign: 0 }),
    evolve: (draft, entry: Entry.Entry) => {
      draft.entries++
      if (isKnown(entry)) draft.known++
      else if (!(entry instanceof Entry.Malformed) || !remains.has(entry.reason)) draft.foreign++
      return draft
    },
    extract: (draft): Evidence => draft
  })
)

/**
 * Whether an entry is of a kind that transcripts have.
 *
 * @category guards
 * @since 0.1.0
 */
export const isKnown = (entry: Entry.Entry): boolean => {
  const kind = Entry.kindOf(entry)
  return kind !== "unknown" && kind !== "malformed"
}

const remains: ReadonlySet<Entry.Malformed["reason"]> = new Set(["torn", "blank"])

/**
 * Whether what a file holds may be a transcript, damaged or not.
 *
 * @category getters
 * @since 0.1.0
 */
export const isTranscript = ({ foreign, known }: Evidence): boolean => known > 0 || foreign === 0
