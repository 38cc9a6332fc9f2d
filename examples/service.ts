/**
 * The agent service of the main job (`main.ts`), in two runs:
 *
 *   node examples/service.ts record DIRECTORY SESSION     records, and is killed in the middle of a line
 *   node examples/service.ts resume DIRECTORY SESSION     recovers what is there, shows it, and goes on
 */
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import * as ResumeText from "@reprise/cli/ResumeText"
import * as Style from "@reprise/cli/Style"
import * as Content from "@reprise/domain/Content"
import * as Message from "@reprise/domain/Message"
import * as Interruption from "@reprise/recovery/Interruption"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import * as Transcript from "@reprise/storage/Transcript"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as path from "node:path"

const [run = "", directory = "", sessionId = ""] = process.argv.slice(2)
const options = {
  sessionId,
  cwd: directory,
  version: "2.1.0",
  log: EntryLog.at(path.join(directory, `${sessionId}.jsonl`))
}

/** One line of a reply: text, or a call of a tool. The lines of one reply share its id. */
const say = (id: string, text: string) => Message.assistant({ id, model: "example-model", content: text })
const call = (id: string, toolUseId: string, command: string) =>
  Message.assistant({
    id,
    model: "example-model",
    content: [Content.toolUse({ id: toolUseId, name: "Bash", input: { command } })]
  })
const answer = (toolUseId: string, content: string) =>
  Message.toolResults([Content.toolResult({ tool_use_id: toolUseId, content })])

const record = Effect.gen(function* () {
  const transcript = yield* Transcript.open(options)
  yield* transcript.append(Message.user("Which of the two pages is slow?"))
  yield* transcript.append(call("msg_1", "toolu_1", "time curl /home"))
  yield* transcript.append(call("msg_1", "toolu_2", "time curl /search"))
  yield* transcript.append(answer("toolu_2", "4.1 s"))
  yield* transcript.append(answer("toolu_1", "0.2 s"))
  yield* transcript.append(say("msg_2", "The search page: 4.1 s against 0.2 s."))
  yield* transcript.endTurn({ durationMs: 4300 })

  yield* transcript.append(Message.user("Add an index, and measure again."))
  yield* transcript.append(call("msg_3", "toolu_3", "psql -f index.sql"))
  yield* transcript.append(call("msg_3", "toolu_4", "time curl /search"))
  yield* transcript.append(answer("toolu_3", "CREATE INDEX"))
  yield* transcript.flush

  // The writer is in the middle of a line when it ends: the log takes 120 bytes of it and no more.
  const { plan } = yield* FaultyEntryLog.Faults
  yield* plan({ after: 120 })
  yield* transcript.append(answer("toolu_4", "0.3 s"))
  yield* Effect.ignore(transcript.flush)
  yield* Console.log("half a line is written")
  return yield* Effect.never
})

const resume = Effect.gen(function* () {
  const state = yield* LineReader.fold(options.log, Recovery.projection)
  const view = ModelMessages.make(state)
  const interruption = Interruption.judge(state.conversation, view)
  const sent = Interruption.inject(view, interruption)
  const findings = [...state.findings, ...view.findings]
  const file = EntryLog.pathOf(directory, options.log)
  const recovered = { file, sessionId, state, progress: 0, view: sent, interruption, findings }
  yield* Console.log(ResumeText.render(recovered, yield* Style.current))

  // A model would be sent `sent.messages` and the prompt.
  const transcript = yield* Transcript.open({ ...options, leaf: Recovery.leaf })
  yield* transcript.append(Message.user("How fast is the search page now?"))
  yield* transcript.append(say("msg_4", "The index is there; the measurement was cut off. I will repeat it."))
  yield* transcript.endTurn({ durationMs: 900 })
  yield* transcript.title("Make the search page fast")
})

const log = FaultyEntryLog.layer.pipe(Layer.provide(FileEntryLog.layerWith({ projects: directory })))
const layer = SessionWriter.layerWith({ retry: { first: "1 hour", most: "1 hour" } }).pipe(
  Layer.provideMerge(Layer.mergeAll(log, NodeTerminal.layer))
)

const runs: { readonly [name: string]: Effect.Effect<void, unknown, Layer.Success<typeof layer> | Scope.Scope> } = {
  record,
  resume
}

await Effect.runPromise((runs[run] ?? Effect.die(`no such run: ${run}`)).pipe(Effect.scoped, Effect.provide(layer)))
