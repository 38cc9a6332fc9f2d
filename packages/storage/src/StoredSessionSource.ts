/**
 * StoredSessionSource: the port of resuming over the logs of this package.
 *
 *   latest ─ SessionCatalog ─┐
 *   id ───── all projects ───┼─▶ place ─ History.read ─▶ answer
 *   path ─── SessionSummary ─┘     └─ locks.claim ─▶ claimed ─ Transcript.adopt ─▶ transcript
 */
import * as Identifier from "@reprise/domain/Identifier"
import * as Projection from "@reprise/domain/Projection"
import * as SessionSource from "@reprise/domain/SessionSource"
import type * as Suffix from "@reprise/domain/Suffix"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import * as History from "./History.ts"
import * as Near from "./internal/near.ts"
import * as Session from "./internal/session.ts"
import * as SessionCatalog from "./SessionCatalog.ts"
import * as SessionLock from "./SessionLock.ts"
import * as SessionSummary from "./SessionSummary.ts"
import * as SessionWriter from "./SessionWriter.ts"
import * as Transcript from "./Transcript.ts"

/**
 * What is stamped on the entries of sessions that are taken over: the version of the format family that they claim, how
 * the program is used, and the directory and branch of sessions that name none.
 *
 * @category models
 * @since 0.1.0
 */
export type Options = Pick<Transcript.Options, "version" | "entrypoint" | "gitBranch"> & { readonly cwd?: string }

/**
 * The port over logs.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (
  options: Options
): Layer.Layer<SessionSource.SessionSource, never, EntryLog.EntryLog | SessionWriter.SessionWriter> =>
  Layer.effect(
    SessionSource.SessionSource,
    Effect.gen(function* () {
      const port = yield* EntryLog.EntryLog
      // These two and no more: the scope of an open session is that of whoever adopts it.
      const services = Context.make(EntryLog.EntryLog, port).pipe(
        Context.add(SessionWriter.SessionWriter, yield* SessionWriter.SessionWriter)
      )
      const locks = port.locks ?? (yield* SessionLock.SessionLock)
      const { uuidV4 } = yield* Session.secureRandom
      return SessionSource.SessionSource.of({
        resolve: (source) => Effect.provide(resolve(source), services),
        read: (place, doors, history = "full") => Effect.provide(read(place, doors, history), services),
        claim: (place) => claim(locks, place),
        adopt: (claimed, session) => Effect.provide(adopt(options, claimed, session), services),
        newSessionId: uuidV4()
      })
    })
  )

/**
 * The port over logs in memory, with the log and the writer of its own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<SessionSource.SessionSource | EntryLog.EntryLog | SessionWriter.SessionWriter> =
  Layer.suspend(() =>
    layerWith({ version: "2.1.0" }).pipe(
      Layer.provideMerge(SessionWriter.layer),
      Layer.provideMerge(Layer.fresh(EntryLog.layerMemory)),
      Layer.provideMerge(SessionLock.layerMemory)
    )
  )

/**
 * The transcript of a session that this port has taken over, with all its doors; nothing for one of another port.
 *
 * @category getters
 * @since 0.1.0
 */
export const transcriptOf = (adopted: SessionSource.Adopted): Transcript.Transcript | undefined =>
  transcripts.get(adopted)

const transcripts = new WeakMap<SessionSource.Adopted, Transcript.Transcript>()

const failed =
  (operation: SessionSource.SourceFailed["operation"], at: string) =>
  (cause: Error): SessionSource.SourceFailed =>
    new SessionSource.SourceFailed({ operation, path: at, found: cause.message, cause })

const placeOf = (at: string): SessionSource.Place => ({
  path: at,
  sessionId: Identifier.isSessionId(path.parse(at).name) ? path.parse(at).name : undefined
})

/**
 * Finds the log of a session; needs no writer.
 *
 * @category reading
 * @since 0.1.0
 */
export const resolve = (
  source: SessionSource.Source
): Effect.Effect<SessionSource.Place, SessionSource.Unresolved, EntryLog.EntryLog> =>
  SessionSource.match(source, {
    Latest: ({ directory }) => latest(directory),
    Id: ({ sessionId }) => named(sessionId),
    Path: ({ path }) => file(path),
    Loaded: ({ entries, path }) =>
      entries === undefined ? file(path) : Effect.succeed(placeOf(EntryLog.keyOf(EntryLog.at(path))))
  })

