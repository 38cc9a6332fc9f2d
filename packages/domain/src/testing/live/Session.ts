/**
 * Session: a session at work: what its reader sees, and the lines it has written so far. It knows no rule of
 * recovery; what it shows is what a log of these lines must be recovered to.
 *
 *   visible   u1 a2 a3 r4        the list that the next request is made from
 *   tip       r4                 what the next message hangs on: the last of them, or another entry of the last round
 *   lists     of before a compaction (archived), of before a rewind (abandoned)
 *
 * 1. Ids are words of Notation: a letter for the kind, and a number. A message is written a second after the one before.
 * 2. Entries of one reply, with the results of its calls and the notes on those, are one round: it is entered and left
 *    as a whole. A note on which a turn hangs belongs to that turn's branch and no longer to the round.
 */
import { type Kind, letters, markers, notes, speech } from "./Kind.ts"

/**
 * A message that was written: what it hangs on, whatever links stand between; the round it belongs to; the calls it
 * makes and answers. `carries`: a turn hangs on this note. `misplaced`: it hangs on none of its round.
 *
 * @category models
 * @since 0.1.0
 */
export interface Written {
  readonly id: string
  readonly kind: Kind
  readonly body: object
  readonly parent: string | null
  readonly round: string | undefined
  readonly calls: ReadonlyArray<string>
  readonly answers: ReadonlyArray<string>
  readonly misplaced: boolean
  readonly second: number
  readonly place: number
  carries: boolean
}

/**
 * How a message is written, where it is not by the rule.
 *
 * @category models
 * @since 0.1.0
 */
export interface How {
  readonly id?: string
  readonly parent?: string | null
  readonly via?: string
  readonly round?: string | undefined
  readonly calls?: ReadonlyArray<string>
  readonly answers?: ReadonlyArray<string>
  readonly misplaced?: boolean
  readonly second?: number
  readonly timeless?: boolean
  readonly bare?: boolean
}

/**
 * A conversation that was left, with its tip.
 *
 * @category models
 * @since 0.1.0
 */
export interface List {
  readonly visible: ReadonlyArray<string>
  readonly tip: string | null
}

/** A link that waits for the message that will hang on it. */
interface Waiting {
  readonly id: string
  readonly type: string
  readonly parent: string | null
  readonly behind: boolean
  readonly twice: boolean
}

/**
 * The session that writes every line, of which no reader asks more than that it is one.
 *
 * @category constants
 * @since 0.1.0
 */
export const sessionId = "11111111-1111-4111-8111-111111111111"

