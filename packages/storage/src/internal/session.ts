/**
 * Session: the lanes of an open session, and how a body becomes a draft for one of them.
 */
import type * as Entry from "@reprise/domain/Entry"
import * as Identifier from "@reprise/domain/Identifier"
import * as Lane from "@reprise/domain/Lane"
import * as Boundary from "@reprise/domain/Boundary"
import type * as Message from "@reprise/domain/Message"
import type * as Routing from "@reprise/domain/Routing"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as EntryLog from "../EntryLog.ts"
import * as LineReader from "../LineReader.ts"
import type * as SessionWriter from "../SessionWriter.ts"
import * as Chain from "./chain.ts"
import * as Placement from "./placement.ts"
import * as Stamp from "./stamp.ts"

/** An open session with what it needs. */
export interface Session extends Placement.Session {
  readonly port: EntryLog.EntryLog["Service"]
  readonly writer: SessionWriter.SessionWriter["Service"]
  readonly uuid: Effect.Effect<string>
  /** What is the same on all entries. */
  readonly common: Pick<Stamp.Stamp, "sessionId" | "cwd" | "version" | "gitBranch" | "entrypoint">
  /** Time of the first entry of the turn, in milliseconds since 1970. */
  turnStart: number | undefined
}

/** How a body is appended. */
export interface AppendOptions {
  readonly agentId?: string
  readonly subPath?: ReadonlyArray<string>
  readonly parent?: string | null
  readonly uuid?: string
  readonly cwd?: string
  readonly gitBranch?: string
}

/** The program's `SecureRandom`, or one over the system's where there is none. */
export const secureRandom = Effect.gen(function* () {
  const given = yield* Effect.serviceOption(SecureRandom.SecureRandom)
  const crypto = yield* WebCrypto.WebCrypto
  return Option.getOrElse(given, () => SecureRandom.make(pooled((bytes) => void crypto.getRandomValues(bytes))))
})

/** Draws many bytes at once: a draw costs the same for 16 bytes and for 4,096, and more than all else of an append. */
const pooled = (fill: (bytes: Uint8Array<ArrayBuffer>) => void): ((size: number) => Uint8Array) => {
  const pool = new Uint8Array(4096)
  let used = pool.length
  return (size) => {
    if (used + size > pool.length) {
      fill(pool)
      used = 0
    }
    const bytes = pool.slice(used, (used += size))
    pool.fill(0, used - size, used)
    return bytes
  }
}

/** The chain of a log; nothing when the log does not exist. */
export const readChain = (
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  isSidechain: boolean
): Effect.Effect<Chain.Chain | undefined, EntryLog.EntryLogError> =>
  LineReader.fold(log, Chain.projection(isSidechain)).pipe(
    Effect.provideService(EntryLog.EntryLog, port),
    Effect.catchIf(isNotFound, () => Effect.undefined)
  )

/** Whether it says that a log does not exist. */
export const isNotFound = (error: unknown): error is EntryLog.EntryLogError =>
  error instanceof EntryLog.EntryLogError && error.reason === "NotFound"

/** The lane of an agent, or the main one; an agent's is opened when it is first asked for, in the place where it is. */
export const laneOf = Effect.fnUntraced(function* (
  self: Session,
  agentId: string | undefined,
  subPath?: ReadonlyArray<string>
): Effect.fn.Return<Placement.OpenLane, Placement.Unfit | EntryLog.EntryLogError> {
  if (agentId === undefined) return self.main
  const open = self.agents.get(agentId)
  if (open !== undefined) return open
  const unfit = [agentId, ...(subPath ?? [])].find((name) => !Identifier.isAgentId(name))
  if (unfit !== undefined) return yield* Effect.fail(new Placement.Unfit("agent-id", unfit))
  const logs = yield* self.port.sidechains(self.main.log)
  const existing = logs.find((log) => log._tag === "Session" && agentOf(log.lane) === agentId)
  const log = existing ?? EntryLog.withLane(self.main.log, Lane.sidechain(agentId, subPath))
  const chain = (existing && (yield* readChain(self.port, log, true))) ?? Chain.make()
  // Another fibre may have opened it meanwhile; there is one state per lane.
  const lane = self.agents.get(agentId) ?? { log, chain }
  self.agents.set(agentId, lane)
  return lane
})

