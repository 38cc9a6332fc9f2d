/**
 * Chain: what is promised about the conversation (RECOVERY §1–§4, §7–§9).
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as History from "@reprise/domain/testing/History"
import { timeOf } from "@reprise/domain/testing/live/Session"
import type * as Step from "@reprise/domain/testing/Step"
import * as Round from "../../Round.ts"
import type { SessionState } from "../../SessionState.ts"
import * as Law from "../Law.ts"

/**
 * Whether the sum of RECOVERY §9 comes out: every message of the lane is counted once.
 *
 * @category verdicts
 * @since 0.1.0
 */
export const lossOf = ({ archived, branches, conversation, messages, removed }: SessionState): Law.Verdict => {
  const onBranches = branches.reduce((sum, { entries }) => sum + entries, 0)
  const sum = conversation.length + removed.length + archived + onBranches
  return sum === messages
    ? true
    : `${messages} messages, but ${conversation.length} shown, ${removed.length} removed, ${archived} archived, ${onBranches} on branches`
}

/** The conversation with the entries of each round in one order. */
const settled = (history: History.History, ids: ReadonlyArray<string>): string =>
  History.settle(ids, history.sees.rounds).join("-")

const exact = Law.history("recovery shows exactly what the history left visible", ({ history }, reader) => {
  const state = reader(History.log(history))
  const list = (ids: Iterable<string>): string => [...ids].toSorted().join()
  return Law.all(
    () => Law.same("conversation", settled(history, history.sees.conversation), settled(history, Law.idsOf(state))),
    () => Law.same("removed", list(history.sees.removed), list(state.removed))
  )
})

const once = Law.log("recovery terminates on every graph and shows each uuid at most once", ({ bytes }, reader) => {
  const ids = Law.idsOf(reader(Law.read(bytes)))
  const twice = ids.find((id, i) => ids.indexOf(id) !== i)
  return twice === undefined ? true : `${twice} is shown twice: ${ids.join("-")}`
})

const isMain = (entry: Entry.Entry): entry is Entry.Message => Entry.isMessage(entry) && entry.isSidechain !== true

const account = (state: SessionState): string =>
  JSON.stringify([Law.idsOf(state), state.removed, state.archived, state.branches, state.messages])

const copies = Law.log("appending a copy of any earlier main-lane message changes nothing", (given, reader) => {
  const log = Law.read(given.bytes)
  const messages = log.map(({ entry }) => entry).filter(isMain)
  const entry = messages[Law.choose(given, 0, messages.length)]
  if (entry === undefined) return true
  const other = messages[Law.choose(given, 1, messages.length)]!
  const lines = Law.linesOf(given.bytes)
  const original = Entry.original(entry)
  const before = account(reader(log))
  const withCopy = (copy: object): string => account(reader(Law.read([...lines, JSON.stringify(copy)])))
  return Law.all(
    () => Law.same(`a copy of ${entry.uuid}`, before, withCopy(original)),
    () => Law.same(`one on ${other.uuid}`, before, withCopy({ ...original, parentUuid: other.uuid })),
    () =>
      Law.same(
        "one with other content",
        before,
        withCopy({ ...original, content: "[other]", message: { content: "[other]" } })
      )
  )
})

/** A line that is a link, or one that is a message of the main lane. */
interface Linked {
  readonly uuid: string
  readonly parentUuid: string | null
  readonly type: string
}

/** The same steps, with no link written twice: of two that differ it matters where each stands. */
const singleLinks = (steps: ReadonlyArray<Step.Step>): ReadonlyArray<Step.Step> =>
  steps.map((step) => (step._tag === "Link" ? { ...step, twice: false } : step))

const links = Law.history(
  "links through progress: adding or moving them, or removing one and re-pointing its children, changes nothing",
  (given, reader) => {
    const history = History.make(singleLinks(given.history.steps))
    const { lines } = history
    const before = Law.shown(reader(Law.read(lines)))
    const parsed = lines.map((line, i) =>
      history.live.lines[i]!.torn === true ? undefined : (JSON.parse(line) as Linked)
    )
    const at = parsed.flatMap((line, i) => (line?.type === "progress" || line?.type === "future-thing" ? [i] : []))
    const link = at[Law.choose(given, 0, at.length)]
    const owners = parsed.flatMap((line, i) => (line !== undefined && history.live.known.has(line.uuid) ? [i] : []))
    const owner = owners[Law.choose(given, 1, owners.length)]
    const to = Law.choose(given, 2, lines.length + 1)
    const hang = (i: number, on: string | null): string => JSON.stringify({ ...parsed[i]!, parentUuid: on })
    return Law.all(
      () => {
        if (owner === undefined) return true
        const added = JSON.stringify({ type: "progress", uuid: "p0new", parentUuid: parsed[owner]!.parentUuid })
        const all = lines.with(owner, hang(owner, "p0new")).toSpliced(to, 0, added)
        return Law.same(`a link above ${parsed[owner]!.uuid}`, before, Law.shown(reader(Law.read(all))))
      },
      () => {
        if (link === undefined) return true
        const rest = lines.toSpliced(link, 1)
        const moved = rest.toSpliced(to % lines.length, 0, lines[link]!)
        return Law.same(`${parsed[link]!.uuid} moved`, before, Law.shown(reader(Law.read(moved))))
      },
      () => {
        if (link === undefined) return true
        const { parentUuid, uuid } = parsed[link]!
        const all = lines.map((line, i) => (parsed[i]?.parentUuid === uuid ? hang(i, parentUuid) : line))
        return Law.same(`${uuid} removed`, before, Law.shown(reader(Law.read(all.toSpliced(link, 1)))))
      }
    )
  }
)

