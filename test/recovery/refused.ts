import * as Content from "@reprise/domain/Content"
import type * as ModelMessages from "@reprise/recovery/ModelMessages"

/** Why the API would refuse it; nothing: it is fine. */
export const refused = ({ messages }: ModelMessages.ModelView): string | undefined => {
  for (const [i, { parts, role }] of messages.entries()) {
    if (role !== (i % 2 === 0 ? "user" : "assistant")) return `message ${i} is the ${role}'s`
    if (parts.length === 0) return `message ${i} is empty`
    if (parts.some(({ block }) => Content.isText(block) && block.text === "")) return `message ${i} has an empty text`
    const results = parts.flatMap(({ block }) => (Content.isToolResult(block) ? [block.tool_use_id] : []))
    if (parts.findLastIndex(({ block }) => Content.isToolResult(block)) >= results.length)
      return `text before a result in ${i}`
    const asked = (messages[i - 1]?.parts ?? []).flatMap(({ block }) => (Content.isToolUse(block) ? [block.id] : []))
    if (results.toSorted().join() !== asked.toSorted().join()) return `calls ${asked} and results ${results} in ${i}`
    if (new Set(results).size !== results.length) return `call ${results} answered twice in ${i}`
  }
  const last = messages.at(-1)?.parts.flatMap(({ block }) => (Content.isToolUse(block) ? [block.id] : [])) ?? []
  return last.length > 0 ? `calls ${last} at the end` : undefined
}
