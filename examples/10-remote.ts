/**
 * A remote: one machine records a session and sends it, another takes it over.
 *
 * Run: both machines are directories, and the remote keeps what it has in memory.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Content } from "@reprise/domain"
import { ModelMessages } from "@reprise/recovery"
import { ProjectPath } from "@reprise/storage"
import { HttpServer } from "effect/http"
import { join } from "node:path"
import { inTemporaryDirectory } from "./temporary.ts"
// #region client
import { Message } from "@reprise/domain"
import { Hydration, RemoteLog, Replicator } from "@reprise/ingress"
import { Recovery } from "@reprise/recovery"
import { EntryLog, Transcript } from "@reprise/storage"
import { Effect } from "effect"

/** The session of the main log at a path. */
const open = (main: string, sessionId: string) =>
  Transcript.open({ sessionId, cwd: "/work", version: "2.1.0", log: EntryLog.at(main), leaf: Recovery.leaf })

/** What is written is sent as it is written; at the end, what is still behind is waited for. */
export const record = Effect.fn("record")(function* (main: string, sessionId: string) {
  const transcript = yield* open(main, sessionId)
  const { drain } = yield* Replicator.make(main)
  yield* transcript.append(Message.user("Which page is slow?"))
  yield* transcript.append(Message.assistant({ id: "msg_1", model: "claude-opus-4-5", content: "The second one." }))
  yield* transcript.flush
  return yield* drain("10 seconds")
}, Effect.scoped)

/** On a machine that has nothing of the session yet, or what it had when the session went on elsewhere. */
export const takeOver = Effect.fn("takeOver")(function* (main: string, sessionId: string) {
  yield* Effect.scoped(
    Hydration.hydrate(main, yield* RemoteLog.ofIngress(sessionId, "native"), { leaf: Recovery.leaf })
  )
  const transcript = yield* open(main, sessionId)
  yield* Replicator.make(main, { claim: "anew" }) // the first machine sends nothing from now on
  return yield* transcript.project(Recovery.projection)
}, Effect.scoped)
// #endregion
// #region layers
import { IngressClient, IngressServer, IngressStore, Limits, NodeServer, TokenVerifier } from "@reprise/ingress"
import { FileEntryLog, SessionWriter } from "@reprise/storage"
import { Layer } from "effect"
import type { Redacted } from "effect"

/** What `record` and `takeOver` need. */
export const machine = (url: string, token: Redacted.Redacted) =>
  Layer.mergeAll(
    SessionWriter.layer.pipe(Layer.provideMerge(FileEntryLog.layer)),
    IngressClient.layerNode({ urls: [url], token })
  )

/** A server, as `reprise serve` is one; there are stores in SQLite and PostgreSQL. */
export const server = (token: TokenVerifier.Known) =>
  IngressServer.layer(
    NodeHttpServer.layer(() => NodeServer.make(Limits.defaults), { host: "127.0.0.1", port: 0 })
  ).pipe(Layer.provide([IngressStore.layerMemory, TokenVerifier.layer([token])]))
// #endregion

const sessionId = "4a7c1e90-2b5d-4c38-9f06-d1e2a3b4c5d6"

const program = Effect.gen(function* () {
  const directory = yield* ProjectPath.projectsDirectory
  const on = (name: string) => join(directory, name, `${sessionId}.jsonl`)
  const { known, token } = yield* TokenVerifier.make("acme", ["append", "read"])
  const work = HttpServer.HttpServer.use(({ address }) =>
    Effect.gen(function* () {
      const { bytes, status } = yield* record(on("first"), sessionId)
      console.log(`first machine: ${bytes} bytes behind, ${status._tag}`)
      const { messages } = ModelMessages.make(yield* takeOver(on("second"), sessionId))
      for (const { parts, role } of messages) {
        console.log(`${role.padEnd(9)}  ${Content.textOf(parts.map(({ block }) => block))}`)
      }
    }).pipe(Effect.provide(machine(HttpServer.formatAddress(address), token)))
  )
  yield* Effect.provide(work, server(known))
})

await inTemporaryDirectory(Effect.orDie(program))
