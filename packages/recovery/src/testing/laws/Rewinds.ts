/**
 * Rewinds: what is promised about going back in a session, and returning (LAWS, Fork and rewind).
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Entry from "@reprise/domain/Entry"
import type { Located } from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as Round from "../../Round.ts"
import type { SessionState } from "../../SessionState.ts"
import * as Law from "../Law.ts"
import { settled } from "./Forks.ts"

/** The log with markers at its end, one behind the other in time. */
const rewound = (bytes: Uint8Array, targets: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...Law.linesOf(bytes),
  ...targets.map((parentUuid, i) =>
    JSON.stringify({
      ...Message.informational("[rewind]"),
      parentUuid,
      uuid: markerOf(i),
      timestamp: `2026-01-02T00:00:0${i}.000Z`
    })
  )
]

const markerOf = (i: number): string => `w${i}new`

/** What is shown, without markers. */
const without = (state: SessionState): SessionState => ({
  ...state,
  conversation: state.conversation.filter(({ uuid }) => !/^w\dnew$/.test(uuid))
})

const isSaid = ({ conversation }: SessionState): boolean => conversation.some(({ entry }) => Round.isSpeech(entry))

/**
 * What hangs on an anchor, which is the summary where it names none, is read as hanging behind the messages that are kept
 * there; and a boundary that is taken out, which no session does, counts for some leaves and not for others.
 */
const isUnclear = (log: ReadonlyArray<Located>, uuid: string, removed: ReadonlyArray<string>): boolean =>
  log.some(({ entry }) => {
    if (!Entry.isMessage(entry)) return false
    const isAnchor = Boundary.preserved(entry)?.anchor === uuid
    const isSummary = entry.uuid === uuid && Boundary.isCompactSummary(entry)
    return isAnchor || isSummary || (Boundary.isCompact(entry) && removed.includes(entry.uuid))
  })

const to = Law.log("rewind(x), close, open shows the chain to x, and nothing is lost", (given, reader) => {
  const log = Law.read(given.bytes)
  const all = log.flatMap(({ entry }) =>
    Entry.isMessage(entry) && entry.isSidechain !== true && entry.uuid !== "" ? [entry.uuid] : []
  )
  const from = Law.choose(given, 0, 2) === 0 ? Law.idsOf(reader(log)) : all
  const at = from[Law.choose(given, 1, from.length)]
  if (at === undefined) return true
  const there = reader(log, { leaf: { uuid: at } })
  if (there.leaf?.uuid !== at || !isSaid(there) || isUnclear(log, at, there.removed)) return true
  const after = reader(Law.read(rewound(given.bytes, [at])))
  return Law.all(
    () => Law.same(`rewind to ${at}`, settled(there), settled(without(after))),
    () => Law.same("the marker stands last", markerOf(0), Law.idsOf(after).at(-1) ?? "nothing"),
    () => Law.same("messages", String(there.messages + 1), String(after.messages))
  )
})

const back = Law.history("rewinding to what was left returns to it", (given, reader) => {
  const log = Law.read(given.bytes)
  const before = reader(log)
  const ids = Law.idsOf(before)
  const leaf = before.leaf?.uuid
  const at = ids[Law.choose(given, 0, ids.length)]
  if (at === undefined || leaf === undefined || !isSaid(before)) return true
  const after = reader(Law.read(rewound(given.bytes, [at, leaf])))
  return Law.same(`to ${at} and back to ${leaf}`, settled(before), settled(without(after)))
})

/**
 * The laws.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law.Law> = [to, back]
