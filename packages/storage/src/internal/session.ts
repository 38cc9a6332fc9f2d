/**
 * Session: the lanes of an open session, and how a body becomes a draft for one of them.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Identifier from "@reprise/domain/Identifier"
import * as Lane from "@reprise/domain/Lane"
import * as Boundary from "@reprise/domain/Boundary"
import type * as Line from "@reprise/domain/Line"
import type * as Message from "@reprise/domain/Message"
import * as Projection from "@reprise/domain/Projection"
import type * as Routing from "@reprise/domain/Routing"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as PubSub from "effect/PubSub"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as WebCrypto from "effect/crypto/WebCrypto"
import * as EntryLog from "../EntryLog.ts"
import * as LineReader from "../LineReader.ts"
import type * as SessionLock from "../SessionLock.ts"
import type * as SessionWriter from "../SessionWriter.ts"
import type * as Transcript from "../Transcript.ts"
import * as Chain from "./chain.ts"
import * as Content from "./content.ts"
import * as Foreign from "./foreign.ts"
import * as Placement from "./placement.ts"
import * as Stamp from "./stamp.ts"

/** An open session with what it needs. */
export interface Session extends Foreign.Watched {
  readonly writer: SessionWriter.SessionWriter["Service"]
  readonly uuid: Effect.Effect<string>
  /** What is the same on all entries. */
  readonly common: Pick<Stamp.Stamp, "sessionId" | "cwd" | "version" | "gitBranch" | "entrypoint">
  /** The claim to the session; none: it is read, and metadata may be added. */
  readonly claim: SessionLock.Claim | undefined
  /** Ends with the claim. */
  readonly claimScope: Scope.Closeable
  /** Ends with the listening to what others write. */
  readonly scope: Scope.Closeable
  readonly events: PubSub.PubSub<SessionWriter.ForeignWriter>
  /** Listens to what the writer finds in a lane. */
  readonly watch: (lane: Placement.OpenLane) => Effect.Effect<void>
  /** Time of the first entry of the turn, in milliseconds since 1970. */
  turnStart: number | undefined
  isClosed: boolean
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

/** A lane as its log holds it, and what is folded over it beside the chain; nothing when the log does not exist. */
export const readLane = <S>(
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  isSidechain: boolean,
  beside: Projection.Projection<Line.Located, S>
) => {
  const read = Effect.suspend(() => {
    const run = Projection.run(Projection.struct({ chain: Chain.projection(isSidechain), folded: beside }))
    return Effect.map(LineReader.forEach(log, run.evolve), (mark) => ({ mark, ...run.extract() }))
  })
  return laneFrom(port, log, read)
}

/** The same from what a reading of the log gives, where it gives anything. */
export const laneFrom = Effect.fnUntraced(function* <S>(
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  reading: Effect.Effect<
    { readonly mark: LineReader.Mark; readonly chain: Chain.Chain; readonly folded: S } | undefined,
    EntryLog.EntryLogError,
    EntryLog.EntryLog
  >
) {
  const stat = yield* Effect.catchIf(port.stat(log), isNotFound, () => Effect.undefined)
  if (stat === undefined) return undefined
  const read = yield* Effect.provideService(reading, EntryLog.EntryLog, port)
  if (read === undefined) return undefined
  const { chain, folded, mark } = read
  const size = Math.max(stat.size, mark.byte)
  yield* port.expect(log, size)
  return { lane: laneAt(log, chain, size, mark.byte), folded }
})

/** Asks nothing of a log. */
export const nothing: Projection.Projection<unknown, undefined> = {
  initial: () => undefined,
  evolve: () => undefined,
  extract: () => undefined
}

/** A lane whose log does not exist. */
export const openLane = (log: EntryLog.LogId, chain: Chain.Chain = Chain.make()): Placement.OpenLane => ({
  log,
  chain,
  end: 0,
  counted: 0,
  size: 0,
  mark: 0,
  found: [],
  isFresh: false
})

/** A lane whose log has so many bytes, whole lines up to the mark. */
export const laneAt = (log: EntryLog.LogId, chain: Chain.Chain, size: number, mark = size): Placement.OpenLane => ({
  ...openLane(log, chain),
  end: size,
  counted: size,
  size,
  mark
})

/** Whether it says that a log does not exist. */
export const isNotFound = (error: unknown): error is EntryLog.EntryLogError =>
  error instanceof EntryLog.EntryLogError && error.reason === "NotFound"

/** The lane of an agent, or the main one; an agent's is opened when it is first asked for, in the place where it is. */
export const laneOf = (
  self: Session,
  agentId: string | undefined,
  subPath?: ReadonlyArray<string>
): Effect.Effect<Placement.OpenLane, Placement.Unfit | EntryLog.EntryLogError> => {
  if (agentId === undefined) return Effect.succeed(self.main)
  const open = self.agents.get(agentId)
  return open === undefined ? openAgent(self, agentId, subPath) : Effect.succeed(open)
}

const openAgent = Effect.fnUntraced(function* (
  self: Session,
  agentId: string,
  subPath: ReadonlyArray<string> | undefined
): Effect.fn.Return<Placement.OpenLane, Placement.Unfit | EntryLog.EntryLogError> {
  const unfit = [agentId, ...(subPath ?? [])].find((name) => !isName(name))
  if (unfit !== undefined) return yield* Effect.fail(new Placement.Unfit("agent-id", unfit))
  const logs = yield* self.port.sidechains(self.main.log)
  const existing = logs.find((log) => log._tag === "Session" && agentOf(log.lane) === agentId)
  const log = existing ?? EntryLog.withLane(self.main.log, Lane.sidechain(agentId, subPath))
  // A path that the system refuses would be accepted here and never be written.
  if (existing === undefined) yield* Effect.catchIf(self.port.stat(log), isNotFound, () => Effect.void)
  const read = existing && (yield* readLane(self.port, log, true, nothing))
  // Another fibre may have opened it meanwhile; there is one state per lane.
  const lane = self.agents.get(agentId) ?? read?.lane ?? openLane(log)
  if (!self.agents.has(agentId)) {
    self.agents.set(agentId, lane)
    yield* self.watch(lane)
  }
  return lane
})

/** Systems take names of 255 bytes, and 12 of a log's are not the agent's. */
const isName = (name: string): boolean => Identifier.isAgentId(name) && Buffer.byteLength(name) <= 255 - 12

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

/** A draft of a body; `parent` undefined: what it hangs on by default when its turn comes. */
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
      parentUuid: own.parent === undefined ? Chain.parentOf(chain, made) : own.parent,
      sourceToolAssistantUUID: Chain.callerOf(chain, made),
      cwd: own.cwd ?? self.common.cwd,
      gitBranch: own.gitBranch ?? self.common.gitBranch
    })
  }

