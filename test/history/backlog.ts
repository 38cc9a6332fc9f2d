/**
 * A remote that is away for long: what a replicator holds while its log grows, and while it catches up.
 *
 * Counted is what it has read of the log since the last answer, and what it sends: a page, and a batch.
 */
import * as Ingress from "@reprise/ingress/Ingress"
import * as Replicator from "@reprise/ingress/Replicator"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import { Effect, Layer, Stream } from "effect"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as path from "node:path"
import { directory } from "../ingress/temporary.ts"
import { sessionId } from "./growth.ts"
import type { Outcome } from "./round.ts"

const BATCH = 256 << 10

/** What is held now, and what was held at most; in bytes. */
const ledger = () => {
  const held = { page: 0, batch: 0, most: 0 }
  const count = (what: "page" | "batch", bytes: number): void => {
    held[what] += bytes
    held.most = Math.max(held.most, held.page + held.batch)
  }
  const forget = (): void => {
    held.page = 0
    held.batch = 0
  }
  return { held, count, forget }
}

type Ledger = ReturnType<typeof ledger>

/** A log that counts what is read of it. */
const counted = (projects: string, { count }: Ledger) =>
  Layer.effect(
    EntryLog.EntryLog,
    Effect.map(EntryLog.EntryLog, (port) => ({
      ...port,
      reader: (log) =>
        Effect.map(port.reader(log), (reader) => ({
          ...reader,
          read: (offset, into) => {
            count("page", into.length)
            return reader.read(offset, into)
          }
        }))
    }))
  ).pipe(Layer.provide(FileEntryLog.layerWith({ projects })))

/** A remote that counts what is sent to it, and keeps of it where it ends. */
const remote = ({ count, forget }: Ledger, isAway: () => boolean) => {
  let end: Ingress.End = { head: undefined, seq: 0, backend: "b1" }
  let received = 0
  const away = Effect.suspend(() =>
    isAway() ? Effect.fail(new Ingress.Unreachable({ urls: [], found: "ECONNREFUSED" })) : Effect.void
  )
  const ingress = Ingress.Ingress.of({
    urls: [],
    append: (_, { lines }) =>
      Effect.suspend(() => {
        for (const { text } of lines) count("batch", Buffer.byteLength(text))
        return away
      }).pipe(
        Effect.map(() => {
          received += lines.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0)
          const [, head] = /"uuid":"([^"]*)"/.exec(lines.at(-1)!.text) ?? []
          end = { head, seq: end.seq + lines.length, backend: "b1" }
          return { ...end, duplicate: false }
        }),
        Effect.ensuring(Effect.sync(forget))
      ),
    claim: () => Effect.as(away, { ...end, epoch: 1 }),
    streams: () => Effect.as(away, { epoch: 1, streams: [{ ...end, stream: "", bytes: received, updatedAt: 0 }] }),
    put: () => Effect.die("not of this profile"),
    loglines: () => Stream.die("not of this profile"),
    lines: () => Stream.die("nothing is read here"),
    sessions: () => Stream.die("nothing is listed here"),
    remove: () => Effect.die("nothing is removed here")
  })
  return { layer: Layer.succeed(Ingress.Ingress, ingress), received: () => received }
}

/** Lines of about 2 KB, so many bytes of them, a MiB at a time. */
const grow = (file: string, bytes: number): void => {
  for (let written = 0; written < bytes;) {
    const lines = Array.from({ length: 512 }, (_, i) => {
      const message = { role: "user", content: "·".repeat(950) }
      return `${JSON.stringify({ type: "user", uuid: `u${written}-${i}`, sessionId, message })}\n`
    })
    const text = Buffer.from(lines.join(""))
    fs.appendFileSync(file, text)
    written += text.length
  }
}

/** The log grows by so many bytes while the remote is away, and is caught up with. */
export const run = Effect.fnUntraced(function* (bytes: number) {
  const projects = path.join(yield* directory, "projects")
  const file = path.join(projects, "-work", `${sessionId}.jsonl`)
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const book = ledger()
  let isAway = true
  const { layer, received } = remote(book, () => isAway)
  grow(file, 1)
  const before = process.memoryUsage().rss
  const replicator = yield* Effect.provide(Replicator.make(file, { interval: "20 millis", batchBytes: BATCH }), [
    counted(projects, book),
    layer
  ])
  grow(file, bytes)
  yield* Effect.sleep("1 second")
  const { size } = fs.statSync(file)
  assert.equal((yield* replicator.behind).bytes, size)
  isAway = false
  let most = 0
  const sampled = Effect.sync(() => (most = Math.max(most, process.memoryUsage().rss)))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(sampled, Effect.sleep(50))))
  const began = performance.now()
  assert.equal((yield* replicator.drain("10 minutes")).bytes, 0)
  const seconds = (performance.now() - began) / 1000
  assert.equal(received(), size, "other bytes were sent")
  assert.ok(book.held.most > 0 && book.held.most <= 2 * BATCH, `${book.held.most} bytes were held`)
  const mib = (count: number) => `${(count / (1 << 20)).toFixed(1)} MiB`
  const held = `${(book.held.most / 1024).toFixed(0)} KiB held at most`
  const summary = `${mib(size)} behind, ${held}, growth ${mib(most - before)}, caught up in ${seconds.toFixed(1)} s`
  return { violations: [], summary } satisfies Outcome
}, Effect.scoped)
