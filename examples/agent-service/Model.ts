/**
 * Model: whatever is sent the conversation and answers with a reply, a line at a time. The one here follows a script.
 *
 *   "Work in 2 steps"   text, call `measure 1`, call `check 1` · results · text, calls of step 2 · results · "Done: 2 steps."
 *
 * It knows only what it is sent, as a model does: a call whose result it does not see, it makes again.
 */
import * as Content from "@reprise/domain/Content"
import * as Message from "@reprise/domain/Message"
import * as Interruption from "@reprise/recovery/Interruption"
import type * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"

/** `reply` ends with a line whose `stop_reason` says why; `run` carries out a call. */
export class Model extends Context.Service<
  Model,
  {
    readonly reply: (
      messages: ReadonlyArray<ModelMessages.ModelMessage>
    ) => Stream.Stream<Message.MessageBody<"assistant">>
    readonly run: (call: Content.ToolUse) => Effect.Effect<Content.ToolResult>
  }
>()("agent-service/Model") {}

/** The script; every line and every result takes as long as the pause. */
export const layerScripted = (options: { readonly pause: Duration.Input }): Layer.Layer<Model> =>
  Layer.succeed(Model)({
    reply: (messages) =>
      // As an API does, it answers to somebody.
      messages.at(-1)?.role !== "user"
        ? Stream.die("expected a last message of the user")
        : Stream.fromIterable(linesOf(messages)).pipe(
            Stream.tap(() => Effect.sleep(options.pause), { concurrency: 1 })
          ),
    run: (call) =>
      Effect.as(
        Effect.sleep(options.pause),
        Content.toolResult({ tool_use_id: call.id, content: `${commandOf(call)}: ok` })
      )
  })

const commandOf = ({ input }: Content.ToolUse): string => String((input as { readonly command?: unknown }).command)

const linesOf = (
  messages: ReadonlyArray<ModelMessages.ModelMessage>
): ReadonlyArray<Message.MessageBody<"assistant">> => {
  const id = `msg_${randomUUID()}`
  const line = (block: Content.Block, stop_reason: string | null = null) =>
    Message.assistant({ id, model: "scripted-model", content: [block], stop_reason })
  const { done, steps } = progressOf(messages)
  for (let step = 1; step <= steps; step++) {
    const open = [`measure ${step}`, `check ${step}`].filter((command) => !done.has(command))
    if (open.length === 0) continue
    const calls = open.map((command) =>
      Content.toolUse({ id: `toolu_${randomUUID()}`, name: "Bash", input: { command } })
    )
    return [
      line(Content.text(`Step ${step} of ${steps}.`)),
      ...calls.map((call, i) => line(call, i === calls.length - 1 ? "tool_use" : null))
    ]
  }
  return [line(Content.text(`Done: ${steps} steps.`), "end_turn")]
}

/** How many steps the last prompt asks for, and what was done since. */
const progressOf = (messages: ReadonlyArray<ModelMessages.ModelMessage>) => {
  let steps = 0
  let done = new Set<string>()
  for (const { parts, role } of messages) {
    if (role !== "user") continue
    for (const { block } of parts) {
      if (Content.isToolResult(block)) done.add(commandIn(block))
      else if (Content.isText(block) && block.text !== Interruption.continuation) {
        steps = Math.min(Number(/\d+/.exec(block.text) ?? 0), 20)
        done = new Set()
      }
    }
  }
  return { done, steps }
}

const commandIn = ({ content }: Content.ToolResult): string => Content.textOf(content).replace(/: ok$/, "")