/**
 * A session under way.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveSession {
  readonly lines: Array<{ readonly text: string; readonly id?: string; readonly torn?: boolean }> = []
  readonly known = new Map<string, Written>()
  visible: ReadonlyArray<string> = []
  tip: string | null = null
  newest: string | null = null
  archived: ReadonlyArray<List> = []
  abandoned: ReadonlyArray<List> = []
  readonly snipped = new Set<string>()
  readonly keptBy = new Map<string, ReadonlySet<string>>()
  readonly sidechains: Array<string> = []
  pending: ReadonlyArray<{ readonly call: string; readonly entry: string; readonly round: string }> = []
  link: Waiting | undefined
  readonly metadata = new Map<string, string>()
  queue: ReadonlyArray<string> = []
  readonly checkpoints = new Map<string, number>()
  firstPrompt: string | undefined
  private count = 0
  private seconds = 0

  /** A number that nobody has yet. */
  fresh(letter: string): string {
    return `${letter}${++this.count}`
  }

  /** A line that is no message. Lines that a picture shows take their second. */
  note(entry: object, isDrawn = false): void {
    if (isDrawn) this.seconds++
    this.lines.push({ text: JSON.stringify({ ...entry, sessionId }) })
  }

  /** Writes a message; it is not seen yet. */
  write(kind: Kind, body: object, how: How = {}): Written {
    const id = how.id ?? this.fresh(letters[kind])
    const parent = how.parent === undefined ? this.tip : how.parent
    const waiting = this.link?.parent === parent ? this.link : undefined
    this.link = undefined
    const via = how.via ?? waiting?.id
    if (waiting?.behind === false) this.writeLink(waiting.id, waiting.type, parent)
    const second = how.second ?? this.seconds + 1
    const { calls = [], answers = [], misplaced = false } = how
    const round = how.round ?? (notes.has(kind) ? this.roundOfNote(parent) : undefined)
    const written = {
      id,
      kind,
      body,
      parent,
      round,
      calls,
      answers,
      misplaced,
      second,
      place: this.known.size,
      carries: false
    }
    this.known.set(id, written)
    this.writeLine(id, via ?? parent, body, how.timeless === true ? undefined : second, how.bare === true)
    if (waiting?.behind === true) this.writeLink(waiting.id, waiting.type, parent)
    if (waiting?.twice === true) this.writeLink(waiting.id, waiting.type, id)
    if (!notes.has(kind) && !markers.has(kind)) this.mark(written)
    return written
  }

  /** Writes a message that is seen, and on which the next one hangs. */
  say(kind: Kind, body: object, how: How = {}): Written {
    const written = this.write(kind, body, how)
    this.visible = [...this.visible, written.id]
    this.tip = written.id
    this.newest = written.id
    return written
  }

  /** The line of a message: its first, or a copy. */
  writeLine(id: string, parent: string | null, body: object, second: number | undefined, bare = false): void {
    this.seconds++
    const time = second === undefined ? undefined : { timestamp: timeOf(second) }
    const side = bare ? undefined : { isSidechain: false }
    this.lines.push({
      id,
      text: JSON.stringify({ parentUuid: parent, ...side, ...body, uuid: id, ...time, sessionId })
    })
  }

  writeLink(id: string, type: string, parent: string | null): void {
    this.note({ type, uuid: id, parentUuid: parent, timestamp: timeOf(this.seconds + 1) }, true)
  }

  /** The line of a sidechain's message. */
  writeAside(id: string, body: object): void {
    this.note({ ...body, uuid: id, timestamp: timeOf(this.seconds + 1) }, true)
    this.sidechains.push(id)
  }

  /** A line that was cut. */
  tear(text: string): void {
    this.seconds++
    this.lines.push({ text, torn: true })
  }

  get(id: string): Written {
    return this.known.get(id)!
  }

  isNote(id: string): boolean {
    return notes.has(this.get(id).kind)
  }

  /** Whether anything is said in these: what else there is makes no conversation. */
  isSpoken(ids: ReadonlyArray<string>): boolean {
    return ids.some((id) => speech.has(this.get(id).kind))
  }

  /** Whether the message was kept by the boundary that this list starts at: it then hangs on the one before it. */
  isKept(ids: ReadonlyArray<string>, id: string): boolean {
    return this.keptBy.get(ids[0] ?? "")?.has(id) === true
  }

  /** Whether another boundary kept the message: what hangs on it now is read as hanging behind that one. */
  isKeptElsewhere(ids: ReadonlyArray<string>, id: string): boolean {
    return [...this.keptBy].some(([boundary, kept]) => boundary !== ids[0] && kept.has(id))
  }

  /** Whether the message stands before the last boundary of the file, which is that of another list. */
  isArchived(ids: ReadonlyArray<string>, id: string): boolean {
    const last = [...this.keptBy.keys()].at(-1)
    return last !== undefined && last !== ids[0] && this.get(id).place < this.get(last).place
  }

  /** Whether the message belongs to what these end with: it is the last, or of the same round. */
  isEnd(ids: ReadonlyArray<string>, id: string): boolean {
    return this.endOfRound(ids, ids.indexOf(id)) === ids.length - 1
  }

  /** The last of these on which the session can go on. */
  lastOf(ids: ReadonlyArray<string>): string | undefined {
    return ids.findLast((id) => this.isKept(ids, id) || !this.get(id).misplaced)
  }

  /** The end of the round that the message at this place belongs to; the place itself outside of rounds. */
  endOfRound(ids: ReadonlyArray<string>, at: number): number {
    const { round } = this.get(ids[at]!)
    return round === undefined ? at : ids.findLastIndex((id) => this.get(id).round === round)
  }

  /** A message and all that it hangs on, as it was written. */
  pathTo(tip: string | null): ReadonlySet<string> {
    const path = new Set<string>()
    for (let at = tip; at !== null && !path.has(at); at = this.get(at).parent) path.add(at)
    return path
  }

  /** What is seen by one who goes on from `tip`, of a list: all but what was taken out, and notes of other branches. */
  seenFrom(ids: ReadonlyArray<string>, tip: string | null): ReadonlyArray<string> {
    const path = this.pathTo(tip)
    const isElsewhere = ({ carries, id, kind, round }: Written): boolean =>
      notes.has(kind) && round !== undefined && carries && !path.has(id) && !this.isKept(ids, id)
    return ids.filter((id) => !this.snipped.has(id) && !isElsewhere(this.get(id)))
  }

  /** The round of a note is that of the call or result that it hangs on, through other notes. */
  private roundOfNote(parent: string | null): string | undefined {
    if (parent === null) return undefined
    const { calls, kind, round } = this.get(parent)
    return calls.length > 0 || kind === "result" || notes.has(kind) ? round : undefined
  }

  /** What is no part of their round turns the notes that it hangs on, through markers, into its own. */
  private mark({ parent, round }: Written): void {
    for (let at = parent; at !== null; at = this.get(at).parent) {
      const above = this.get(at)
      if (!notes.has(above.kind) && !markers.has(above.kind)) return
      if (round === undefined || above.round !== round) above.carries = true
    }
  }
}

/**
 * The time of a second of the day on which all sessions take place.
 *
 * @category getters
 * @since 0.1.0
 */
export const timeOf = (second: number): string => {
  const two = (n: number): string => String(Math.floor(n)).padStart(2, "0")
  return `2026-01-01T${two(second / 3600)}:${two((second / 60) % 60)}:${two(second % 60)}.000Z`
}
