/**
 * Resuming: one process takes over the latest session of a directory where another left off.
 *
 * Run: a session is recorded and closed, then taken over.
 */
import * as Content from "@reprise/domain/Content"
import { inTemporaryDirectory } from "./temporary.ts"
// #region resume
import { Message, SessionSource } from "@reprise/domain"
import { Host, Resume } from "@reprise/recovery"
import { FileEntryLog, SessionWriter, StoredSessionSource, Transcript } from "@reprise/storage"
import { Effect, Layer } from "effect"

export const layer = StoredSessionSource.layerWith({ version: "2.1.0" }).pipe(
  Layer.provideMerge(SessionWriter.layer),
  Layer.provideMerge(Layer.merge(FileEntryLog.layer, Host.layerNone)) // the ports that a program fills do nothing here
)

export const takeOver = Effect.fn("takeOver")(function* (directory: string) {
  const plan = yield* Resume.load(SessionSource.latest(directory)) // a value: look at it, or throw it away
  const { session } = yield* Resume.adopt(plan) // all of it, or none
  yield* session.append(Message.user("Go on"))
  yield* session.flush
  return plan
}, Effect.scoped)
// #endregion

const record = Effect.gen(function* () {
  const transcript = yield* Transcript.open({ cwd: process.cwd(), version: "2.1.0" })
  yield* transcript.append(Message.user("Which of the two pages is slow?"))
  const content = [Content.toolUse({ id: "toolu_1", name: "Bash", input: { command: "time curl /a" } })]
  yield* transcript.append(Message.assistant({ id: "msg_1", model: "example-model", content }))
  yield* transcript.append(Message.toolResults([Content.toolResult({ tool_use_id: "toolu_1", content: "0.2 s" })]))
}).pipe(Effect.scoped)

const program = Effect.gen(function* () {
  yield* record
  const { interruption, messages } = yield* takeOver(process.cwd())
  console.log(`${messages.length} messages to send; ended: ${interruption.kind}`)
}).pipe(Effect.provide(layer))

await inTemporaryDirectory(program)
