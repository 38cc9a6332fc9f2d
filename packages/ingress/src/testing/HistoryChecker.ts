/**
 * HistoryChecker: what clients of a remote were told, against what its streams hold in the end. Pure.
 *
 *   writers ─▶ asked, answered, when ─┐
 *                                     ├─▶ check ─▶ violations, by the rule that they break
 *   streams, read when all is over ───┘
 *
 * A remote is right when a server that does one thing after the other could have given these answers. That is seen from
 * the streams themselves, since they say in which order things were done: nothing has to be searched for.
 */

/**
 * A line that a writer offered; `uuid` is the id of its entry where that has one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Line {
  readonly key: string
  readonly text: string
  readonly uuid?: string
}

/**
 * What was asked and answered. `began` and `ended` are times of one clock, the first attempt and the last answer.
 *
 *   Append   `behind`: what its attempts named as the id to append behind
 *            answered: Stored (`seq` and `head` where the answer says them), Fenced, or Unknown, when nobody answered
 *   Claim    answered with `epoch`
 *   Read     answered with `keys`
 *
 * @category models
 * @since 0.1.0
 */
export type Event =
  | (Call & {
      readonly _tag: "Append"
      readonly lines: ReadonlyArray<Line>
      readonly behind: ReadonlyArray<string | undefined>
      readonly epoch: number
      readonly answer: Answer
    })
  | (Call & { readonly _tag: "Claim"; readonly epoch: number })
  | (Call & { readonly _tag: "Read"; readonly keys: ReadonlyArray<string> })

/**
 * What an append was answered with.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer =
  | { readonly _tag: "Stored"; readonly end?: End; readonly duplicate: boolean }
  | { readonly _tag: "Fenced" }
  | { readonly _tag: "Unknown" }

/**
 * Where a stream ended, as an answer said it.
 *
 * @category models
 * @since 0.1.0
 */
export interface End {
  readonly head: string | undefined
  readonly seq: number
}

interface Call {
  readonly writer: string
  readonly stream: string
  readonly began: number
  readonly ended: number
}

/**
 * A rule that is broken, in which stream, and by what.
 *
 * @category models
 * @since 0.1.0
 */
export interface Violation {
  readonly rule: Rule
  readonly stream: string
  readonly found: string
}

/**
 * The rules, by what breaks them.
 *
 *   lost         a line that was answered for is not there
 *   doubled      a key is there twice
 *   unknown      a line is there that nobody offered
 *   altered      a line has other bytes than it was offered with
 *   revived      a line is there that was refused
 *   disordered   a writer's lines are not in its order
 *   torn         a batch is there in part, or with lines of others in it
 *   misplaced    an answer said another end than the stream had
 *   unchained    a batch stands behind a line that its writer did not name
 *   overtaken    what began later stands before what had been answered already
 *   stale        a line of an epoch stands behind one of a later epoch, or was taken after a later claim
 *   shared       two claims have one epoch, or a later claim has a lower one
 *   misread      a read was not the beginning of the stream, or lacks what had been answered already
 *
 * @category models
 * @since 0.1.0
 */
export type Rule = keyof typeof rules

/**
 * The violations of a history; `logs` are all lines of each stream when nobody writes any more.
 *
 * @category combinators
 * @since 0.1.0
 */
export const check = (
  history: ReadonlyArray<Event>,
  logs: ReadonlyMap<string, ReadonlyArray<Line>>
): ReadonlyArray<Violation> =>
  [...new Set([...logs.keys(), ...history.map(({ stream }) => stream)])].flatMap((stream) => {
    const view = viewOf(
      history.filter((event) => event.stream === stream),
      logs.get(stream) ?? []
    )
    return (Object.keys(rules) as Array<Rule>).flatMap((rule) =>
      rules[rule](view).map((found) => ({ rule, stream, found }))
    )
  })

type Append = Extract<Event, { readonly _tag: "Append" }>

/** A stream: its lines, what was done to it by the times when that began, and where lines stand, from 1. */
interface View {
  readonly log: ReadonlyArray<Line>
  readonly appends: ReadonlyArray<Append>
  readonly claims: ReadonlyArray<Extract<Event, { readonly _tag: "Claim" }>>
  readonly reads: ReadonlyArray<Extract<Event, { readonly _tag: "Read" }>>
  readonly offered: ReadonlyMap<string, { readonly line: Line; readonly append: Append }>
  readonly placeOf: (line: Line | undefined) => number | undefined
}

const viewOf = (events: ReadonlyArray<Event>, log: ReadonlyArray<Line>): View => {
  const sorted = events.toSorted((a, b) => a.began - b.began)
  const of = <Tag extends Event["_tag"]>(tag: Tag) =>
    sorted.filter((event): event is Extract<Event, { readonly _tag: Tag }> => event._tag === tag)
  const appends = of("Append")
  const places = new Map<string, number>()
  for (const [i, { key }] of log.entries()) if (!places.has(key)) places.set(key, i + 1)
  const offered = appends.flatMap((append) => append.lines.map((line) => [line.key, { line, append }] as const))
  return {
    log,
    appends,
    claims: of("Claim"),
    reads: of("Read"),
    offered: new Map(offered),
    placeOf: (line) => (line === undefined ? undefined : places.get(line.key))
  }
}

