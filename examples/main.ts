/**
 * The main job, as `npm start` runs it: a session is recorded, broken and resumed, by three processes.
 *
 *   1  records, and is killed (SIGKILL) with half a line written
 *   2  recovers, shows what was repaired and how the turn was interrupted, and goes on
 *   3  reads all of it: the command `reprise resume`
 *
 * Then the command shows a bundled transcript that has been through more than that.
 */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import * as Style from "@reprise/cli/Style"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Stream from "effect/Stream"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"

const sessionId = "1c9a5b7e-40d3-4f86-8e2b-95d7a6c3f014"
const path = (file: string) => relative(process.cwd(), fileURLToPath(new URL(file, import.meta.url)))
const service = path("service.ts")
const command = path("../packages/cli/src/main.ts")
const transcript = path("transcripts/repaired.jsonl")

const heading = Effect.fnUntraced(function* (text: string) {
  const { paint } = yield* Style.current
  yield* Console.log(`\n${paint("title", `── ${text}`)}\n`)
})

/** Runs a program of ours to its end; it prints where we print. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const options = { stdin: "ignore", stdout: "inherit", stderr: "inherit" } as const
    const child = yield* ChildProcess.make(process.execPath, args, options)
    const exitCode = yield* child.exitCode
    if (exitCode !== 0) return yield* Effect.die(`${args[0]} ended with exit code ${exitCode}`)
  }).pipe(Effect.scoped)

/** Runs a program of ours until it says so, and kills it. */
const runAndKill = (until: string, ...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const child = yield* ChildProcess.make(process.execPath, args, { stdin: "ignore", stderr: "inherit" })
    const printed = child.stdout.pipe(Stream.decodeText, Stream.splitLines)
    yield* Stream.runDrain(Stream.takeUntil(printed, (line) => line === until))
    yield* child.kill({ killSignal: "SIGKILL" })
  }).pipe(Effect.scoped)

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "reprise-" })
  const file = `${directory}/${sessionId}.jsonl`

  yield* heading("Process 1 records a session, and is killed (kill -9) in the middle of a line")
  yield* runAndKill("half a line is written", service, "record", directory, sessionId)
  const bytes = yield* fs.readFileString(file)
  yield* Console.log(`${file} ends in\n${bytes.slice(bytes.lastIndexOf("\n") + 1)}`)

  yield* heading("Process 2 recovers the session, and goes on with the next prompt")
  yield* run(service, "resume", directory, sessionId)

  yield* heading("Process 3 reads all of it: reprise resume FILE")
  yield* run(command, "resume", file)

  yield* heading(`A transcript that has been through more: reprise resume ${transcript}`)
  yield* run(command, "resume", transcript)
})

const platform = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer))
)

program.pipe(Effect.scoped, Effect.provide(platform), NodeRuntime.runMain)