const latest = Effect.fnUntraced(function* (directory: string) {
  const { passed, sessions } = yield* SessionCatalog.list({ directory, limit: 1, archived: false }).pipe(
    Effect.mapError(failed("resolve", directory))
  )
  const [newest] = sessions
  if (newest !== undefined) return placeOf(newest.path)
  yield* mustBeRead(passed)
  const expected = "a session of the directory"
  return yield* new SessionSource.SessionNotFound({ expected, sought: directory, near: [] })
})

/** What could not be looked at may be what is sought: then it is not said that there is none. */
const mustBeRead = (passed: ReadonlyArray<SessionCatalog.Passed>): Effect.Effect<void, SessionSource.SourceFailed> => {
  const unread = passed.find(({ error }) => error !== undefined)
  return unread?.error === undefined ? Effect.void : Effect.fail(failed("resolve", unread.path)(unread.error))
}

/** So much of an id has to be given for it to stand for the whole. */
const LEAST = 4

const named = Effect.fnUntraced(function* (sessionId: string) {
  const { listed, passed } = yield* SessionCatalog.logs({}).pipe(Effect.mapError(failed("resolve", sessionId)))
  const sought = sessionId.toLowerCase()
  const places = listed.map((one) => placeOf(one.path))
  const beginnings =
    sought.length < LEAST ? [] : places.filter((place) => place.sessionId?.toLowerCase().startsWith(sought) === true)
  const spelled = beginnings.filter((place) => place.sessionId === sessionId)
  const exact = spelled.length > 0 ? spelled : beginnings.filter((place) => place.sessionId?.toLowerCase() === sought)
  const found = exact.length > 0 ? exact : beginnings
  const [only] = found
  if (only === undefined) {
    yield* mustBeRead(passed)
    const near = Near.of(
      sought,
      places.flatMap((place) => place.sessionId ?? [])
    )
    return yield* new SessionSource.SessionNotFound({ expected: "a session", sought: sessionId, near })
  }
  if (found.length === 1) return only
  return yield* new SessionSource.AmbiguousSession({ sought: sessionId, paths: found.map((place) => place.path) })
})

const file = Effect.fnUntraced(function* (given: string) {
  const log = EntryLog.at(given)
  const at = EntryLog.keyOf(log)
  const isNot = (found: string) => new SessionSource.NotATranscript({ path: at, found })
  const ofAgent = "an agent's own log; name the log of its session"
  if (log._tag === "Session" && log.lane._tag === "Sidechain") return yield* isNot(ofAgent)
  const summary = yield* Effect.result(SessionSummary.read(log))
  if (Result.isFailure(summary)) {
    const { failure } = summary
    if (codeOf(failure) === "EISDIR") return yield* isNot("a directory; name the .jsonl files in it")
    if (!Session.isNotFound(failure)) return yield* failed("resolve", at)(failure)
    return yield* new SessionSource.SessionNotFound({
      expected: "the transcript",
      sought: at,
      near: yield* siblings(at)
    })
  }
  const { isEmpty, origin, size } = summary.success
  if (isEmpty) return yield* isNot(size === 0 ? "an empty file" : "no entry of a transcript in it")
  if (origin === "sidechain") return yield* isNot(ofAgent)
  return placeOf(at)
})

const codeOf = ({ cause }: EntryLog.EntryLogError): unknown => (cause as { readonly code?: unknown } | undefined)?.code

/** Logs of the same folder that are named much like the one that is not there. */
const siblings = Effect.fnUntraced(function* (at: string) {
  const port = yield* EntryLog.EntryLog
  const folder = yield* Effect.result(port.listing(path.dirname(at)))
  if (Result.isFailure(folder)) return []
  const { logs, passed } = folder.success
  const names = [...logs, ...passed].map((one) => path.basename(one.path))
  return Near.of(path.basename(at), names).map((name) => path.join(path.dirname(at), name))
})

