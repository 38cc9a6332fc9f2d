/**
 * A client of the Messages API: it is sent the conversation, its answer is recorded and its calls are carried out, until
 * it makes none.
 *
 * Run: something that answers as such a client does asks for the time, and tells it.
 */
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Layer from "effect/Layer"
import { inTemporaryDirectory } from "./temporary.ts"
// #region client
import { Content, Message } from "@reprise/domain"
import { ModelMessages, Recovery } from "@reprise/recovery"
import { Transcript } from "@reprise/storage"
import { Effect } from "effect"

interface Request {
  model: string
  max_tokens: number
  messages: Array<{ role: string; content: string | Array<Content.AnyBlock> }>
}

/** What is used of a client: `new Anthropic()` of `@anthropic-ai/sdk` is one. */
export interface Client {
  readonly messages: { create(request: Request): PromiseLike<Message.Reply> }
}

export const turn = Effect.fn("turn")(function* (
  transcript: Transcript.Transcript,
  client: Client,
  run: (call: Content.ToolUse) => Effect.Effect<string>
) {
  for (;;) {
    const view = ModelMessages.make(yield* transcript.project(Recovery.projection))
    const messages = view.messages.map(({ parts, role }) => ({ role, content: parts.map(({ block }) => block) }))
    const request = { model: "claude-opus-4-5", max_tokens: 4096, messages }
    const reply = yield* Effect.tryPromise(() => client.messages.create(request))
    yield* transcript.append(Message.assistant(reply))
    const calls = Content.blocks(reply.content).filter(Content.isToolUse) // a guard narrows a block
    if (calls.length === 0) return yield* transcript.endTurn()
    for (const call of calls) {
      const result = Content.toolResult({ tool_use_id: call.id, content: yield* run(call) })
      yield* transcript.append(Message.toolResults([result]))
    }
  }
})
// #endregion

const asking: Client = {
  messages: {
    create: ({ messages, model }) => {
      const told = Content.blocks(messages.at(-1)!.content).find(Content.isToolResult)
      const content =
        told === undefined
          ? [Content.text("I will look."), Content.toolUse({ id: "toolu_1", name: "clock", input: { zone: "UTC" } })]
          : [Content.text(`It is ${Content.textOf(told.content)}.`)]
      const usage = { input_tokens: 40 * messages.length, output_tokens: 20 }
      return Promise.resolve({ id: `msg_${messages.length}`, model, content, usage })
    }
  }
}

const layer = SessionWriter.layer.pipe(Layer.provideMerge(FileEntryLog.layer))

const program = Effect.gen(function* () {
  const transcript = yield* Transcript.open({ cwd: process.cwd(), version: "2.1.0", leaf: Recovery.leaf })
  yield* transcript.append(Message.user("What time is it?"))
  yield* turn(transcript, asking, () => Effect.succeed("12:00"))
  const { conversation } = yield* transcript.project(Recovery.projection)
  for (const { entry } of conversation) {
    if (!("message" in entry)) continue
    const blocks = Content.blocks(entry.message.content)
    console.log(
      `${entry.type.padEnd(9)}  ${blocks.map(({ type }) => type).join(" ")}  ${Content.textOf(blocks)}`.trimEnd()
    )
  }
}).pipe(Effect.scoped, Effect.provide(layer))

await inTemporaryDirectory(program)
