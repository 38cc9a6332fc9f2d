/**
 * Merge: what a log gets from its remote copy. Pure.
 *
 *   local     a b c           a b c x         a b c x
 *   remote    a b c d         a b c           a b c y z
 *   appended  d               nothing         y z, and the leaf to go on from
 *             fast-forward    local-ahead     diverged
 *
 * 1. Lines are only ever added behind those that are there, in the order of the remote.
 * 2. A line with an id is known by it: the first of an id stands. Any other is known by its bytes: the second copy there
 *    is the second copy here, wherever they stand.
 * 3. What one of the two holds is held afterwards; merging again adds nothing.
 * 4. The last line of a log is what its session goes on from. So where what is added is not what the caller prefers, a
 *    leaf is named, for a `last-prompt` line behind all.
 */

/**
 * A line of a log: the id of its entry, where that has one; a digest of its bytes; and, where it is a message of the
 * lane, when it was said (ISO 8601, "" where it does not say).
 *
 * @category models
 * @since 0.1.0
 */
export interface Line {
  readonly uuid?: string | undefined
  readonly hash: string
  readonly said?: string | undefined
}

/**
 * What becomes of a line of the remote: it is there; it is added; or another line has its id, `local` in the log, or an
 * earlier one of the remote.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict<L extends Line = Line> =
  | { readonly _tag: "Known" }
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Conflict"; readonly local: L | undefined }

/**
 * How the two compare. `remote-empty`: it holds no line. `fresh`: the log does not exist, or is empty. `same`,
 * `local-ahead`: the remote has nothing to add. `fast-forward`: it has. `diverged`: it has, and both hold messages that
 * the other lacks.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome = "remote-empty" | "fresh" | "same" | "local-ahead" | "fast-forward" | "diverged"

/**
 * Whose branch the session goes on from: that of the side named, or of the one whose own last message is the later.
 *
 * @category models
 * @since 0.1.0
 */
export type Side = "local" | "remote" | "newest"

/**
 * The leaf that has to be named: the one that recovery finds in the log as it was, or a message of the remote.
 *
 * @category models
 * @since 0.1.0
 */
export type Leaf = { readonly _tag: "Local" } | { readonly _tag: "Remote"; readonly uuid: string }

/**
 * The sum of a merge: how many lines are added, the lines that the remote lacks, and the leaf to be named, if any.
 *
 * @category models
 * @since 0.1.0
 */
export interface Merged<L extends Line = Line> {
  readonly outcome: Outcome
  readonly missing: number
  readonly conflicts: number
  readonly own: ReadonlyArray<L>
  readonly leaf: Leaf | undefined
}

/**
 * A merge under way: each line of the remote is judged once, in its order; then the sum.
 *
 * @category models
 * @since 0.1.0
 */
export interface Merge<L extends Line = Line> {
  readonly judge: (remote: Line) => Verdict<L>
  /** `prefer`: by default the local branch where the two diverged, else the newest. */
  readonly end: (prefer?: Side) => Merged<L>
}

const known: Verdict<never> = { _tag: "Known" }
const missing: Verdict<never> = { _tag: "Missing" }

/**
 * Begins a merge into a log of these lines.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <L extends Line>(local: ReadonlyArray<L>): Merge<L> => {
  const { copies, places } = indexed(local)
  const isShared = new Uint8Array(local.length)
  /** The ids that only the remote has. */
  const added = new Map<string, string>()
  const count = { lines: 0, missing: 0, conflicts: 0 }
  /** The last message of the remote, and the last one that the log lacks. */
  let last: Line | undefined
  let lastAdded: Line | undefined

  const judgeNamed = (uuid: string, hash: string): Verdict<L> => {
    const place = places.get(uuid)
    if (place !== undefined) {
      isShared[place] = 1
      return local[place]!.hash === hash ? known : { _tag: "Conflict", local: local[place] }
    }
    const before = added.get(uuid)
    if (before !== undefined) return before === hash ? known : { _tag: "Conflict", local: undefined }
    added.set(uuid, hash)
    return missing
  }
  const judgeNameless = (hash: string): Verdict<L> => {
    const place = copies.get(hash)?.pop()
    if (place === undefined) return missing
    isShared[place] = 1
    return known
  }
  return {
    judge: (remote) => {
      const { hash, said, uuid } = remote
      const verdict = uuid === undefined ? judgeNameless(hash) : judgeNamed(uuid, hash)
      count.lines++
      if (verdict._tag === "Conflict") count.conflicts++
      else if (said !== undefined) last = remote
      if (verdict._tag === "Missing") {
        count.missing++
        if (said !== undefined) lastAdded = remote
      }
      return verdict
    },
    end: (prefer) => {
      const isOwn = ({ uuid }: L, i: number): boolean =>
        isShared[i] === 0 && (uuid === undefined || isShared[places.get(uuid)!] === 0)
      const own = local.filter(isOwn)
      const lastOwn = own.findLast(({ said }) => said !== undefined)
      const isDiverged = lastOwn !== undefined && lastAdded !== undefined
      const grown = local.length === 0 ? "fresh" : isDiverged ? "diverged" : "fast-forward"
      const still = own.length === 0 ? "same" : "local-ahead"
      return {
        outcome: count.lines === 0 ? "remote-empty" : count.missing > 0 ? grown : still,
        missing: count.missing,
        conflicts: count.conflicts,
        own,
        leaf: lastAdded && local.length > 0 ? leafOf(lastOwn, lastAdded, last, prefer) : undefined
      }
    }
  }
}

/**
 * The whole of a merge: the places, in the remote, of the lines to append, and the sum.
 *
 * @category combinators
 * @since 0.1.0
 */
export const plan = <L extends Line>(
  local: ReadonlyArray<L>,
  remote: ReadonlyArray<Line>,
  prefer?: Side
): Merged<L> & { readonly append: ReadonlyArray<number> } => {
  const merge = make(local)
  const append = remote.flatMap((line, place) => (merge.judge(line)._tag === "Missing" ? [place] : []))
  return { ...merge.end(prefer), append }
}

/** Ids by the place of their first line, and the places of equal lines without id, the last one first. */
const indexed = (lines: ReadonlyArray<Line>) => {
  const places = new Map<string, number>()
  const copies = new Map<string, Array<number>>()
  for (let i = lines.length - 1; i >= 0; i--) {
    const { hash, uuid } = lines[i]!
    if (uuid !== undefined) places.set(uuid, i)
    else if (!copies.get(hash)?.push(i)) copies.set(hash, [i])
  }
  return { places, copies }
}

/** What is added stands at the end, so it is preferred unless a leaf is named; `own` is the last message of the log alone. */
const leafOf = (own: Line | undefined, lastAdded: Line, last: Line | undefined, prefer?: Side): Leaf | undefined => {
  const isOwnNewer = own !== undefined && own.said! >= lastAdded.said!
  const side = prefer ?? (own === undefined ? "newest" : "local")
  if (side === "local" || (side === "newest" && isOwnNewer)) return { _tag: "Local" }
  // Lines that were missing in the middle: the remote itself goes on from a message that is there already.
  return last === lastAdded || last?.uuid === undefined ? undefined : { _tag: "Remote", uuid: last.uuid }
}
