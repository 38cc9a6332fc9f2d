/**
 * Long logs of small entries, one at a time, so that what is measured is the fold and not the memory of the bench.
 *
 *   chain       u ─ a ─ u ─ a …                     branches    every so often, the next one hangs five entries back
 *   parallel    ten calls, each with its result      snips       every so often, the two entries before are snipped
 *   boundaries  every so often, a compaction with its summary
 */
import * as Boundary from "@reprise/domain/Boundary"
import type * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"

/** What happens beside talk. */
export type Shape = "chain" | "branches" | "parallel" | "snips" | "boundaries"

const uuidOf = (n: number): string => `c0000000-0000-4000-8000-${String(n).padStart(12, "0")}`
const none: Line.Located["damage"] = []

/** So many entries; something of the shape happens every `every` entries. */
export function* entries(shape: Shape, count: number, every: number): Generator<Line.Located> {
  let tail: string | null = null
  let written = 0
  const located = (body: object, parentUuid: string | null): Line.Located => {
    const uuid = uuidOf(++written)
    tail = uuid
    const entry = { parentUuid, isSidechain: false, ...body, uuid } as unknown as Entry.Known
    return { entry, at: { line: written, byteStart: 300 * written, byteEnd: 300 * written + 299 }, damage: none }
  }
  const talk = (): Line.Located => located(written % 2 === 0 ? said("?") : replied(written, [text]), tail)
  const isDone = (): boolean => written >= count
  while (!isDone()) {
    if (shape === "chain" || written % every < every - 1 || written < 20) yield talk()
    else if (shape === "branches") yield located(said("again"), uuidOf(written - 5))
    else if (shape === "parallel") yield* round(located, written, tail)
    else if (shape === "snips") yield located(Boundary.snip([uuidOf(written - 1), uuidOf(written - 2)]), tail)
    else {
      yield located(Boundary.compact({ trigger: "auto", preTokens: 1, logicalParentUuid: tail }), null)
      yield located(Boundary.compactSummary("Summary."), tail)
    }
  }
}

/** One reply with ten calls: lines that share an id, and a result for each, hanging on its call. */
function* round(
  located: (body: object, parent: string | null) => Line.Located,
  first: number,
  tail: string | null
): Generator<Line.Located> {
  const calls = Array.from({ length: 10 }, (_, i) => `toolu_${first}_${i}`)
  const lines: Array<string> = []
  let parent = tail
  for (const id of calls) {
    const line = located(replied(first, [{ type: "tool_use", id, name: "Read", input: {} }]), parent)
    parent = uuidOf(line.at.line)
    lines.push(parent)
    yield line
  }
  for (const [i, tool_use_id] of calls.entries()) {
    yield located({ ...said([{ type: "tool_result", tool_use_id, content: "" }]) }, lines[i]!)
  }
}

const text = { type: "text", text: "!" }

const said = (content: unknown): object => ({ type: "user", message: { role: "user", content } })

const replied = (n: number, content: ReadonlyArray<object>): object => ({
  type: "assistant",
  message: { id: `msg_${n}`, role: "assistant", content }
})
