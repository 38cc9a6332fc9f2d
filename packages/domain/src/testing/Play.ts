/**
 * Play: what each step does to a session at work.
 *
 *   Compact   visible   u1 a2 u3 a4          ─▶   B5 S6 u3 a4        u3, a4 kept
 *   Rewind    visible   u1 a2 u3 a4          ─▶   u1 a2 w5           to a2
 *   Snip      visible   u1 a2 u3 a4          ─▶   u1 a4 N5           of a2, u3
 *
 * A process that ends, or that turns to another part of the conversation, forgets the results that it waited for.
 */
import * as Boundary from "../Boundary.ts"
import * as Content from "../Content.ts"
import * as Message from "../Message.ts"
import * as Metadata from "../Metadata.ts"
import * as Snapshot from "../Snapshot.ts"
import type { Kind, List, LiveSession, Written } from "./LiveSession.ts"
import * as PlayRound from "./PlayRound.ts"
import * as Step from "./Step.ts"

type Of<T extends Step.Step["_tag"]> = Extract<Step.Step, { readonly _tag: T }>

/**
 * Lets the session take a step.
 *
 * @category combinators
 * @since 0.1.0
 */
export const take = (session: LiveSession, step: Step.Step): void =>
  Step.match(step, {
    Say: (step) => say(session, step),
    Reply: (step) => reply(session, step),
    CallTools: (step) => PlayRound.callTools(session, step),
    Deliver: (step) => PlayRound.deliver(session, step),
    Attach: (step) => attach(session, step),
    EndTurn: () => endTurn(session),
    Compact: (step) => compact(session, step),
    Snip: (step) => snip(session, step),
    Rewind: (step) => rewind(session, step),
    Branch: (step) => branch(session, step),
    Return: (step) => goBack(session, step),
    Sidechain: (step) => sidechain(session, step),
    SetMetadata: (step) => setMetadata(session, step),
    Noise: (step) => noise(session, step),
    Link: (step) => link(session, step),
    Crash: (step) => crash(session, step),
    Resume: () => resume(session),
    OldShape: (step) => oldShape(session, step)
  })

const say = (session: LiveSession, { text }: Of<"Say">): void => {
  const id = session.fresh(text === "injected" ? "m" : "u")
  if (text === "injected") session.say("injected", { ...Message.user(`[${id}]`), isMeta: true }, { id })
  else if (text === "marker") session.say("marker", Message.user("[Request interrupted by user]"), { id })
  else if (text === "output") session.say("output", Message.user(`<local-command-stdout>${id}</local-command-stdout>`), { id })
  else session.say("prompt", Message.user(text === "blocks" ? [Content.text(`[${id}]`)] : `[${id}]`), { id })
  if (text === "plain" || text === "blocks") session.firstPrompt ??= `[${id}]`
}

const model = "model"

const reply = (session: LiveSession, { parts }: Of<"Reply">): void => {
  const one = (content: string | ReadonlyArray<Content.Block>, more: object = {}): void => {
    const id = session.fresh("a")
    session.say("error" in more ? "error" : "reply", { ...Message.assistant({ id: `msg-${id}`, model, content }), ...more }, { id })
  }
  if (parts === "text") return one("[text]")
  if (parts === "error") return one("API Error", { error: "overloaded", isApiErrorMessage: true })
  const round = session.fresh("m")
  const blocks =
    parts === "thinking"
      ? [Content.thinking("[thinking]", "signature"), Content.text("[text]")]
      : [Content.text("[one]"), Content.text("[two]"), Content.text("[three]")]
  for (const block of blocks) session.say("reply", Message.assistant({ id: round, model, content: [block] }), { round })
}

const attach = (session: LiveSession, { kind }: Of<"Attach">): void => {
  if (kind === "command") session.say("command", Message.localCommand("<local-command-stdout>out</local-command-stdout>"))
  else if (kind === "event") session.say("event", Message.system("away_summary", { content: "[event]" }))
  else if (kind === "sent") session.say("attachment", Message.attachment({ type: "critical_system_reminder", content: "[sent]" }))
  else session.say("attachment", Message.attachment({ type: "hook_success" }))
}

const endTurn = (session: LiveSession): void => {
  const messageCount = session.visible.length
  const { id } = session.say("event", Message.turnDuration({ durationMs: 1000, messageCount }))
  session.checkpoints.set(id, messageCount)
}

const isSpoken = (session: LiveSession, ids: ReadonlyArray<string>): boolean => ids.some((id) => session.isSpeech(id))