/** The same steps without a process that writes old times. */
const isInTime = (step: Step.Step): boolean => step._tag !== "OldShape"

/** An entry whose parent is in no line: by itself, behind a link, or with a reply that stands before it in the file. */
const orphans: ReadonlyArray<(timestamp: string) => ReadonlyArray<object>> = [
  (timestamp) => [{ ...Message.user("[new]"), uuid: "u0new", parentUuid: "x0", timestamp }],
  (timestamp) => [
    { type: "progress", uuid: "p0new", parentUuid: "x0", timestamp },
    { ...Message.user("[new]"), uuid: "u0new", parentUuid: "p0new", timestamp }
  ],
  (timestamp) => [
    { ...Message.informational("[reply]"), uuid: "w0new", parentUuid: "u0new", timestamp },
    { ...Message.user("[new]"), uuid: "u0new", parentUuid: "x0", timestamp }
  ]
]

const orphan = Law.history("a missing parent never hides an earlier message", (given, reader) => {
  const { lines } = History.make(given.history.steps.filter(isInTime))
  // Where a `last-prompt` chose an older branch, what is newest stands on another one.
  const before = Law.idsOf(reader(Law.read(lines), { leaf: "newest" }))
  const entries = orphans[Law.choose(given, 0, orphans.length)]!(timeOf(72_000))
  const after = reader(Law.read([...lines, ...entries.map((entry) => JSON.stringify(entry))]), { leaf: "newest" })
  const seen = new Set(Law.idsOf(after))
  const hidden = before.filter((id) => !seen.has(id))
  return hidden.length === 0 ? true : `${hidden.join()} hidden: ${before.join("-")} became ${Law.shown(after)}`
})

const whole = Law.log("what is put back belongs to a reply that is shown", ({ bytes }, reader) => {
  const log = Law.read(bytes)
  const { conversation, findings, removed } = reader(log)
  const shown = new Map(conversation.map((node) => [node.uuid, node]))
  // Half a pair may have been taken out.
  const gone = new Set(removed)
  const halves = log.flatMap(({ entry }) => (isMain(entry) && gone.has(entry.uuid) ? Round.callsOf(entry) : []))
  const calls = new Set([...conversation.flatMap(({ calls }) => calls), ...halves])
  const back = findings.flatMap((finding) => (finding.kind === "parallel-recovered" ? finding.uuids : []))
  // Behind its link, or bridged, a result may hang on any call: so where a record prunes, and where a cycle is cut.
  const first = new Map(log.flatMap(({ entry }, at) => (isMain(entry) ? [[entry.uuid, at] as const] : [])).toReversed())
  const pruned = log.findLastIndex(({ entry }) => Boundary.preserved(entry) !== undefined)
  const bridged = new Set(findings.flatMap((finding) => ("bridgedTo" in finding ? [finding.uuid] : [])))
  const stray = back.find((uuid) => {
    const { answers = [], entry } = shown.get(uuid) ?? {}
    const parent = entry?.parentUuid ?? ""
    const isFollowed = !bridged.has(uuid) && (first.get(parent) ?? -1) > pruned
    const hangsElsewhere = isFollowed && !shown.has(parent) && !gone.has(parent)
    return answers.length > 0 && !answers.some((id) => calls.has(id)) && hangsElsewhere
  })
  return stray === undefined ? true : `${stray} was put back, and its call is not in ${[...shown.keys()].join("-")}`
})

