/**
 * The history of a session: its context begins anew with a summary, it goes back, and what came before is read no more.
 *
 * Run: a session of three turns is compacted and rewound, then read through a door, and its tokens are counted.
 */
import * as Content from "@reprise/domain/Content"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Layer from "effect/Layer"
import { inTemporaryDirectory } from "./temporary.ts"
// #region history
import { Message } from "@reprise/domain"
import { Recovery } from "@reprise/recovery"
import { Transcript } from "@reprise/storage"
import { Effect } from "effect"

const model = "example-model"

const say = Effect.fn("say")(function* (transcript: Transcript.Transcript, prompt: string) {
  const { uuid } = yield* transcript.append(Message.user(prompt))
  const usage = { input_tokens: 30, output_tokens: 10 }
  const reply = { id: `msg_${uuid}`, model, content: `About: ${prompt}`, usage }
  const { uuid: answer } = yield* transcript.append(Message.assistant(reply))
  yield* transcript.endTurn() // a checkpoint, against which a reader counts
  return { prompt: uuid, answer }
})

export const record = Effect.fn("record")(function* (cwd: string) {
  const transcript = yield* Transcript.open({ cwd, version: "2.1.0", leaf: Recovery.leaf })
  yield* transcript.title("A long story")
  yield* say(transcript, "How does it begin?")
  const last = yield* say(transcript, "Who is in it?")
  // From here on the model is sent the summary and the last turn.
  yield* transcript.compact("It begins with a storm.", [last.prompt, last.answer])
  const third = yield* say(transcript, "Does it end well?")
  yield* transcript.rewind(third.prompt) // the reply is a branch from now on
  yield* transcript.append(Message.assistant({ id: "msg_4", model, content: "It does." }))
  yield* transcript.flush
  return transcript.log
}, Effect.scoped)
// #endregion
// #region doors
import { History } from "@reprise/storage"
import type { EntryLog } from "@reprise/storage"

/** From the last boundary on; the doors are recovery's, which judges whether that was enough. */
export const read = (log: EntryLog.LogId) => History.read(log, Recovery.judged(), { history: "suffix" })
// #endregion
// #region counted
import { Projection } from "@reprise/domain"
import { Usage } from "@reprise/recovery"
import type { SessionState } from "@reprise/recovery"

/** The tokens of the conversation alone: neither of branches nor of what was snipped or archived. */
export const spent = ({ conversation }: SessionState.SessionState) =>
  Projection.fold(
    Usage.projection,
    conversation.map(({ entry }) => entry)
  )
// #endregion

const layer = SessionWriter.layer.pipe(Layer.provideMerge(FileEntryLog.layer))

const program = Effect.gen(function* () {
  const log = yield* record(process.cwd())
  const { answer, history } = yield* read(log)
  console.log(`read through the door: ${history}`)
  for (const { parts, role } of ModelMessages.make(answer).messages) {
    console.log(`${role.padEnd(9)}  ${Content.textOf(parts.map(({ block }) => block)).replaceAll("\n", " ")}`)
  }
  const whole = yield* History.read(log, Recovery.judged())
  console.log(`tokens read: ${whole.answer.usage.input} by all, ${spent(whole.answer).input} by the conversation`)
}).pipe(Effect.provide(layer))

await inTemporaryDirectory(program)