const read = Effect.fnUntraced(function* <S, B>(
  place: SessionSource.Place,
  doors: Suffix.Doors<S, B>,
  history: NonNullable<History.Options["history"]>
) {
  const { path: at } = place
  const port = yield* EntryLog.EntryLog
  const log = EntryLog.at(at)
  // The size from before: what comes while it is read counts as later.
  const stat = yield* Effect.mapError(port.stat(log), failed("read", at))
  const { answer } = yield* History.read(log, remembering(doors, stat), { history }).pipe(
    Effect.mapError(failed("read", at)),
    // What no program can hold, such as a line longer than the longest string, is no reason to die.
    Effect.catchDefect((cause) =>
      Effect.fail(new SessionSource.SourceFailed({ operation: "read", path: at, found: String(cause), cause }))
    )
  )
  const { read, ...told } = answer
  return { ...told, size: stat.size, ...(read !== undefined && { reading: new Remembered(place, read) }) }
})

/** What was read for a session that may be opened. */
class Remembered implements SessionSource.Reading {
  readonly place: SessionSource.Place
  readonly read: Transcript.Read
  constructor(place: SessionSource.Place, read: Transcript.Read) {
    this.place = place
    this.read = read
  }
}

/** The doors, of which that to the whole log also takes note of what opening the session needs. */
const remembering = <S, B>(
  { beside, conversation, full }: Suffix.Doors<S, B>,
  stat: EntryLog.Stat
): Suffix.Doors<{ readonly answer: S; readonly read?: Transcript.Read }, B> => ({
  full: Projection.struct({ answer: full, read: Transcript.reading(stat) }),
  conversation: Projection.map(conversation, ({ answer, verdict }) => ({
    verdict,
    answer: (beside: B, history: "suffix" | "metadata") => ({ answer: answer(beside, history) })
  })),
  beside
})

/** A claim with the scope that it ends with, until a session takes both over. */
class Held implements SessionSource.Claimed {
  readonly place: SessionSource.Place
  readonly scope: Scope.Closeable
  claim: SessionLock.Claim | undefined
  isTaken = false
  constructor(place: SessionSource.Place, scope: Scope.Closeable) {
    this.place = place
    this.scope = scope
  }
}

const claim = Effect.fnUntraced(function* (locks: SessionLock.Locks, place: SessionSource.Place) {
  const held = yield* Effect.acquireRelease(
    Effect.map(Scope.make(), (scope) => new Held(place, scope)),
    ({ isTaken, scope }) => (isTaken ? Effect.void : Scope.close(scope, Exit.void))
  )
  held.claim = yield* Scope.provide(locks.claim(EntryLog.at(place.path)), held.scope).pipe(
    Effect.catchTag("EntryLogError", (error) => Effect.fail(failed("claim", place.path)(error)))
  )
  return held
})

const isOf = (reading: SessionSource.Reading, at: string): reading is Remembered =>
  reading instanceof Remembered && reading.place.path === at

const adopt = Effect.fnUntraced(function* (
  { cwd = ".", ...stamp }: Options,
  claimed: SessionSource.Claimed,
  session: SessionSource.Adopting
) {
  const { path: at } = claimed.place
  if (!(claimed instanceof Held) || claimed.claim === undefined || claimed.isTaken) {
    const found = "a claim that another port made, or that a session has taken; claim the log again"
    return yield* new SessionSource.SourceFailed({ operation: "adopt", path: at, found })
  }
  const { gitBranch, known, leaf, loadedSize, metadata, sessionId } = session
  const transcript = yield* Transcript.adopt({
    ...stamp,
    ...(gitBranch === undefined ? {} : { gitBranch }),
    cwd: session.cwd ?? path.resolve(cwd),
    log: EntryLog.at(at),
    held: { claim: claimed.claim, scope: claimed.scope },
    sessionId,
    metadata,
    loadedSize,
    leaf,
    ...(known !== undefined && isOf(known.reading, at) && { known: { read: known.reading.read, leaf: known.leaf } })
  }).pipe(
    Effect.mapError((error) => (error instanceof SessionSource.SessionLocked ? error : failed("adopt", at)(error)))
  )
  claimed.isTaken = true
  transcripts.set(transcript, transcript)
  return transcript
})
