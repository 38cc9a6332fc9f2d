/**
 * A projection of one's own: a question about a log, answered in the same pass that recovers it.
 */
import * as Line from "@reprise/domain/Line"
import * as Recovery from "@reprise/recovery/Recovery"
import * as fs from "node:fs"
// #region projection
import { Content, Projection } from "@reprise/domain"

export const toolCalls = Projection.match(() => new Map<string, number>(), {
  assistant: (counts, { message }) => {
    for (const call of Content.blocks(message.content).filter(Content.isToolUse)) {
      counts.set(call.name, (counts.get(call.name) ?? 0) + 1)
    }
    return counts
  }
})
// #endregion

const log = fs.readFileSync(new URL("transcripts/repaired.jsonl", import.meta.url))
const both = Projection.struct({ state: Recovery.projection, toolCalls: Projection.entries(toolCalls) })
const { state, toolCalls: counts } = Projection.fold(both, Line.decodeAll(log))

console.log(`${state.messages} messages, of which ${state.conversation.length} are the conversation`)
for (const [tool, count] of counts) console.log(`calls of ${tool}: ${count}`)
