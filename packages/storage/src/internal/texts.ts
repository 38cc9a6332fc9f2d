/**
 * Texts: what people read of an entry: what was said, thought, called for and answered, titles, prompts and notes. Ids,
 * directories, signatures and the data of images are none.
 */
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"

/** The texts of an entry. */
export const of = (entry: Entry.Entry): ReadonlyArray<string> =>
  Entry.match<ReadonlyArray<string | undefined>, ReadonlyArray<string | undefined>>(
    entry,
    {
      user: ({ message }) => ofBlocks(message.content),
      assistant: ({ message }) => ofBlocks(message.content),
      attachment: (attachment) => Message.sent(attachment).flatMap(ofBlock),
      system: ({ content }) => (content === undefined ? [] : [content]),
      summary: ({ summary }) => [summary],
      "custom-title": ({ customTitle }) => [customTitle],
      "ai-title": ({ aiTitle }) => [aiTitle],
      tag: ({ tag }) => [tag],
      "last-prompt": ({ lastPrompt }) => [lastPrompt],
      "task-summary": ({ summary }) => [summary],
      "queue-operation": ({ content }) => stringsIn(content)
    },
    () => []
  ).filter((text) => text !== undefined)

const ofBlocks = (content: unknown): ReadonlyArray<string> => Content.blocks(content).flatMap(ofBlock)

const ofBlock = (block: Content.Block): ReadonlyArray<string> => {
  if (Content.isText(block)) return [block.text]
  if (Content.isThinking(block)) return [block.thinking]
  if (Content.isToolUse(block)) return [block.name, ...stringsIn(block.input)]
  return Content.isToolResult(block) ? ofBlocks(block.content) : []
}

/** All strings in a value, at any depth; a stack of its own, since input nests as deep as it likes. */
const stringsIn = (value: unknown): ReadonlyArray<string> => {
  const found: Array<string> = []
  const waiting: Array<unknown> = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next === "string") found.push(next)
    else if (typeof next === "object" && next !== null) waiting.push(...Object.values(next).toReversed())
  }
  return found
}
