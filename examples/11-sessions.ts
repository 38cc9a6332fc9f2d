/**
 * Sessions as a whole: one is forked, taken back to an earlier message, and carried to another machine in a file.
 *
 * Run: it is recorded first, and imported below another directory.
 */
import * as Content from "@reprise/domain/Content"
import * as Message from "@reprise/domain/Message"
import * as path from "node:path"
import { inTemporaryDirectory } from "./temporary.ts"
// #region sessions
import { SessionSource } from "@reprise/domain"
import { ForkPlan, Recovery } from "@reprise/recovery"
import {
  EntryLog,
  FileEntryLog,
  SessionBundle,
  SessionFork,
  SessionWriter,
  StoredSessionSource,
  Transcript
} from "@reprise/storage"
import { Effect, Layer } from "effect"

/** The place of a session: here by its id, also by its directory (the latest) or its path. */
const find = (sessionId: string) => StoredSessionSource.resolve(SessionSource.id(sessionId))

/** A second session that goes on from a message of the first one. */
export const forkAt = Effect.fn("forkAt")(function* (sessionId: string, at: string) {
  const log = EntryLog.at((yield* find(sessionId)).path)
  return yield* SessionFork.fork(log, { plan: ForkPlan.projection({ at }) })
})

/** The same session, from an earlier message on. */
export const goBack = Effect.fn("goBack")(function* (sessionId: string, to: string) {
  const log = EntryLog.at((yield* find(sessionId)).path)
  const transcript = yield* Transcript.open({ log, cwd: process.cwd(), version: "2.1.0", leaf: Recovery.leaf })
  yield* transcript.rewind(to)
  yield* transcript.flush
}, Effect.scoped)

/** The session in one file, and back from it, in a directory of this machine. */
export const carry = Effect.fn("carry")(function* (sessionId: string, bundle: string, projects: string, cwd: string) {
  yield* SessionBundle.exportTo((yield* find(sessionId)).path, bundle)
  return yield* SessionBundle.importFrom(bundle, { projects, cwd }) // imported, or already-there
})

export const layer = SessionWriter.layer.pipe(Layer.provideMerge(FileEntryLog.layer)) // the writer is for goBack alone
// #endregion

const record = Effect.gen(function* () {
  const transcript = yield* Transcript.open({ cwd: process.cwd(), version: "2.1.0" })
  const ids: Array<string> = []
  for (const text of ["Which page is slow?", "And the other one?"]) {
    ids.push((yield* transcript.append(Message.user(text))).uuid)
    const content = [Content.text("The second one.")]
    ids.push(
      (yield* transcript.append(Message.assistant({ id: `msg_${ids.length}`, model: "example-model", content }))).uuid
    )
  }
  return { sessionId: transcript.sessionId, ids }
}).pipe(Effect.scoped)

const program = Effect.gen(function* () {
  const { ids, sessionId } = yield* record
  const fork = yield* forkAt(sessionId, ids[1]!)
  yield* goBack(sessionId, ids[1]!)
  const directory = path.dirname((yield* find(sessionId)).path)
  const bundle = path.join(directory, "session.tar.gz")
  const imported = yield* carry(sessionId, bundle, path.join(directory, "elsewhere"), "/home/other")
  console.log(`${fork.title}: ${fork.messages} messages; ${imported.outcome} into ${imported.cwd}`)
}).pipe(Effect.provide(layer))

await inTemporaryDirectory(program)
