/**
 * Writing: a session whose entries are on the disk when `flush` returns, and one that another program may have.
 *
 * Run: a session is opened, and once more, as a second program would; that one reads along instead.
 */
import * as Message from "@reprise/domain/Message"
import { inTemporaryDirectory } from "./temporary.ts"
// #region durability
import { FileEntryLog, SessionWriter } from "@reprise/storage"
import { Layer } from "effect"

export const layer = SessionWriter.layerWith({ durability: "fsync" }).pipe(Layer.provideMerge(FileEntryLog.layer))
// #endregion
// #region locked
import { Recovery } from "@reprise/recovery"
import { Transcript } from "@reprise/storage"
import { Console, Effect, Schedule } from "effect"

export const open = (where: Transcript.Options) =>
  Transcript.open({ ...where, leaf: Recovery.leaf }).pipe(
    Effect.retry({ while: ({ _tag }) => _tag === "SessionLocked", times: 3, schedule: Schedule.spaced("100 millis") }),
    Effect.catchTag("SessionLocked", ({ host, pid, since }) =>
      Console.log(`read only: process ${pid} on ${host} has the session since ${since}`).pipe(
        Effect.andThen(Transcript.open({ ...where, lock: false }))
      )
    )
  )
// #endregion

const where = { sessionId: "0c5e9a1d-37b4-4f86-92d8-6ab1c4e7f053", cwd: process.cwd(), version: "2.1.0" }

const program = Effect.gen(function* () {
  const first = yield* open(where)
  yield* first.append(Message.user("Who writes this?"))
  yield* first.flush
  const second = yield* open(where)
  const { conversation } = yield* second.project(Recovery.projection)
  const refused = yield* Effect.flip(second.append(Message.user("Me too?")))
  console.log(`${conversation.length} message is there; a second one is refused: ${refused._tag}`)
}).pipe(Effect.scoped, Effect.provide(layer))

await inTemporaryDirectory(program)