const chosen = Law.history(
  "a last-prompt brings back the branch that it names, until more is said on another one",
  ({ history }, reader) => {
    const before = Law.idsOf(reader(History.log(history), { leaf: "newest" }))
    const leafUuid = before.at(-1)
    if (leafUuid === undefined) return true
    const said = (uuid: string, parentUuid: string | null): object => ({ ...Message.user("[new]"), uuid, parentUuid })
    const after = (...entries: ReadonlyArray<object>): string =>
      Law.idsOf(reader(Law.read([...history.lines, ...entries.map((entry) => JSON.stringify(entry))])))
        .toSorted()
        .join()
    const named = [said("u0new", null), { type: "last-prompt", leafUuid }] as const
    return Law.all(
      () => Law.same("chosen", before.toSorted().join(), after(...named)),
      () => Law.same("outranked", "u0new,u1new", after(...named, said("u1new", "u0new")))
    )
  }
)

const sum = Law.log("nothing is lost in silence: every message is counted once", ({ bytes }, reader) => {
  const log = Law.read(bytes)
  const state = reader(log)
  const ids = new Set(log.flatMap(({ entry }) => (isMain(entry) && entry.uuid !== "" ? [entry.uuid] : [])))
  return Law.all(
    () => lossOf(state),
    () => Law.same("messages", String(ids.size), String(state.messages))
  )
})

const sidechains = Law.log("sidechains never leak into the conversation", ({ bytes }, reader) => {
  const log = Law.read(bytes)
  const state = reader(log)
  const leaked = state.conversation.find(({ entry }) => entry.isSidechain === true)
  const without = log.filter(({ entry }) => !Entry.isMessage(entry) || entry.isSidechain !== true)
  return leaked === undefined
    ? Law.same("without the sidechains' lines", Law.shown(reader(without)), Law.shown(state))
    : `${leaked.uuid} is a sidechain's`
})

const rounds = Law.history("all calls and results of one reply survive", ({ history }, reader) => {
  const { live, sees } = history
  const found = new Set(Law.idsOf(reader(History.log(history))))
  const seen = new Set(sees.conversation)
  for (const { answers, calls, id, round } of live.known.values()) {
    const isThere = round === undefined || !seen.has(id) || calls.length + answers.length === 0 || found.has(id)
    if (!isThere) return `${id} of ${round} is gone`
  }
  return true
})

const bounded = Law.damaged("damage costs at most its price", (given, reader) => {
  const { damaged, history } = given
  const log = Law.read(damaged.bytes)
  const state = reader(log)
  const there = new Set(log.flatMap(({ entry }) => (isMain(entry) ? [entry.uuid] : [])))
  const gone = [...history.live.known.keys()].find((id) => !there.has(id) && !damaged.lost.has(id))
  if (gone !== undefined) return `${gone} is in no entry`
  const before = Law.idsOf(reader(History.log(history)))
  return Law.all(
    () => lossOf(state),
    () =>
      damaged.moves ? true : Law.same("conversation", settled(history, before), settled(history, Law.idsOf(state)))
  )
})

const metadata = Law.history("metadata is what was said last, the title by its order", ({ history }, reader) => {
  const { metadata, snapshots } = reader(History.log(history))
  const { sees } = history
  const expected = Array.from(sees.metadata, ([kind, text]) => `${kind} ${text}`).toSorted()
  const keys: ReadonlyArray<readonly [string, string | undefined]> = [
    ["custom-title", metadata.customTitle],
    ["ai-title", metadata.aiTitle],
    ["last-prompt", metadata.lastPrompt],
    ["tag", metadata.tag],
    ["mode", metadata.mode],
    ["permission-mode", metadata.permissionMode],
    ["agent-name", metadata.agentName],
    ["agent-color", metadata.agentColor],
    ["agent-setting", metadata.agentSetting],
    ["summary", metadata.summary]
  ]
  const found = keys.flatMap(([kind, text]) => (text === undefined ? [] : [`${kind} ${text}`])).toSorted()
  return Law.all(
    () => Law.same("metadata", expected.join(), found.join()),
    () => Law.same("title", String(sees.title), String(metadata.title)),
    () => Law.same("waiting", sees.queued.join(), snapshots.pending.map(({ text }) => text).join())
  )
})

const drift = Law.history(
  "a checkpoint drifts exactly where it counted otherwise than the reader sees",
  ({ history }, reader) => {
    const { consistency } = reader(History.log(history))
    const found = new Map(consistency.drift.map((one) => [one.uuid, `${one.uuid} ${one.expected} ${one.found}`]))
    for (const one of history.sees.checkpoints) {
      const expected = one.expected === one.found ? undefined : `${one.uuid} ${one.expected} ${one.found}`
      const verdict = Law.same("drift", String(expected), String(found.get(one.uuid)))
      if (verdict !== true) return verdict
    }
    return true
  }
)

/**
 * The laws.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law.Law> = [
  exact,
  once,
  copies,
  links,
  orphan,
  whole,
  chosen,
  sum,
  sidechains,
  rounds,
  bounded,
  metadata,
  drift
]
