/** A server of the protocol as a program: `node server.ts STORE HOST`, where STORE is a URL of PostgreSQL or a file. */
import * as PostgresIngressStore from "@reprise/ingress/PostgresIngressStore"
import * as SqliteIngressStore from "@reprise/ingress/SqliteIngressStore"
import { Effect, Redacted } from "effect"
import { Served, serve } from "../ingress/serving.ts"

const [, , store = "", host = "127.0.0.1"] = process.argv
const opened = store.startsWith("postgres:")
  ? PostgresIngressStore.layer({ url: Redacted.make(store) })
  : SqliteIngressStore.layer({ file: store })

await Effect.gen(function* () {
  const { port } = yield* Served
  console.log(`listening on ${port}`)
  return yield* Effect.never
}).pipe(Effect.provide(serve(opened, {}, { host })), Effect.runPromise)
