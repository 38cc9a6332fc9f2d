/** A server as a program that can be killed, behind a network that breaks, and what it holds. */
import * as IngressClient from "@reprise/ingress/IngressClient"
import * as StreamLine from "@reprise/ingress/StreamLine"
import * as FaultProxy from "@reprise/ingress/testing/FaultProxy"
import { Effect, Redacted, Stream } from "effect"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as Databases from "../history/databases.ts"
import * as Temporary from "../ingress/hydrated.ts"
import * as Running from "../running.ts"

const program = fileURLToPath(new URL("../history/server.ts", import.meta.url))

/** Where a server keeps what it is sent: in a file, or in a cluster, of its own each. */
const databases = {
  sqlite: Effect.map(Temporary.directory, (directory) => path.join(directory, "ingress.db")),
  postgres: Effect.map(Databases.primary(), ({ url }) => url)
}

export type Store = keyof typeof databases

/** A server over a store; of 100 requests about `percent` have a fault. It ends with the scope. */
export const make = Effect.fnUntraced(function* (
  store: Store,
  options: { readonly seed: number; readonly percent: number }
) {
  const database = yield* databases[store]
  let running: Running.Running | undefined
  let upstream = "http://127.0.0.1:1"
  const start = async () => {
    running = Running.start(["--no-warnings", program, database])
    upstream = `http://127.0.0.1:${await running.port}`
  }
  const kill = async () => {
    await running?.kill()
    upstream = "http://127.0.0.1:1"
  }
  yield* Effect.addFinalizer(() => Effect.promise(kill))
  yield* Effect.promise(start)
  const faultOf = FaultProxy.seeded(options.seed, options.percent)
  const { counts, url } = yield* FaultProxy.make({ upstream: () => upstream, faultOf })
  const client = Effect.suspend(() => IngressClient.makeNode({ urls: [upstream], token: Redacted.make("t~admin") }))
  /** The bytes of a stream. */
  const text = (session: string, sub = "") =>
    Effect.flatMap(client, ({ lines }) => Stream.runCollect(lines({ session, sub }))).pipe(
      Effect.map((all) => Buffer.concat(all.flatMap((line) => [StreamLine.bytesOf(line), LF])).toString())
    )
  return { url, counts, start, kill, text, client }
})

const LF = Buffer.from("\n")
