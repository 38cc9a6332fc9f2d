/** A replicator as a program: `node replicator.ts PROJECTS FILE URL...` replicates the session of a log until it is killed. */
import * as IngressClient from "@reprise/ingress/IngressClient"
import * as Replicator from "@reprise/ingress/Replicator"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import { Effect, Redacted, Stream, SubscriptionRef } from "effect"

const [, , projects = "", file = "", ...urls] = process.argv

const remote = IngressClient.layerNode({ urls, token: Redacted.make("tenant~admin"), timeout: 2_000 })

await Effect.gen(function* () {
  const { status } = yield* Replicator.make(file, { interval: "20 millis", batchBytes: 16 << 10 })
  yield* Stream.runForEach(SubscriptionRef.changes(status), ({ _tag }) => Effect.sync(() => console.log(_tag)))
}).pipe(Effect.scoped, Effect.provide([FileEntryLog.layerWith({ projects }), remote]), Effect.runPromise)
