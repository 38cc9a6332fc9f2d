/**
 * Round: a reply with tool calls, as it is written down in all the ways that are known.
 *
 *   visible   … a1(text) a2(call c1) a3(call c2) r4(c2) t5(note) r6(c1)       one round, however it is linked
 *
 * 1. Entries of the reply share `message.id`; calls and results may come apart, together, in any order, or late.
 * 2. A result that hangs on nothing of its round is never the last line of it, and the session never goes on from it.
 */
import * as Content from "../../Content.ts"
import * as Message from "../../Message.ts"
import type { LiveSession, Written } from "./Session.ts"
import type * as Step from "../Step.ts"

interface Call {
  readonly id: string
  readonly entry: string
}

/**
 * Writes a reply with calls and those of their results that are not late.
 *
 * @category combinators
 * @since 0.1.0
 */
export const callTools = (session: LiveSession, step: Step.Round): void => {
  const before = session.tip
  const round = session.fresh("m")
  const ids = Array.from({ length: Math.max(1, step.calls) }, () => session.fresh("c"))
  const isLate = (id: string): boolean => ((step.late >> ids.indexOf(id)) & 1) === 1
  const members: Array<Written> = []
  if (step.said) members.push(speak(session, round, [Content.text("[text]")], []))
  const calls: Array<Call> = []
  const results = new Results(session, step, round, before, calls)
  for (const group of groups(ids, step.split)) {
    const blocks = group.map((id) => Content.toolUse({ id, name: "Tool", input: {} }))
    const call = speak(session, round, blocks, group)
    members.push(call)
    if (((step.noted >> (4 + members.length)) & 1) === 1) annotate(session, call.id, "event")
    for (const id of group) calls.push({ id, entry: call.id })
    if (step.streamed)
      members.push(
        ...results.of(
          group.filter((id) => !isLate(id)),
          false
        )
      )
  }
  const onTime = ids.filter((id) => !isLate(id))
  if (!step.streamed) members.push(...results.of(permuted(onTime, step.order), true))
  const late = calls.filter(({ id }) => isLate(id))
  session.pending = [...session.pending, ...late.map(({ entry, id }) => ({ call: id, entry, round }))]
  if (step.early && onTime.length > 0)
    moveBeforeCall(
      session,
      members.find(({ answers }) => answers.length > 0)!,
      calls
    )
  // A late result finds its round by a call or result on which the session went on.
  const hooks = members.filter(
    (one) => !one.misplaced && (late.length === 0 || one.calls.length + one.answers.length > 0)
  )
  session.tip = hooks[hooks.length - 1 - (step.hook % hooks.length)]!.id
}

const groups = (ids: ReadonlyArray<string>, split: Step.Round["split"]): ReadonlyArray<ReadonlyArray<string>> => {
  const size = split === "apart" ? 1 : split === "pairs" ? 2 : ids.length
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, i) => ids.slice(i * size, (i + 1) * size))
}

const permuted = (ids: ReadonlyArray<string>, order: number): ReadonlyArray<string> => {
  const left = [...ids]
  const out: Array<string> = []
  for (let rest = order; left.length > 0; rest = Math.floor(rest / (left.length + 1))) {
    out.push(...left.splice(rest % left.length, 1))
  }
  return out
}

const speak = (
  session: LiveSession,
  round: string,
  content: ReadonlyArray<Content.Block>,
  calls: ReadonlyArray<string>
): Written =>
  session.say(calls.length > 0 ? "call" : "reply", Message.assistant({ id: round, model: "model", content }), {
    round,
    calls
  })

/** A note on an entry of the round, on which the session does not go on. */
const annotate = (session: LiveSession, parent: string, kind: "attachment" | "event"): void => {
  const { tip } = session
  if (kind === "event") session.say(kind, Message.system("stop_hook_summary"), { parent })
  else session.say(kind, Message.attachment({ type: "hook_additional_context", content: ["[note]"] }), { parent })
  session.tip = tip
}

class Results {
  private readonly session: LiveSession
  private readonly step: Step.Round
  private readonly round: string
  private readonly before: string | null
  private readonly calls: ReadonlyArray<Call>
  private written = 0
  private previous: string | undefined

  constructor(
    session: LiveSession,
    step: Step.Round,
    round: string,
    before: string | null,
    calls: ReadonlyArray<Call>
  ) {
    this.session = session
    this.step = step
    this.round = round
    this.before = before
    this.calls = calls
  }

  /** The results of these calls, in one entry or in one each; `ends`: nothing of the round is written behind them. */
  of(ids: ReadonlyArray<string>, ends: boolean): ReadonlyArray<Written> {
    if (ids.length === 0) return []
    const entries = this.step.joined ? [ids] : ids.map((id) => [id])
    return entries.map((answers, i) => this.one(answers, ends && i === entries.length - 1))
  }

  private one(answers: ReadonlyArray<string>, isLast: boolean): Written {
    const { before, round, session, step } = this
    const own = this.calls.findLast(({ id }) => answers.includes(id))!.entry
    const mode = step.parents === "before" && (isLast || step.streamed) ? "own" : step.parents
    const other = this.calls[this.written % this.calls.length]!.entry
    const parent = { own, previous: this.previous ?? own, sibling: other, before }[mode]
    const via = step.linked && parent !== null ? session.fresh("p") : undefined
    if (via !== undefined) session.writeLink(via, "progress", parent)
    const how = { parent, round, answers, misplaced: mode === "before", ...(via === undefined ? {} : { via }) }
    const blocks = answers.map((id) => Content.toolResult({ tool_use_id: id, content: `[${id}]` }))
    const result = session.say("result", Message.toolResults(blocks), how)
    this.previous = result.id
    if (!result.misplaced && ((step.noted >> this.written) & 1) === 1) annotate(session, result.id, "attachment")
    this.written++
    return result
  }
}

/** Swaps the lines of a call and its result. */
const moveBeforeCall = (session: LiveSession, result: Written, calls: ReadonlyArray<Call>): void => {
  const call = calls.find(({ id }) => result.answers.includes(id))!.entry
  const at = session.lines.findIndex(({ id }) => id === call)
  const from = session.lines.findIndex(({ id }) => id === result.id)
  const [line] = session.lines.splice(from, 1)
  session.lines.splice(at, 0, line!)
}

/**
 * Writes a result that was late. It is seen in its round; the session goes on from it (`follow`) only while it is still
 * there.
 *
 * @category combinators
 * @since 0.1.0
 */
export const deliver = (
  session: LiveSession,
  { follow, which }: { readonly which: number; readonly follow: boolean }
): void => {
  if (session.pending.length === 0) return
  const { call, entry, round } = session.pending[which % session.pending.length]!
  session.pending = session.pending.filter((one) => one.call !== call)
  const { tip, visible } = session
  const end = session.endOfRound(visible, visible.indexOf(entry))
  const body = Message.toolResults([Content.toolResult({ tool_use_id: call, content: `[${call}]` })])
  const { id } = session.write("result", body, { parent: entry, round, answers: [call] })
  session.visible = visible.toSpliced(end + 1, 0, id)
  session.tip = follow && end === visible.length - 1 ? id : tip
}
