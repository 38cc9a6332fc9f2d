/**
 * Embedding: one turn of an agent service, whatever state the log was left in.
 *
 * Run: two turns with a model that only counts, in a directory that is gone afterwards.
 */
import * as Content from "@reprise/domain/Content"
import { inTemporaryDirectory } from "./temporary.ts"
// #region embed
import { Message } from "@reprise/domain"
import { ModelMessages, Recovery } from "@reprise/recovery"
import { FileEntryLog, SessionWriter, Transcript } from "@reprise/storage"
import { Effect, Layer } from "effect"

export const layer = SessionWriter.layer.pipe(Layer.provideMerge(FileEntryLog.layer))
type Model = (messages: ReadonlyArray<ModelMessages.ModelMessage>) => Effect.Effect<Message.MessageBody>

export const turn = Effect.fn("turn")(function* (sessionId: string, prompt: string, model: Model) {
  const transcript = yield* Transcript.open({ sessionId, cwd: process.cwd(), version: "2.1.0", leaf: Recovery.leaf })
  yield* transcript.append(Message.user(prompt))
  const state = yield* transcript.project(Recovery.projection)
  yield* transcript.append(yield* model(ModelMessages.make(state).messages))
  yield* transcript.flush // returns when all of it is written
}, Effect.scoped)
// #endregion

const counting: Model = (messages) =>
  Effect.succeed(
    Message.assistant({
      id: `msg_${messages.length}`,
      model: "example-model",
      content: `So far I was sent this many messages: ${messages.length}.`
    })
  )

const sessionId = "6d1b0f3a-8c42-4e57-9a0b-2f5e7c81d964"

const program = Effect.gen(function* () {
  yield* turn(sessionId, "How much do you know?", counting)
  yield* turn(sessionId, "And now?", counting)
  const transcript = yield* Transcript.open({ sessionId, cwd: process.cwd(), version: "2.1.0" })
  const { conversation } = yield* transcript.project(Recovery.projection)
  for (const { entry } of conversation) {
    if ("message" in entry) console.log(`${entry.type.padEnd(9)}  ${Content.textOf(entry.message.content)}`)
  }
}).pipe(Effect.scoped, Effect.provide(layer))

await inTemporaryDirectory(program)
