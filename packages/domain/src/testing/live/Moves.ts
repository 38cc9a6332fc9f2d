/**
 * Moves: what shows another part of the session than before.
 *
 *   compact   visible   u1 a2 u3 a4          ─▶   B5 S6 u3 a4        u3, a4 kept
 *   rewind    visible   u1 a2 u3 a4          ─▶   u1 a2 w5           to a2
 *   snip      visible   u1 a2 u3 a4          ─▶   u1 a4 N5           of a2, u3
 *
 * Who turns to another part of the conversation forgets the results that were waited for.
 */
import * as Boundary from "../../Boundary.ts"
import * as Message from "../../Message.ts"
import * as Metadata from "../../Metadata.ts"
import * as Step from "../Step.ts"
import type { Kind } from "./Kind.ts"
import type { List, LiveSession, Written } from "./Session.ts"
import * as Talk from "./Talk.ts"

type Of<T extends Step.Step["_tag"]> = Extract<Step.Step, { readonly _tag: T }>

/**
 * A compaction.
 *
 * @category combinators
 * @since 0.1.0
 */
export const compact = (session: LiveSession, { finished, form, hung, kept: count, notes }: Of<"Compact">): void => {
  if (!session.isSpoken(session.visible)) return
  // Whether a boundary that is ignored resets a `last-prompt` is not settled.
  if (!finished && !session.visible.includes(session.newest!)) return
  session.pending = []
  const first = session.get(session.visible[0]!).kind === "boundary" ? summaryAt(session, session.visible) : 0
  // What a boundary without a summary keeps is not settled: who was killed before the summary kept nothing here.
  const kept = count === 0 || !finished ? [] : session.visible.slice(first).slice(-count)
  const summary = session.fresh("S")
  const isLine = kept.every((id, i) => i === 0 || session.get(id).parent === kept[i - 1])
  const plain = Boundary.compact({ trigger: "manual", preTokens: 1000, logicalParentUuid: session.tip })
  const both = Boundary.compact({
    ...noTokens,
    logicalParentUuid: session.tip,
    preserved: { anchor: summary, uuids: kept }
  })
  const { preservedMessages, preservedSegment } = both.compactMetadata
  const record =
    kept.length === 0
      ? {}
      : form === "messages"
        ? { preservedMessages }
        : form === "segment" && isLine
          ? { preservedSegment }
          : { preservedMessages, preservedSegment }
  const before: List = { visible: session.visible, tip: session.tip }
  const body = { ...plain, compactMetadata: { ...plain.compactMetadata, ...record } }
  const boundary = session.write("boundary", body, { parent: hung && kept.length === 0 ? session.tip : null })
  if (!finished) return
  session.archived = [...session.archived, before]
  session.abandoned = []
  session.keptBy.set(boundary.id, new Set(kept))
  session.visible = [boundary.id]
  session.tip = boundary.id
  for (let i = 0; i < notes; i++) session.say("attachment", Message.attachment({ type: "session_context" }))
  session.say("summary", Boundary.compactSummary("[summary]"), { id: summary })
  if (form === "rewritten") {
    kept.forEach((id, i) => {
      const { body, second } = session.get(id)
      session.writeLine(id, kept[i - 1] ?? summary, body, second)
    })
  }
  session.visible = [...session.visible, ...kept]
  session.tip = kept.at(-1) ?? summary
}

const noTokens = { trigger: "manual", preTokens: 1000 }

/** What a snip never takes out: the start of a context, and what holds a branch that leaves before it. */
const isStaying: ReadonlySet<Kind> = new Set<Kind>(["boundary", "rewind"])

/**
 * A snip.
 *
 * @category combinators
 * @since 0.1.0
 */
export const snip = (session: LiveSession, { onRemoved, which }: Of<"Snip">): void => {
  const candidates = session.visible.filter((id) => !isStaying.has(session.get(id).kind)).toReversed()
  const gone = new Set(candidates.filter((_, i) => i < 8 && ((which >> i) & 1) === 1))
  const stay = session.visible.filter((id) => !gone.has(id))
  if (!session.isSpoken(stay)) return
  session.pending = []
  for (const id of gone) session.snipped.add(id)
  const last = stay.at(-1)!
  const isTip = session.pathTo(session.tip).has(last) && !isHead(session, stay, stay.length - 1)
  const parent = isTip && !onRemoved ? last : session.tip
  session.visible = stay
  session.say("snip", Boundary.snip([...gone]), { parent })
}

/** Leaves the list that is seen now for a part of another one. */
const goTo = (session: LiveSession, ids: ReadonlyArray<string>, tip: string | null): void => {
  session.pending = []
  session.abandoned = [...session.abandoned, { visible: session.visible, tip: session.tip }]
  session.visible = session.seenFrom(ids, tip)
  session.tip = tip
}

const marker = Message.informational("[rewind]")