const agentOf = (lane: Lane.Lane): string | undefined => (lane._tag === "Sidechain" ? lane.agentId : undefined)

/** Fails for the first id that no accepted entry of the chains has. */
export const mustKnow = (
  chains: ReadonlyArray<Chain.Chain>,
  ids: ReadonlyArray<string | null>
): Effect.Effect<void, Placement.Unfit> => {
  const unknown = ids.find((id) => id !== null && !chains.some(({ seen }) => seen.has(id)))
  return typeof unknown === "string" ? Effect.fail(new Placement.Unfit("unknown-entry", unknown)) : Effect.void
}

/** The time now: in milliseconds since 1970, and as it is written. */
export const now = Effect.map(Clock.currentTimeMillis, (millis) => ({
  millis,
  iso: DateTime.formatIso(DateTime.makeUnsafe(millis))
}))

/** A draft of a body; `parent` undefined: the tail of the lane when its turn comes. */
const draft =
  (
    self: Session,
    chain: Chain.Chain,
    body: () => Message.MessageBody,
    own: Pick<Stamp.Stamp, "uuid" | "timestamp"> &
      Partial<Pick<Stamp.Stamp, "agentId" | "cwd" | "gitBranch">> & { readonly parent?: string | null | undefined }
  ): Placement.Draft =>
  (): Entry.Message => {
    const made = body()
    return Stamp.message(made, {
      ...self.common,
      uuid: own.uuid,
      timestamp: own.timestamp,
      agentId: own.agentId,
      parentUuid: own.parent === undefined ? chain.tail : own.parent,
      sourceToolAssistantUUID: Chain.callerOf(chain, made),
      cwd: own.cwd ?? self.common.cwd,
      gitBranch: own.gitBranch ?? self.common.gitBranch
    })
  }

/** Runs a step of placements when there is room in the queue. */
export const submit = <A>(
  self: Session,
  step: (
    place: (draft: Placement.Draft) => Result.Result<Placement.Placed, Routing.Refused | Placement.Unfit>
  ) => Result.Result<A, Routing.Refused | Placement.Unfit>
): Effect.Effect<A, Routing.Refused | Placement.Unfit | SessionWriter.SessionWriterClosed> =>
  Effect.flatMap(
    self.writer.submit((offer) => step((draft) => Placement.place(self, offer, draft))),
    Effect.fromResult
  )

/** Stamps a body and accepts it in its lane. */
export const append = Effect.fnUntraced(function* (
  self: Session,
  body: () => Message.MessageBody,
  options: AppendOptions
) {
  const { chain } = yield* laneOf(self, options.agentId, options.subPath)
  // An agent may continue a chain of the main lane (FORMAT §7).
  if (options.parent !== undefined) yield* mustKnow([chain, self.main.chain], [options.parent])
  const { iso, millis } = yield* now
  const uuid = options.uuid ?? (yield* self.uuid)
  const made = draft(self, chain, body, { ...options, uuid, timestamp: iso })
  const placed = yield* submit(self, (place) => place(made))
  self.turnStart ??= millis
  return { placed, uuid }
})

/** Boundary and summary in one step: a boundary with nothing behind it would be none (RECOVERY §5). */
export const compact = Effect.fnUntraced(function* (
  self: Session,
  summary: string,
  kept: ReadonlyArray<string>,
  options: { readonly trigger?: string; readonly preTokens?: number }
) {
  const { chain } = self.main
  yield* mustKnow([chain], kept)
  const { iso: timestamp } = yield* now
  const ids = { boundary: yield* self.uuid, summary: yield* self.uuid }
  const boundary = () =>
    Boundary.compact({
      trigger: options.trigger ?? "manual",
      preTokens: options.preTokens ?? 0,
      logicalParentUuid: chain.tail,
      preserved: { anchor: ids.summary, uuids: kept }
    })
  const first = draft(self, chain, boundary, { uuid: ids.boundary, timestamp, parent: null })
  const second = draft(self, chain, () => Boundary.compactSummary(summary), { uuid: ids.summary, timestamp })
  yield* submit(self, (place) => Result.flatMap(place(first), () => place(second)))
  return ids
})
