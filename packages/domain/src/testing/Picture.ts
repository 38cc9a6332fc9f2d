/**
 * Picture: a log in the words of Notation, for people who look at a law that failed.
 *
 *   nine lines of JSON   ─▶   u1-a2@m1(c1)-r3(c1) a2-w4 !a2
 *
 * 1. Ids that are words of the right kind stay; others are renamed, missing ones to x1, x2, …
 * 2. Lines that Notation cannot draw (titles, snapshots, copies of a root) are left out; times are drawn where a line is
 *    not a second later than the one before it.
 */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Boundary from "../Boundary.ts"
import * as Content from "../Content.ts"
import * as Entry from "../Entry.ts"
import * as Line from "../Line.ts"

/**
 * The picture of a log.
 *
 * @category encoding
 * @since 0.1.0
 */
export const draw = (log: Uint8Array | ReadonlyArray<Line.Located>): string => {
  const entries = (log instanceof Uint8Array ? Line.decodeAll(log) : log).map(({ entry }) => entry)
  const nameOf = namer(entries)
  const base = baseOf(entries)
  const drawn = new Set<string>()
  const runs: Array<string> = []
  let previous: string | undefined
  let place = 0
  const start = (run: string): void => {
    runs.push(run)
    place++
  }
  for (const entry of entries) {
    if (entry instanceof Entry.Malformed) {
      if (entry.reason !== "blank") start("?")
      previous = undefined
    } else if (entry.type === "last-prompt") {
      const { leafUuid } = entry as Entry.OfKind<"last-prompt">
      if (leafUuid !== undefined) start(`!${nameOf(leafUuid)}`)
      previous = undefined
    } else {
      const node = nodeOf(entry)
      if (node === undefined) continue
      const name = nameOf(node.uuid)
      const parent = node.parent === null ? null : nameOf(node.parent)
      const isOpen = parent !== null && (drawn.has(parent) || parent.startsWith("x"))
      if (!isOpen && drawn.has(name)) continue
      const word = `${isOpen || parent === null ? name : `${name}^${parent}`}${more(entry, name, nameOf)}${when(entry, base, place + 1)}${agentOf(entry)}`
      if (isOpen && parent === previous) {
        runs[runs.length - 1] += `-${word}`
        place++
      } else start(isOpen ? `${parent}-${word}` : word)
      drawn.add(name)
      previous = name
    }
  }
  return runs.join(" ")
}

interface Node {
  readonly uuid: string
  readonly parent: string | null
  readonly letter: string
}

const nodeOf = (entry: Entry.Known | Entry.Unknown): Node | undefined => {
  const { parentUuid, uuid } = entry as { readonly uuid?: unknown; readonly parentUuid?: unknown }
  if (typeof uuid !== "string" || uuid === "") return undefined
  const letter = letterOf(entry)
  if (letter === undefined) return undefined
  return { uuid, parent: typeof parentUuid === "string" && parentUuid !== "" ? parentUuid : null, letter }
}

const letterOf = (entry: Entry.Known | Entry.Unknown): string | undefined => {
  if (Boundary.isCompact(entry)) return "B"
  if (Boundary.isSnip(entry)) return "N"
  if (Boundary.isCompactSummary(entry)) return "S"
  return Entry.match(
    entry,
    {
      user: (entry) => (answersOf(entry).length > 0 ? "r" : entry.isMeta === true ? "m" : "u"),
      assistant: () => "a",
      attachment: () => "t",
      system: ({ isMeta, subtype }) =>
        subtype === "local_command" ? "l" : subtype === "informational" && isMeta === true ? "w" : "s",
      progress: () => "p",
      unknown: ({ parentUuid }) => (parentUuid === undefined ? undefined : "q")
    },
    () => undefined
  )
}

const answersOf = (entry: Entry.OfKind<"user">): ReadonlyArray<string> =>
  Content.blocks(entry.message.content).flatMap((block) => (Content.isToolResult(block) ? [block.tool_use_id] : []))

/** Gives every id a name: its own where that is a word of its kind and nobody else's. */
const namer = (entries: ReadonlyArray<Entry.Entry>): ((uuid: string) => string) => {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  let count = 0
  const fresh = (letter: string): string => {
    do count++
    while (taken.has(`${letter}${count}`))
    return `${letter}${count}`
  }
  const give = (uuid: string, letter: string): string => {
    const name = uuid.startsWith(letter) && /^\w{1,12}$/.test(uuid) && !taken.has(uuid) ? uuid : fresh(letter)
    names.set(uuid, name)
    taken.add(name)
    return name
  }
  for (const entry of entries) {
    const node = entry instanceof Entry.Malformed ? undefined : nodeOf(entry)
    if (node !== undefined && !names.has(node.uuid)) give(node.uuid, node.letter)
  }
  return (uuid) => names.get(uuid) ?? give(uuid, "x")
}

const word = (id: string): string => id.replace(/\W/g, "")

/** What follows the name and the parent. */
const more = (entry: Entry.Known | Entry.Unknown, name: string, nameOf: (uuid: string) => string): string => {
  const names = (uuids: ReadonlyArray<string>): string => uuids.map(nameOf).join()
  const kept = Boundary.preserved(entry)
  if (kept !== undefined) {
    const range = kept.kind === "messages" ? names(kept.uuids) : `${nameOf(kept.head)}..${nameOf(kept.tail)}`
    return `{${range}>${nameOf(kept.anchor)}}`
  }
  const removed = Boundary.removed(entry)
  if (removed !== undefined) return `{${names(removed)}}`
  return Entry.match(
    entry,
    {
      user: (entry) => {
        const answers = answersOf(entry).map(word).join()
        return answers === "" || answers === name.slice(1) ? "" : `(${answers})`
      },
      assistant: ({ message, uuid }) => {
        const calls = Content.blocks(message.content).flatMap((block) =>
          Content.isToolUse(block) ? [word(block.id)] : []
        )
        const id = message.id === undefined || message.id === `msg-${uuid}` ? "" : `@${word(message.id)}`
        return `${id}${calls.length === 0 ? "" : `(${calls.join()})`}`
      }
    },
    () => ""
  )
}

const agentOf = (entry: Entry.Entry): string => {
  const { agentId, isSidechain } = entry as { readonly agentId?: unknown; readonly isSidechain?: unknown }
  if (isSidechain !== true) return ""
  return `~${typeof agentId === "string" && agentId !== "" ? word(agentId) : "none"}`
}

const millisOf = (entry: Entry.Entry): number | undefined => {
  const { timestamp } = entry as { readonly timestamp?: unknown }
  if (typeof timestamp !== "string") return undefined
  return Option.getOrUndefined(Option.map(DateTime.make(timestamp), DateTime.toEpochMillis))
}

/** Notation's own day, or a second before the first time of the log. */
const baseOf = (entries: ReadonlyArray<Entry.Entry>): number => {
  const first = entries.map(millisOf).find((time) => time !== undefined) ?? day
  return first >= day && first < day + 86_400_000 ? day : first - 1000
}

const day = 1_767_225_600_000

const when = (entry: Entry.Entry, base: number, place: number): string => {
  const time = millisOf(entry)
  if (time === undefined) return ":?"
  return time - base === place * 1000 ? "" : `:${Math.max(0, time - base) / 1000}`
}
