/**
 * A program that records sessions: `node session-child.ts PROJECTS`. It reads commands from its input, one a line, and
 * answers each with one line.
 *
 *   open SESSION [DIRECTORY] · adopt SESSION · close SESSION
 *   append SESSION COUNT BYTES LABEL   prompts `LABEL n …`, then a flush
 *   set SESSION KIND VALUE · annotate SESSION TITLE
 *   foreign SESSION COUNT LABEL        as a program that knows no lock: whole lines at the end of the file
 */
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionLock from "@reprise/storage/SessionLock"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import * as fs from "node:fs"
import * as readline from "node:readline"

const [projects = ""] = process.argv.slice(2)
const logOf = (sessionId: string) => EntryLog.session("-work", sessionId)
const runtime = ManagedRuntime.make(
  SessionWriter.layer.pipe(
    Layer.provideMerge(FileEntryLog.layerWith({ projects })),
    Layer.merge(SessionLock.layerWith({ projects }))
  )
)
const sessions = new Map<string, { readonly transcript: Transcript.Transcript; readonly scope: Scope.Closeable }>()
const sessionOf = (sessionId: string) => Effect.sync(() => sessions.get(sessionId)!.transcript)

const start = (sessionId: string, adopts: boolean, cwd = "/work") =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const options = { sessionId, cwd, version: "2.1.0" }
    const opened = adopts ? Transcript.adopt(options) : Transcript.open(options)
    const transcript = yield* Scope.provide(opened, scope)
    sessions.set(sessionId, { transcript, scope })
    return "open"
  })

const append = (sessionId: string, count: number, bytes: number, label: string) =>
  Effect.gen(function* () {
    const transcript = yield* sessionOf(sessionId)
    for (let n = 0; n < count; n++) yield* transcript.append(Message.user(`${label} ${n} ${"x".repeat(bytes)}`))
    yield* transcript.flush
    return "done"
  })

const foreign = (sessionId: string, count: number, label: string) => {
  for (let n = 0; n < count; n++) {
    const line = {
      parentUuid: null,
      type: "user",
      message: { role: "user", content: `${label} ${n}` },
      uuid: `${label}-${n}`,
      sessionId
    }
    fs.appendFileSync(EntryLog.pathOf(projects, logOf(sessionId)), `${JSON.stringify(line)}\n`)
  }
  return "done"
}

const answer = ([command, sessionId = "", ...rest]: ReadonlyArray<string>) => {
  const [first = "", second = "", third = ""] = rest
  switch (command) {
    case "open":
      return start(sessionId, false, first === "" ? undefined : first)
    case "adopt":
      return start(sessionId, true)
    case "append":
      return append(sessionId, Number(first), Number(second), third)
    case "set":
      return Effect.flatMap(sessionOf(sessionId), (transcript) => transcript[first as "title" | "tag" | "mode"](second))
    case "annotate":
      return Effect.as(Transcript.annotate(logOf(sessionId), Metadata.customTitle(first)), "done")
    case "foreign":
      return Effect.sync(() => foreign(sessionId, Number(first), second))
    default:
      return Effect.as(Scope.close(sessions.get(sessionId)!.scope, Exit.void), "closed")
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const failed = (error: { readonly _tag: string }) => ("pid" in error ? `${error._tag} ${error.pid}` : error._tag)
  fs.writeSync(
    1,
    `${await runtime.runPromise(Effect.match(answer(line.split(" ")), { onFailure: failed, onSuccess: String }))}\n`
  )
}
process.exit(0)