const compact = (session: LiveSession, { finished, form, kept: count, notes }: Of<"Compact">): void => {
  if (!isSpoken(session, session.visible)) return
  // Whether a boundary that is ignored resets a `last-prompt` is not settled.
  if (!finished && !session.visible.includes(session.newest!)) return
  session.pending = []
  const first = session.get(session.visible[0]!).kind === "boundary" ? summaryAt(session, session.visible) : 0
  // What a boundary without a summary keeps is not settled: who was killed before the summary kept nothing here.
  const kept = count === 0 || !finished ? [] : session.visible.slice(first).slice(-count)
  const summary = session.fresh("S")
  const isLine = kept.every((id, i) => i === 0 || session.get(id).parent === kept[i - 1])
  const plain = Boundary.compact({ trigger: "manual", preTokens: 1000, logicalParentUuid: session.tip })
  const both = Boundary.compact({ ...noTokens, logicalParentUuid: session.tip, preserved: { anchor: summary, uuids: kept } })
  const { preservedMessages, preservedSegment } = both.compactMetadata
  const record =
    kept.length === 0 ? {} : form === "messages" ? { preservedMessages } : form === "segment" && isLine ? { preservedSegment } : { preservedMessages, preservedSegment }
  const before: List = { visible: session.visible, tip: session.tip }
  const body = { ...plain, compactMetadata: { ...plain.compactMetadata, ...record } }
  const boundary = session.write("boundary", body, { parent: null })
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

const snip = (session: LiveSession, { onRemoved, which }: Of<"Snip">): void => {
  const candidates = session.visible.filter((id) => !isStaying.has(session.get(id).kind)).reverse()
  const gone = new Set(candidates.filter((_, i) => i < 8 && ((which >> i) & 1) === 1))
  const stay = session.visible.filter((id) => !gone.has(id))
  if (!isSpoken(session, stay)) return
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

const rewind = (session: LiveSession, { across, inside, to }: Of<"Rewind">): void => {
  const seen = new Set(session.visible)
  const lists = across ? session.archived : [{ visible: session.visible }]
  const targets = lists.flatMap(({ visible }) =>
    visible.flatMap((id, at) => {
      const ids = visible.slice(0, session.endOfRound(visible, at) + 1)
      const { answers, calls } = session.get(id)
      const staysInside = inside && !across && calls.length + answers.length > 0 && !session.isKept(ids, id)
      const target = staysInside ? id : session.lastOf(ids)
      if (target === undefined || !session.isEnd(ids, target)) return []
      const isNew = !seen.has(target) && !session.snipped.has(target) && isSpoken(session, [...session.pathTo(target)])
      const isThere = !session.isKeptElsewhere(visible, target) && (!across || isNew)
      const isGood = isThere && isSpoken(session, ids) && !isHead(session, visible, at) && !session.get(id).misplaced
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

const branch = (session: LiveSession, { to }: Of<"Branch">): void => {
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
  const isLeftThere = parent !== null && ids.includes(parent) && !session.isKept(ids, parent) && session.isEnd(ids, parent)
  const tip = isLeftThere ? parent : last
  goTo(session, ids, tip)
  say(session, Step.Say({ text: "plain" }))
}

const goBack = (session: LiveSession, { by, to }: Of<"Return">): void => {
  const lists = session.abandoned.filter((list) => {
    const { tip, visible } = list
    const left = visible.filter((id) => !session.snipped.has(id))
    if (tip === null || session.snipped.has(tip) || session.isKeptElsewhere(visible, tip)) return false
    return isSpoken(session, left) && (by === "marker" || (isElsewhere(session, list) && !isFar(session, visible, tip)))
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
  const isShared = session.get(list.tip!).round !== undefined && others.some(({ visible }) => visible.includes(list.tip!))
  return !isShared && !session.pathTo(session.newest).has(list.tip!)
}

const sidechain = (session: LiveSession, { entries, named, twin, under }: Of<"Sidechain">): void => {
  let parent = under ? session.tip : null
  const agent = named ? { agentId: "abc" } : {}
  for (let i = 0; i < entries; i++) {
    const id = i === 0 && twin && session.tip !== null ? session.tip : session.fresh(i % 2 === 0 ? "u" : "a")
    const body = i % 2 === 0 ? Message.user("[side]") : Message.assistant({ id: `msg-${id}`, model, content: "[side]" })
    session.note({ parentUuid: parent, isSidechain: true, ...agent, ...body, uuid: id }, true)
    session.sidechains.push(id)
    parent = id
  }
}

const setMetadata = (session: LiveSession, { kind, value }: Of<"SetMetadata">): void => {
  const text = value === 5 ? "" : `${kind} ${value}`
  session.metadata.set(kind, text)
  restate(session, kind, text)
}

const restate = (session: LiveSession, kind: string, text: string): void => {
  const leaf = session.tip === null || !isSpoken(session, session.visible) ? {} : { leafUuid: session.tip }
  if (kind === "last-prompt") session.note({ type: kind, lastPrompt: text, ...leaf }, true)
  else if (kind === "summary") session.note({ type: kind, summary: text, ...leaf })
  else session.note({ type: kind, [camel(kind)]: text })
}

const camel = (kind: string): string => kind.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

const noise = (session: LiveSession, { kind }: Of<"Noise">): void => {
  const messageId = session.tip ?? "none"
  if (kind === "enqueue") {
    const content = session.fresh("queued")
    session.queue = [...session.queue, content]
    session.note(Snapshot.make("queue-operation", { operation: kind, content }))
  } else if (kind === "dequeue") {
    session.queue = session.queue.slice(1)
    session.note(Snapshot.make("queue-operation", { operation: kind }))
  } else if (kind === "file-history") {
    session.note(Snapshot.make("file-history-snapshot", { messageId, snapshot: { messageId, trackedFileBackups: {} } }))
  } else if (kind === "attribution") session.note(Snapshot.make("attribution-snapshot", { messageId }))
  else session.note({ type: "future-event", about: messageId })
}

const link = (session: LiveSession, { behind, twice, type }: Of<"Link">): void => {
  const id = session.fresh(type === "progress" ? "p" : "q")
  session.link = { id, type: type === "progress" ? type : "future-thing", parent: session.tip, behind, twice }
}

const crash = (session: LiveSession, { cut }: Of<"Crash">): void => {
  session.pending = []
  session.link = undefined
  const text = JSON.stringify({ type: "user", message: { role: "user", content: "[torn]" }, uuid: session.fresh("torn") })
  session.tear(text.slice(0, 1 + (cut % (text.length - 1))))
}

const resume = (session: LiveSession): void => {
  session.pending = []
  session.link = undefined
  restate(session, "last-prompt", session.metadata.get("last-prompt") ?? "")
  for (const [kind, text] of session.metadata) if (kind !== "last-prompt" && kind !== "summary") restate(session, kind, text)
}

const oldShape = (session: LiveSession, { shape }: Of<"OldShape">): void => {
  if (shape === "string") {
    const { message, ...body } = Message.assistant({ id: session.fresh("m"), model, content: "[text]" })
    session.say("reply", { ...body, message: { ...message, content: "[text]" } }, { bare: true })
  } else if (shape === "no-subtype") session.say("event", { type: "system", content: "[event]" }, { bare: true })
  else if (shape === "microcompact") session.say("event", Message.system("microcompact_boundary", { microcompactMetadata: {} }))
  else if (shape === "no-time") {
    session.say("prompt", Message.user("[text]"), { timeless: true })
    session.firstPrompt ??= "[text]"
  } else if (shape === "root") summaryRoot(session)
  else rewrite(session)
}

const summaryRoot = (session: LiveSession): void => {
  if (!isSpoken(session, session.visible)) return
  session.pending = []
  session.archived = [...session.archived, { visible: session.visible, tip: session.tip }]
  session.abandoned = []
  session.visible = []
  session.say("summary", Boundary.compactSummary("[summary]"), { parent: null })
}

/** Everything that is seen once more under new ids, each message on the one before it. */
const rewrite = (session: LiveSession): void => {
  const all = session.visible.map((id) => session.get(id))
  const calls = new Set(all.flatMap(({ calls }) => calls))
  const isWhole = all.every(({ answers, kind }) => kind !== "boundary" && answers.every((id) => calls.has(id)))
  if (!isSpoken(session, session.visible) || !isWhole) return
  goTo(session, [], null)
  const rounds = new Map<string, string>()
  for (const { answers, body, calls, id, kind, round, second } of all as ReadonlyArray<Written>) {
    if (round !== undefined && !rounds.has(round)) rounds.set(round, session.fresh("round"))
    const copy = session.say(kind, body, { calls, answers, round: round === undefined ? undefined : rounds.get(round)!, second })
    const count = session.checkpoints.get(id)
    if (count !== undefined) session.checkpoints.set(copy.id, count)
  }
}