const isStored = ({ answer }: Append): boolean => answer._tag === "Stored"

/** The last id among the first lines of a log. */
const headAt = (log: ReadonlyArray<Line>, seq: number): string | undefined =>
  log.slice(0, seq).findLast(({ uuid }) => uuid !== undefined)?.uuid

const rules = {
  lost: ({ appends, placeOf }: View) =>
    appends
      .filter(isStored)
      .flatMap(({ lines }) => lines.filter((line) => placeOf(line) === undefined))
      .map(({ key }) => key),

  doubled: ({ log, placeOf }: View) =>
    log.flatMap((line, i) => (placeOf(line) === i + 1 ? [] : [`${line.key} at ${placeOf(line)} and ${i + 1}`])),

  unknown: ({ log, offered }: View) => log.flatMap(({ key }) => (offered.has(key) ? [] : [key])),

  altered: ({ log, offered }: View) =>
    log.flatMap(({ key, text }) => {
      const line = offered.get(key)?.line
      return line === undefined || line.text === text ? [] : [`${key}: ${text}`]
    }),

  revived: ({ appends, placeOf }: View) =>
    appends
      .filter(({ answer, lines }) => answer._tag === "Fenced" && lines.some((line) => placeOf(line) !== undefined))
      .map(nameOf),

  disordered: ({ appends, placeOf }: View) => {
    const last = new Map<string, number>()
    return appends.flatMap((append) => {
      const place = placeOf(append.lines[0])
      if (place === undefined) return []
      const before = last.get(append.writer) ?? 0
      last.set(append.writer, Math.max(before, place))
      return place > before ? [] : [`${nameOf(append)} at ${place}, behind ${before} of its writer`]
    })
  },

  torn: ({ appends, placeOf }: View) =>
    appends
      .filter(({ lines }) => {
        const first = placeOf(lines[0])
        return lines.some((line, i) => placeOf(line) !== (first === undefined ? undefined : first + i))
      })
      .map(nameOf),

  misplaced: ({ appends, log, placeOf }: View) =>
    appends.flatMap((append) => {
      if (append.answer._tag !== "Stored" || append.answer.end === undefined) return []
      const { duplicate, end } = append.answer
      const place = placeOf(append.lines.at(-1)) ?? 0
      const isTrue = (duplicate ? end.seq >= place : end.seq === place) && headAt(log, end.seq) === end.head
      return isTrue && end.seq <= log.length ? [] : [`${nameOf(append)} at ${place}, told ${end.seq} and ${end.head}`]
    }),

  unchained: ({ appends, log, placeOf }: View) =>
    appends.flatMap((append) => {
      const place = placeOf(append.lines[0])
      if (place === undefined || append.behind.includes("*")) return []
      const before = headAt(log, place - 1)
      return append.behind.includes(before) ? [] : [`${nameOf(append)} behind ${before}`]
    }),

  overtaken: ({ appends, placeOf }: View) => {
    const answered = appends.filter(isStored).toSorted((a, b) => a.ended - b.ended)
    let next = 0
    let last = 0
    return appends.flatMap((append) => {
      for (; next < answered.length && answered[next]!.ended < append.began; next++)
        last = Math.max(last, placeOf(answered[next]!.lines[0]) ?? 0)
      const place = placeOf(append.lines[0])
      return place === undefined || place > last ? [] : [`${nameOf(append)} at ${place}, answered before: ${last}`]
    })
  },

  stale: ({ appends, claims, log, offered }: View) => {
    let epoch = 0
    const behind = log.flatMap(({ key }, i) => {
      const own = offered.get(key)?.append.epoch ?? epoch
      epoch = Math.max(epoch, own)
      return own === epoch ? [] : [`${key} of epoch ${own} at ${i + 1}, behind one of ${epoch}`]
    })
    const after = appends.filter(
      ({ answer, began, epoch }) =>
        answer._tag === "Stored" &&
        !answer.duplicate &&
        claims.some((claim) => claim.ended < began && claim.epoch > epoch)
    )
    return [...behind, ...after.map((append) => `${nameOf(append)} of epoch ${append.epoch}, after a later claim`)]
  },

  shared: ({ claims }: View) =>
    claims.flatMap((claim, i) =>
      claims
        .slice(0, i)
        .some(({ ended, epoch }) => epoch === claim.epoch || (ended < claim.began && epoch > claim.epoch))
        ? [`${claim.epoch}, of ${claim.writer}`]
        : []
    ),

  misread: ({ appends, log, placeOf, reads }: View) =>
    reads.flatMap(({ began, keys, writer }) => {
      const isBeginning = keys.every((key, i) => log[i]?.key === key)
      const missing = appends.find(
        (append) => isStored(append) && append.ended < began && (placeOf(append.lines.at(-1)) ?? 0) > keys.length
      )
      if (isBeginning && missing === undefined) return []
      return [`${writer}: ${keys.length} lines, ${missing === undefined ? "others" : `without ${nameOf(missing)}`}`]
    })
} satisfies Record<string, (view: View) => ReadonlyArray<string>>

const nameOf = ({ lines, writer }: Append): string => `${writer}: ${lines.map(({ key }) => key).join(" ")}`