/**
 * A rewind, to the end of a round or into it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const rewind = (session: LiveSession, { across, inside, to }: Of<"Rewind">): void => {
  const seen = new Set(session.visible)
  const lists = across ? session.archived : [{ visible: session.visible }]
  const targets = lists.flatMap(({ visible }) =>
    visible.flatMap((id, at) => {
      const ids = visible.slice(0, session.endOfRound(visible, at) + 1)
      const { answers, calls } = session.get(id)
      const staysInside = inside && !across && calls.length + answers.length > 0 && !session.isKept(ids, id)
      const target = staysInside ? id : session.lastOf(ids)
      if (target === undefined || !session.isEnd(ids, target)) return []
      const isNew = !seen.has(target) && !session.snipped.has(target) && session.isSpoken([...session.pathTo(target)])
      const isThere = !session.isKeptElsewhere(visible, target) && (!across || isNew)
      const isGood = isThere && session.isSpoken(ids) && !isHead(session, visible, at) && !session.get(id).misplaced
      return isGood ? [{ ids, target }] : []
    })
  )
  if (targets.length === 0) return
  const { ids, target } = targets[to % targets.length]!
  goTo(session, ids, target)
  session.say("rewind", marker)
}

const summaryAt = (session: LiveSession, ids: ReadonlyArray<string>): number =>
  ids.findIndex((id) => session.get(id).kind === "summary")

/** The boundary and what follows it up to the summary; the summary, too, where messages are kept behind it. */
const isHead = (session: LiveSession, ids: ReadonlyArray<string>, at: number): boolean => {
  if (session.get(ids[0]!).kind !== "boundary") return false
  const summary = summaryAt(session, ids)
  return at < summary || (at === summary && (session.keptBy.get(ids[0]!)?.size ?? 0) > 0)
}

/** What hangs on it without a rewind to hold it there is read as hanging behind the last boundary. */
const isFar = (session: LiveSession, ids: ReadonlyArray<string>, id: string): boolean =>
  session.isArchived(ids, id) || session.isKeptElsewhere(ids, id)

/**
 * An older prompt in another way.
 *
 * @category combinators
 * @since 0.1.0
 */
export const branch = (session: LiveSession, { to }: Of<"Branch">): void => {
  const { visible } = session
  const isGood = (at: number): boolean => {
    const ids = visible.slice(0, at)
    const last = session.lastOf(ids)
    if (last === undefined) return at === 0
    return session.isEnd(ids, last) && !isHead(session, visible, at - 1) && !isFar(session, visible, last)
  }
  const targets = visible.flatMap((id, at) => (session.get(id).kind === "prompt" && isGood(at) ? [{ at, id }] : []))
  if (targets.length === 0) return
  const { at, id } = targets[to % targets.length]!
  const ids = visible.slice(0, at)
  const { parent } = session.get(id)
  const last = session.lastOf(ids) ?? null
  // Where the last round was left before, it is left again.
  const isLeftThere =
    parent !== null && ids.includes(parent) && !session.isKept(ids, parent) && session.isEnd(ids, parent)
  const tip = isLeftThere ? parent : last
  goTo(session, ids, tip)
  Talk.say(session, Step.Say({ text: "plain" }))
}

/**
 * Back to what a rewind or a branch left.
 *
 * @category combinators
 * @since 0.1.0
 */
export const goBack = (session: LiveSession, { by, to }: Of<"Return">): void => {
  const lists = session.abandoned.filter((list) => {
    const { tip, visible } = list
    const left = visible.filter((id) => !session.snipped.has(id))
    if (tip === null || session.snipped.has(tip) || session.isKeptElsewhere(visible, tip)) return false
    return session.isSpoken(left) && (by === "marker" || (isElsewhere(session, list) && !isFar(session, visible, tip)))
  })
  if (lists.length === 0) return
  const list = lists[to % lists.length]!
  const { tip, visible } = list
  session.abandoned = session.abandoned.filter((one) => one !== list)
  goTo(session, visible, tip)
  if (by === "marker") session.say("rewind", marker)
  else session.note({ ...Metadata.lastPrompt({ leafUuid: tip! }) }, true)
}

/**
 * A `last-prompt` that names what the newest message hangs on says nothing; and a note on a round that other branches
 * pass as well would be theirs, too.
 */
const isElsewhere = (session: LiveSession, list: List): boolean => {
  const others = [{ visible: session.visible }, ...session.abandoned.filter((one) => one !== list)]
  const isShared =
    session.get(list.tip!).round !== undefined && others.some(({ visible }) => visible.includes(list.tip!))
  return !isShared && !session.pathTo(session.newest).has(list.tip!)
}

/**
 * A summary without a boundary: the start of another tree.
 *
 * @category combinators
 * @since 0.1.0
 */
export const summaryRoot = (session: LiveSession): void => {
  if (!session.isSpoken(session.visible)) return
  session.pending = []
  session.archived = [...session.archived, { visible: session.visible, tip: session.tip }]
  session.abandoned = []
  session.visible = []
  session.say("summary", Boundary.compactSummary("[summary]"), { parent: null })
}

/**
 * Everything that is seen once more under new ids, each message on the one before it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const rewrite = (session: LiveSession): void => {
  const all = session.visible.map((id) => session.get(id))
  const calls = new Set(all.flatMap(({ calls }) => calls))
  const isWhole = all.every(({ answers, kind }) => kind !== "boundary" && answers.every((id) => calls.has(id)))
  if (!session.isSpoken(session.visible) || !isWhole) return
  goTo(session, [], null)
  const rounds = new Map<string, string>()
  for (const { answers, body, calls, id, kind, round, second } of all as ReadonlyArray<Written>) {
    if (round !== undefined && !rounds.has(round)) rounds.set(round, session.fresh("round"))
    const copy = session.say(kind, body, {
      calls,
      answers,
      round: round === undefined ? undefined : rounds.get(round)!,
      second
    })
    const count = session.checkpoints.get(id)
    if (count !== undefined) session.checkpoints.set(copy.id, count)
  }
}