/** Why a session takes nothing, or no messages. */
const refusal = (self: Session, isMetadata: boolean): Placement.Unfit | SessionLock.SessionLocked | undefined => {
  if (self.isClosed) return new Placement.Unfit("closed", self.sessionId)
  if (self.claim === undefined) return isMetadata ? undefined : new Placement.Unfit("unlocked", self.sessionId)
  return self.claim.lost()
}

type SubmitFailure = Routing.Refused | Placement.Unfit | SessionLock.SessionLocked | EntryLog.EntryLogError

/** How a step enters the queue: `submit` of the writer, or `submitDurable`. */
export type Enter<E> = <A>(step: (offer: SessionWriter.Offer) => A) => Effect.Effect<A, E>

/** Runs a step of placements in a lane when there is room in the queue, after a look at what others wrote there. */
const submit = <A, E>(
  self: Session,
  enter: Enter<E>,
  lane: Placement.OpenLane,
  step: (
    place: (draft: Placement.Draft) => Result.Result<Placement.Placed, Routing.Refused | Placement.Unfit>
  ) => Result.Result<A, Routing.Refused | Placement.Unfit>,
  isMetadata = false
): Effect.Effect<A, SubmitFailure | E> =>
  Effect.suspend((): Effect.Effect<A, SubmitFailure | E> => {
    const refused = refusal(self, isMetadata)
    if (refused !== undefined) return Effect.fail(refused)
    // It may have waited for room, and the session be closed or lost by now.
    const now = (offer: SessionWriter.Offer): Result.Result<A, SubmitFailure> => {
      const refused = refusal(self, isMetadata)
      return refused === undefined ? step((draft) => Placement.place(self, offer, draft)) : Result.fail(refused)
    }
    const submitted = Effect.flatMap(enter(now), Effect.fromResult)
    return lane.isFresh && lane.found.length === 0 ? submitted : Effect.andThen(Foreign.look(self, lane), submitted)
  })

/** Accepts the metadata that the tail of the log does not show. */
export const restate = (
  self: Session,
  enter: Enter<SessionWriter.SessionWriterClosed> = self.writer.submit
): Effect.Effect<void, SessionWriter.SessionWriterClosed> =>
  enter((offer) => {
    if (!self.isClosed) Placement.restate(self, offer)
  })

