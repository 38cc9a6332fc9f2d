/**
 * Remote: what `reprise push`, `hydrate` and `remote status` do. It is loaded by these commands alone: no other talks to
 * anybody.
 */
import * as Hydration from "@reprise/ingress/Hydration"
import * as Ingress from "@reprise/ingress/Ingress"
import * as IngressClient from "@reprise/ingress/IngressClient"
import type * as Merge from "@reprise/ingress/Merge"
import * as RemoteLog from "@reprise/ingress/RemoteLog"
import * as ReplicaCursor from "@reprise/ingress/ReplicaCursor"
import * as ReplicaStatus from "@reprise/ingress/ReplicaStatus"
import * as Replicator from "@reprise/ingress/Replicator"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionAgents from "@reprise/storage/SessionAgents"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as Output from "./Output.ts"
import * as RemoteFlags from "./RemoteFlags.ts"

/**
 * Not all of a session is at the remote. `again`: it may be, later.
 *
 * @category errors
 * @since 0.1.0
 */
export class StillBehind extends Schema.TaggedError<StillBehind>()("StillBehind", {
  bytes: Schema.Number,
  status: Schema.String,
  why: Schema.String,
  again: Schema.Boolean
}) {
  override get message(): string {
    return `expected all of the session at the remote, found ${this.bytes} bytes behind; ${this.why}`
  }
}

/**
 * Runs with the remote that the flags name.
 *
 * @category running
 * @since 0.1.0
 */
export const within = <A, E, R>(run: Effect.Effect<A, E, R | Ingress.Ingress>, flags: RemoteFlags.RemoteFlags) =>
  Effect.flatMap(RemoteFlags.resolve(flags), (remote) =>
    Effect.provide(run, IngressClient.layerNode({ ...remote, allowPlainHttp: flags.plainHttp }))
  )

const profileOf = ({ compat }: Pick<RemoteFlags.RemoteFlags, "compat">) => (compat ? "compat" : "native")

/**
 * How a session is pushed: claimed in any case, for how long at most, or for ever.
 *
 * @category models
 * @since 0.1.0
 */
export interface PushOptions extends Pick<RemoteFlags.RemoteFlags, "compat"> {
  readonly takeOver: boolean
  readonly most: Duration.Input
  readonly follow: boolean
}

/**
 * Sends what the remote lacks of a session, and says where that is, how many lines it does not take, which agents'
 * logs have names that it does not take, and how many bytes wait for the end of their line.
 *
 * @category running
 * @since 0.1.0
 */
export const push = Effect.fn("Remote.push")(function* (file: string, options: PushOptions) {
  const { urls } = yield* Ingress.Ingress
  const { behind, drain, status } = yield* Replicator.make(file, {
    profile: profileOf(options),
    claim: options.takeOver ? "anew" : "kept"
  })
  if (options.follow) {
    // Until it stops, or is interrupted.
    yield* SubscriptionRef.changes(status).pipe(
      Stream.changesWith((a, b) => a._tag === b._tag),
      Stream.tap((now) => Output.note(ReplicaStatus.describe(now))),
      Stream.takeUntil(ReplicaStatus.isFinal),
      Stream.runDrain
    )
  }
  const left = yield* options.follow ? behind : drain(options.most)
  if (left.status._tag === "Live" || left.status._tag === "Idle") {
    return { urls, open: left.bytes, aside: left.aside, unnamed: left.unnamed }
  }
  return yield* new StillBehind({
    bytes: left.bytes,
    status: left.status._tag,
    why: ReplicaStatus.describe(left.status),
    again: !ReplicaStatus.isFinal(left.status)
  })
}, Effect.scoped)

/**
 * Brings a session here from the remote, or what of it is not here yet.
 *
 * @category running
 * @since 0.1.0
 */
export const hydrate = Effect.fn("Remote.hydrate")(function* (
  file: string,
  sessionId: string,
  options: Pick<RemoteFlags.RemoteFlags, "compat"> & { readonly prefer?: Merge.Side }
) {
  const log = yield* RemoteLog.ofIngress(sessionId, profileOf(options))
  return yield* Hydration.hydrate(file, log, {
    leaf: Recovery.leaf,
    ...(options.prefer !== undefined && { prefer: options.prefer })
  })
})

/**
 * A stream, here and there: bytes of its log, those of them that are sent, lines at the remote, and its last id.
 *
 * @category models
 * @since 0.1.0
 */
export interface StreamStatus {
  readonly stream: string
  readonly bytes: number
  readonly sent: number
  readonly lines: number | null
  readonly head: string | null
}

/**
 * How a session is, here and there: the epoch that was claimed here and the last one there, and its streams.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionStatus {
  readonly epoch: number | null
  readonly remoteEpoch: number
  readonly streams: ReadonlyArray<StreamStatus>
}

/**
 * Asks how a session is, and changes nothing.
 *
 * @category running
 * @since 0.1.0
 */
export const status = Effect.fn("Remote.status")(function* (file: string, sessionId: string) {
  const { streams } = yield* Ingress.Ingress
  const there = yield* Effect.catchTag(streams(sessionId), "NotFound", () => Effect.succeed({ epoch: 0, streams: [] }))
  const port = yield* EntryLog.EntryLog
  const main = EntryLog.at(file)
  const agents = yield* SessionAgents.list(main)
  const here = new Map([["", main]])
  for (const { agentId, log, subPath } of agents) here.set([...subPath, agentId].join("/"), log)
  const names = [...new Set([...here.keys(), ...there.streams.map(({ stream }) => stream)])]
  const all = yield* Effect.forEach(names, (stream) =>
    Effect.gen(function* () {
      const log = here.get(stream)
      const end = there.streams.find((one) => one.stream === stream)
      const size = log === undefined ? 0 : yield* Effect.orElseSucceed(sizeOf(port, log), () => 0)
      const cursor = log === undefined ? undefined : yield* ReplicaCursor.read(EntryLog.pathOf("/", log))
      const found: StreamStatus = {
        stream,
        bytes: size,
        sent: Math.min(size, cursor?.byte ?? 0),
        lines: end?.seq ?? null,
        head: end?.head ?? null
      }
      return found
    })
  )
  const cursor = yield* ReplicaCursor.read(file)
  const found: SessionStatus = { epoch: cursor?.writer?.epoch ?? null, remoteEpoch: there.epoch, streams: all }
  return found
})

const sizeOf = (port: EntryLog.EntryLog["Service"], log: EntryLog.LogId) =>
  Effect.map(port.stat(log), ({ size }) => size)
