/** A replicator at work while what it talks to dies, and what the remote holds in the end. */
import type * as Ingress from "@reprise/ingress/Ingress"
import * as IngressClient from "@reprise/ingress/IngressClient"
import * as Replicator from "@reprise/ingress/Replicator"
import * as StreamLine from "@reprise/ingress/StreamLine"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import { Effect, Redacted, Schedule, Stream } from "effect"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as Seeded from "../crash/seeded.ts"
import { directory } from "../ingress/temporary.ts"
import * as Databases from "./databases.ts"
import * as Growth from "./growth.ts"
import { type Outcome } from "./round.ts"
import * as Servers from "./servers.ts"
import * as Workload from "./workload.ts"

/** The bytes that a remote holds of a stream. */
const bytesAt = (ingress: Ingress.Ingress["Service"], stream: string): Effect.Effect<Buffer, unknown> =>
  Stream.runCollect(ingress.lines({ session: Growth.sessionId, sub: stream })).pipe(
    Effect.map((lines) => Buffer.concat(lines.flatMap((line) => [StreamLine.bytesOf(line), Buffer.from("\n")]))),
    Effect.catchTag("NotFound", () => Effect.succeed(Buffer.alloc(0)))
  )

/** Waits until the remote holds what the logs hold, byte for byte. */
const equal = ({ logs }: Growth.Session, ingress: Ingress.Ingress["Service"]) =>
  Effect.forEach(logs, ([stream, file]) =>
    Effect.flatMap(bytesAt(ingress, stream), (held) => {
      const own = fs.readFileSync(file)
      const where = `stream "${stream}": ${held.length} bytes at the remote, ${own.length} in the log`
      return held.equals(own) ? Effect.void : Effect.fail(new assert.AssertionError({ message: where }))
    })
  ).pipe(Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 200 }))

/**
 * An asynchronous standby takes over without the last lines that were answered for: the replicator finds that the remote
 * went back, and sends them again.
 */
export const healed = Effect.fnUntraced(function* (seed: number) {
  const session = Growth.make(yield* directory, Seeded.make(seed))
  const first = yield* Databases.primary()
  const second = yield* Databases.standbyOf(first)
  const { pointTo, url } = yield* Databases.named(first)
  const { addresses } = yield* Servers.make([{ store: url }], { seed, percent: 0 })
  const ingress = yield* Workload.client(addresses, 10_000)
  const remote = IngressClient.layerNode({ urls: addresses, token: Redacted.make("tenant~admin") })
  const replicator = yield* Effect.provide(Replicator.make(session.main, { interval: "20 millis" }), [
    FileEntryLog.layerWith({ projects: session.projects }),
    remote
  ])
  yield* Effect.promise(() => session.grow(60))
  assert.equal((yield* replicator.drain("30 seconds")).bytes, 0)
  yield* Effect.sleep("1 second")
  yield* Effect.promise(() => second.stop("immediate"))
  yield* Effect.promise(() => session.grow(60))
  assert.equal((yield* replicator.drain("30 seconds")).bytes, 0, "all was answered for")
  const before = yield* bytesAt(ingress, "")

  yield* Effect.promise(() => first.stop("immediate"))
  yield* Effect.promise(second.start)
  second.promote()
  pointTo(second)
  const after = yield* Effect.retry(bytesAt(ingress, ""), { schedule: Schedule.spaced("100 millis"), times: 200 })
  assert.ok(after.length < before.length, "nothing was lost, so nothing is shown")
  assert.ok(before.subarray(0, after.length).equals(after), "what is left is no beginning")
  yield* replicator.drain("30 seconds")
  yield* equal(session, ingress)
  return {
    violations: [],
    summary: `${before.length - after.length} bytes of ${before.length} were lost, and sent again`
  } satisfies Outcome
}, Effect.scoped)