/** Places one draft; an id that is there already must come with the same content. */
export const accept = <E>(
  self: Session,
  enter: Enter<E>,
  lane: Placement.OpenLane,
  draft: Placement.Draft,
  isMetadata = false
): Effect.Effect<Placement.Placed, SubmitFailure | E> => {
  const submitted = submit(self, enter, lane, (place) => place(draft), isMetadata)
  return Effect.filterOrElse(
    submitted,
    (placed) => placed !== "AlreadyThere" || !self.isMaterialised,
    (placed) => {
      const entry = Placement.entryOf(self, draft)
      if (!Entry.isMessage(entry)) return Effect.succeed(placed)
      return Effect.flatMap(holds(self, self.main.chain, entry.uuid), (isThere) =>
        isThere ? Effect.as(mustEqual(self, entry), placed) : submitted
      )
    }
  )
}

/** Whether a message is there, by its id; one of which bytes alone have told is looked up, and forgotten if it is not. */
const holds = Effect.fnUntraced(function* (self: Session, { seen }: Chain.Chain, uuid: string) {
  if (seen.get(uuid) !== Chain.PASSED) return seen.has(uuid)
  const isThere = (yield* digestsOf(self)).has(uuid)
  if (isThere) seen.set(uuid, -1)
  else seen.delete(uuid)
  return isThere
})

/** Fails for the first id that no accepted entry of the chains has. */
export const mustHold = Effect.fnUntraced(function* (
  self: Session,
  chains: ReadonlyArray<Chain.Chain>,
  ids: ReadonlyArray<string | null>
) {
  for (const id of ids) if (id !== null) yield* holds(self, self.main.chain, id)
  yield* mustKnow(chains, ids)
})

/** Fails when the entry of this id says something else. */
const mustEqual = Effect.fnUntraced(function* (self: Session, entry: Entry.Message) {
  const known = (yield* digestsOf(self)).get(entry.uuid)
  if (known !== undefined && known !== Content.digest(entry)) {
    return yield* Effect.fail(new Placement.Unfit("other-content", entry.uuid))
  }
})

/** What each message of the main lane says. The first such question reads the log. */
const digestsOf = (self: Session) =>
  self.exclusively(
    Effect.suspend(() => {
      if (self.digests !== undefined) return Effect.succeed(self.digests)
      const digests = (self.digests = new Map<string, string>())
      const learn = ({ entry }: Line.Located) => {
        if (!Entry.isMessage(entry) || entry.isSidechain === true || digests.has(entry.uuid)) return
        digests.set(entry.uuid, Content.digest(entry))
      }
      // What cannot be written now is accepted all the same, and is not compared.
      return Effect.ignore(self.writer.flush([self.main.log])).pipe(
        Effect.andThen(LineReader.forEach(self.main.log, learn)),
        Effect.provideService(EntryLog.EntryLog, self.port),
        Effect.catchIf(isNotFound, () => Effect.void),
        Effect.as(digests)
      )
    })
  )

/** Stamps a body and accepts it in its lane. */
export const append = Effect.fnUntraced(function* <E>(
  self: Session,
  enter: Enter<E>,
  body: () => Message.MessageBody,
  options: Transcript.AppendOptions
) {
  const lane = yield* laneOf(self, options.agentId, options.subPath)
  const { chain } = lane
  // An agent may continue a chain of the main lane (FORMAT §7).
  if (options.parent !== undefined) yield* mustHold(self, [chain, self.main.chain], [options.parent])
  const { iso, millis } = yield* now
  const uuid = options.uuid ?? (yield* self.uuid)
  const placed = yield* accept(self, enter, lane, draft(self, chain, body, { ...options, uuid, timestamp: iso }))
  self.turnStart ??= millis
  return { placed, uuid, log: lane.log }
})

/** Boundary and summary in one step: a boundary with nothing behind it would be none (RECOVERY §5). */
export const compact = Effect.fnUntraced(function* (
  self: Session,
  summary: string,
  kept: ReadonlyArray<string>,
  options: { readonly trigger?: string; readonly preTokens?: number }
) {
  const { chain } = self.main
  yield* mustHold(self, [chain], kept)
  const { iso: timestamp } = yield* now
  const ids = { boundary: yield* self.uuid, summary: yield* self.uuid }
  const boundary = () =>
    Boundary.compact({
      trigger: options.trigger ?? "manual",
      preTokens: options.preTokens ?? 0,
      logicalParentUuid: chain.tail,
      preserved: { anchor: ids.summary, uuids: [...new Set(kept)] }
    })
  const first = draft(self, chain, boundary, { uuid: ids.boundary, timestamp, parent: null })
  const second = draft(self, chain, () => Boundary.compactSummary(summary), { uuid: ids.summary, timestamp })
  yield* submit(self, self.writer.submit, self.main, (place) =>
    Placement.encode(self, second).pipe(
      Result.flatMap(() => place(first)),
      Result.flatMap(() => place(second))
    )
  )
  return ids
})
