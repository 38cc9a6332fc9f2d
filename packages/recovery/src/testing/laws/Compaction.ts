/**
 * Compaction: what is promised about boundaries, and about reading from one on (RECOVERY §5).
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as History from "@reprise/domain/testing/History"
import * as ModelMessages from "../../ModelMessages.ts"
import * as Law from "../Law.ts"

/** Whether something was said on the way up from a message, as its links are written. */
const isSaidAbove = (log: ReadonlyArray<Line.Located>, uuid: string): boolean => {
  const written = log.flatMap(({ entry }) => (Entry.isMessage(entry) ? [[entry.uuid, entry] as const] : []))
  const messages = new Map(written.toReversed())
  let at = messages.get(uuid)
  for (let steps = 0; at !== undefined && steps <= messages.size; steps++) {
    if (at.type === "user" || at.type === "assistant") return true
    at = messages.get(at.parentUuid ?? "")
  }
  return false
}

const local = Law.history("a compaction is local to its branch", (given, reader) => {
  const { history } = given
  const log = History.log(history)
  const before = reader(log, Law.newest)
  const leaf = before.conversation.at(-1)
  // A marker chooses no branch where nothing was said.
  if (leaf === undefined || !isSaidAbove(log, leaf.uuid)) return true
  const ids = Law.idsOf(before).slice(0, -1)
  const kept = ids.slice(Law.choose(given, 0, ids.length + 1))
  const preserved = kept.length === 0 ? undefined : { anchor: "S0new", uuids: kept }
  const boundary = Boundary.compact({ trigger: "auto", preTokens: 1, logicalParentUuid: leaf.uuid, preserved })
  const after = reader(
    Law.appended(history, [
      { ...boundary, uuid: "B0new", parentUuid: null },
      { ...Boundary.compactSummary("[summary]"), uuid: "S0new", parentUuid: "B0new" },
      { ...Message.user("[prompt]"), uuid: "u0new", parentUuid: "S0new" },
      { ...Message.informational("[rewind]"), uuid: "w0new", parentUuid: leaf.uuid }
    ]),
    Law.newest
  )
  return Law.same("conversation", [...Law.idsOf(before), "w0new"].toSorted().join(), Law.idsOf(after).toSorted().join())
})

const cut = Law.history(
  "what stands before the boundary belongs to no round of the conversation",
  ({ history }, reader) => {
    const plain = History.make(history.steps.map((step) => (step._tag === "Compact" ? { ...step, kept: 0 } : step)))
    const part = (uuid: string, parentUuid: string | null, content: Content.Block) => ({
      ...Message.assistant({ id: "m0new", model: "model", content: [content] }),
      uuid,
      parentUuid
    })
    const boundary = Boundary.compact({ trigger: "auto", preTokens: 1, logicalParentUuid: "a0new" })
    const result = Message.toolResults([Content.toolResult({ tool_use_id: "c0new", content: "[late]" })])
    const state = reader(
      Law.appended(plain, [
        part(
          "a0new",
          reader(History.log(plain)).conversation.at(-1)?.uuid ?? null,
          Content.toolUse({ id: "c0new", name: "Tool", input: {} })
        ),
        { ...boundary, uuid: "B0new", parentUuid: "a0new" },
        part("a1new", "B0new", Content.text("[text]")),
        { ...result, uuid: "r0new", parentUuid: "a0new" },
        { ...Message.user("[prompt]"), uuid: "u0new", parentUuid: "a1new" }
      ])
    )
    return Law.same("conversation", "B0new-a1new-u0new", Law.shown(state))
  }
)

const inOrder = Law.history(
  "after a boundary the chain is boundary, summary, kept in order, later",
  ({ history }, reader) => {
    const [first, ...rest] = Law.idsOf(reader(History.log(history)))
    const { live, sees } = history
    if (first === undefined || live.get(first).kind !== "boundary") return true
    const all = live.keptBy.get(first)
    if (all === undefined) return `${first} has no summary`
    const isKept = (id: string): boolean => all.has(id)
    const { place } = live.get(first)
    const head = rest.findIndex((id) => isKept(id) || !["attachment", "summary"].includes(live.get(id).kind))
    const behind = head < 0 ? [] : rest.slice(head)
    const later = behind.findIndex((id) => !isKept(id))
    const kept = later < 0 ? behind : behind.slice(0, later)
    const expected = [...all].filter((id) => rest.includes(id))
    const stray = behind.slice(kept.length).find((id) => live.get(id).place < place)
    return stray === undefined
      ? Law.same("kept", History.settle(expected, sees.rounds).join("-"), History.settle(kept, sees.rounds).join("-"))
      : `${stray} of before the boundary stands among what came later: ${rest.join("-")}`
  }
)

const isMain = (entry: Entry.Entry): entry is Entry.Message => Entry.isMessage(entry) && entry.isSidechain !== true

const doors = Law.history(
  "conversation and model messages are the same with and without the bytes before the boundary",
  ({ history }, reader) => {
    const log = History.log(history)
    const whole = reader(log)
    const first = whole.conversation[0]
    const at = log.findLastIndex(({ entry }) => Boundary.isCompact(entry))
    if (first === undefined || log[at]?.entry !== first.entry) return true
    const preserved = Boundary.preserved(first.entry)
    const kept = new Set(preserved?.kind === "messages" ? preserved.uuids : history.live.keptBy.get(first.uuid))
    const suffix = log.filter(
      ({ entry }, i) => i >= at || !Entry.isMessage(entry) || (isMain(entry) && kept.has(entry.uuid))
    )
    // A branch that leaves before the boundary needs what it hangs on: who reads from the boundary on must see that.
    const there = new Set(suffix.flatMap(({ entry }) => ("uuid" in entry ? [entry.uuid] : [])))
    const leaves = suffix.some(
      ({ entry }) => isMain(entry) && !kept.has(entry.uuid) && !!entry.parentUuid && !there.has(entry.parentUuid)
    )
    if (leaves) return true
    const part = reader(suffix)
    const sent = (state: typeof whole): string => JSON.stringify(ModelMessages.make(state).messages)
    // Of the messages before the boundary only these values are known.
    const ofFirst = new Set(["firstPrompt", "title", "createdAt", "cwd"])
    const said = ({ metadata }: typeof whole): string =>
      JSON.stringify(
        Object.entries(metadata)
          .filter(([key]) => !ofFirst.has(key))
          .toSorted()
      )
    return Law.all(
      () => Law.same("conversation", Law.shown(whole), Law.shown(part)),
      () => Law.same("model messages", sent(whole), sent(part)),
      () => Law.same("metadata", said(whole), said(part))
    )
  }
)

/**
 * The laws.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law.Law> = [local, cut, inOrder, doors]
