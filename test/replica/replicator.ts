/**
 * A replicator as a program: `node replicator.ts MAIN URLS [BYTES]`, the URLs joined by commas; so many bytes are a batch.
 * It prints its status whenever that changes, and at the end of each catching up what it held at most.
 */
import * as Ingress from "@reprise/ingress/Ingress"
import * as IngressClient from "@reprise/ingress/IngressClient"
import * as Replicator from "@reprise/ingress/Replicator"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as path from "node:path"

const [, , main = "", urls = "", batchBytes] = process.argv

/** Bytes of the largest read, of the largest batch, and of the process. */
const held = { read: 0, batch: 0, rss: 0 }
const sample = () => void (held.rss = Math.max(held.rss, process.memoryUsage.rss()))
setInterval(sample, 50).unref()

const ingress = Layer.effect(
  Ingress.Ingress,
  Effect.map(
    IngressClient.makeNode({ urls: urls.split(","), token: Redacted.make("t~admin"), timeout: "5 seconds" }),
    (client) =>
      Ingress.Ingress.of({
        ...client,
        append: (target, batch) => {
          const bytes = batch.lines.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
          held.batch = Math.max(held.batch, bytes)
          return client.append(target, batch)
        }
      })
  )
)

const log = Layer.effect(
  EntryLog.EntryLog,
  Effect.map(EntryLog.EntryLog, (port) => ({
    ...port,
    reader: (id: EntryLog.LogId) =>
      Effect.map(port.reader(id), (reader) => ({
        ...reader,
        read: (offset: number, into: Uint8Array) => {
          held.read = Math.max(held.read, into.length)
          return reader.read(offset, into)
        }
      }))
  }))
).pipe(Layer.provide(FileEntryLog.layerWith({ projects: path.join(main, "..", "..") })))

await Effect.gen(function* () {
  const { status } = yield* Replicator.make(main, {
    interval: "50 millis",
    ...(batchBytes !== undefined && { batchBytes: Number(batchBytes) })
  })
  console.log("listening on 1")
  yield* Stream.runForEach(SubscriptionRef.changes(status), (now) =>
    Effect.sync(() => {
      sample()
      console.log(JSON.stringify({ ...now, held: { ...held } }))
    })
  )
}).pipe(Effect.provide([ingress, log]), Effect.scoped, Effect.runPromise)
