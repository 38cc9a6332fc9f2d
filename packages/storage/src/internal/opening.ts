/**
 * Opening: from options to an open session.
 *
 *   id ─▶ where its log is ─▶ claim ─▶ read: ids, last message, metadata ─▶ listen to what others write
 */
import * as Entry from "@reprise/domain/Entry"
import * as Identifier from "@reprise/domain/Identifier"
import * as Line from "@reprise/domain/Line"
import type * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as EntryLog from "../EntryLog.ts"
import * as MetadataTail from "../MetadataTail.ts"
import * as ProjectPath from "../ProjectPath.ts"
import * as Redactor from "../Redactor.ts"
import * as SessionLock from "../SessionLock.ts"
import * as SessionWriter from "../SessionWriter.ts"
import type * as Transcript from "../Transcript.ts"
import * as Archived from "./archived.ts"
import * as Chain from "./chain.ts"
import * as Directories from "./directories.ts"
import * as Folders from "./folders.ts"
import * as Foreign from "./foreign.ts"
import * as Placement from "./placement.ts"
import * as Session from "./session.ts"
import * as Stamp from "./stamp.ts"
import * as Unnamed from "./unnamed.ts"

type Adopted = Pick<Transcript.AdoptOptions, "metadata" | "loadedSize" | "held" | "known">

/** What a log held, as it was when reading began. */
export interface Read {
  readonly stat: EntryLog.Stat
  readonly chain: Chain.Chain
  readonly tail: MetadataTail.MetadataTail
  readonly cwd: string | undefined
  /** A session changes what it knows: another one has to read the log again. */
  isTaken: boolean
}

/** The projection to what a log holds. */
export const reading = (stat: EntryLog.Stat): Projection.Projection<Line.Located, Read> =>
  Projection.map(
    Projection.struct({ chain: Chain.projection(false), tail: MetadataTail.projection, cwd }),
    (read): Read => ({ ...read, stat, isTaken: false })
  )

/**
 * Opens a session; with `adopted` its log must exist. `Closing.close` ends it. Only what is within `restore` can be
 * interrupted: a session that is claimed and handed to nobody would stay claimed as long as the program runs.
 */
export const open = Effect.fnUntraced(function* (
  options: Transcript.Options,
  restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
  adopted?: Adopted
) {
  const { uuidV4 } = yield* Session.secureRandom
  const sessionId = options.sessionId ?? (yield* uuidV4())
  if (!Identifier.isSessionId(sessionId)) return yield* Effect.fail(new Placement.Unfit("session-id", sessionId))
  if (!Stamp.isVersion(options.version)) return yield* Effect.fail(new Placement.Unfit("version", options.version))
  const port = yield* EntryLog.EntryLog
  const log = options.log ?? (yield* restore(locate(port, options, sessionId)))
  const scope = yield* Scope.make()
  const held = options.lock === false ? undefined : adopted?.held
  const claimScope = held?.scope ?? (yield* Scope.make())
  const taken = Effect.gen(function* () {
    yield* Unnamed.mustBeTranscript(port, log)
    const locks = port.locks ?? (yield* SessionLock.SessionLock)
    const isClaimed = options.lock === false || held !== undefined
    const claim = isClaimed ? held?.claim : yield* Scope.provide(locks.claim(log), claimScope)
    return { claim, ...(yield* read(port, log, options, adopted, sessionId)) }
  })
  const { cwd, entrypoint, gitBranch, version } = options
  const common = { sessionId, cwd, version, entrypoint, gitBranch }
  return yield* restore(taken).pipe(
    Effect.flatMap((known) => start({ ...known, port, sessionId, common, uuid: uuidV4(), claimScope, scope })),
    Effect.onError(() => Effect.andThen(Scope.close(scope, Exit.void), Scope.close(claimScope, Exit.void)))
  )
})

/** What the log holds, with the tail of the chain where the caller, or the log, says. */
const read = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  options: Transcript.Options,
  adopted: Adopted | undefined,
  sessionId: string
) {
  const existing = (yield* unchanged(port, log, adopted)) ?? (yield* readNow(port, log, options))
  if (existing !== undefined && options.log === undefined) yield* mustBeFrom(options.cwd, existing.folded.cwd)
  const main = existing?.lane ?? Session.openLane(log)
  const leaf = existing?.folded.leaf
  yield* place(main.chain, options, leaf)
  const tail = existing?.folded.tail ?? MetadataTail.make()
  if (adopted !== undefined) takeOver(tail, adopted, sessionId)
  const hasMoved = options.parent !== undefined || leaf !== undefined
  return { main, tail, isMaterialised: existing !== undefined, hasMoved }
})

/** What is read now: of a log whose end tells where its conversation goes on, the rest by its bytes. */
const readNow = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  { leaf, parent }: Transcript.Options
) {
  const beside = { tail: MetadataTail.projection, cwd }
  const ofEnd = leaf && parent === undefined ? yield* Archived.read(port, log, leaf, beside) : undefined
  const all = Projection.struct({ ...beside, leaf: leaf?.full ?? Session.nothing })
  return ofEnd ?? (yield* Session.readLane(port, log, false, all))
})

/** What was read of a log that is as it was then, and ends with a whole line; a log that is taken over must exist. */
const unchanged = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  adopted: Adopted | undefined
) {
  if (adopted === undefined) return undefined
  const stat = yield* port.stat(log)
  if (adopted.known === undefined) return undefined
  const { leaf, read } = adopted.known
  const { file, mtime, size } = read.stat
  const isSame = file === stat.file && mtime === stat.mtime && size === stat.size
  if (read.isTaken || !isSame || !(yield* endsWithLine(port, log, size))) return undefined
  read.isTaken = true
  yield* port.expect(log, size)
  const { chain, cwd, tail } = read
  return { lane: Session.laneAt(log, chain, size), folded: { tail, cwd, leaf } }
})

const endsWithLine = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  size: number
) {
  const last = new Uint8Array(1)
  const reader = yield* port.reader(log)
  return size > 0 && (yield* reader.read(size - 1, last)) === 1 && last[0] === 0x0a
}, Effect.scoped)

type Known = Pick<
  Session.Session,
  "main" | "tail" | "isMaterialised" | "hasMoved" | "port" | "sessionId" | "common" | "uuid" | "claim" | "claimScope"
> &
  Pick<Session.Session, "scope">

/** The session, listening to what others write. */
const start = Effect.fnUntraced(function* (known: Known) {
  const writer = yield* SessionWriter.SessionWriter
  const events = yield* PubSub.sliding<SessionWriter.ForeignWriter>({ capacity: 16, replay: 16 })
  const news = yield* Queue.unbounded<Placement.OpenLane>()
  const gate = Semaphore.makeUnsafe(1)
  const self: Session.Session = {
    ...known,
    writer,
    agents: new Map(),
    redactor: yield* Redactor.Redactor,
    restates: known.claim !== undefined,
    waiting: [],
    digests: undefined,
    events,
    turnStart: undefined,
    isClosed: false,
    exclusively: (effect) => Semaphore.withPermit(gate, effect),
    onForeign: ({ log }, { ours, size }) =>
      PubSub.publishUnsafe(
        events,
        new SessionWriter.ForeignWriter({ path: EntryLog.placeOf(known.port, log), ours, size })
      ),
    watch: (lane) => {
      const listener = (foreign: EntryLog.Foreign) => {
        Foreign.account(self, lane, foreign)
        Queue.offerUnsafe(news, lane)
      }
      return Scope.provide(writer.onForeign(lane.log, listener), known.scope)
    }
  }
  yield* self.watch(self.main)
  const follow = Effect.flatMap(Queue.take(news), (lane) =>
    Effect.flatMap(Foreign.look(self, lane), (isStale) => (isStale ? Session.restate(self) : Effect.void))
  )
  yield* Effect.forkIn(Effect.forever(Effect.ignore(follow)), known.scope)
  return self
})

/** Puts the tail of the chain where the caller, or the log, says. */
const place = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  options: Transcript.Options,
  leaf: Transcript.Leaf | undefined
) {
  Chain.skipUnfinished(chain)
  const parent = options.parent === undefined ? leaf?.parent : options.parent
  const known = options.messageCount ?? (options.parent === undefined ? leaf?.conversation : undefined)
  if (parent === undefined) return Chain.moveTo(chain, chain.tail, known)
  yield* Session.mustKnow([chain], [parent])
  Chain.moveTo(chain, parent, known)
})

/** What the log got since it was loaded wins over what the program holds, and that over what it held before. */
const takeOver = (
  tail: MetadataTail.MetadataTail,
  { loadedSize = Infinity, metadata }: Pick<Transcript.AdoptOptions, "metadata" | "loadedSize">,
  sessionId: string
): void => {
  if (metadata === undefined) return
  const later = new Set<Metadata.Kind>()
  for (const [kind, { at }] of tail.places) if (at >= loadedSize) later.add(kind)
  const sizeOf = (body: Metadata.Body) => Buffer.byteLength(Line.encode({ ...body, sessionId } as Entry.Known)) + 1
  MetadataTail.adopt(tail, metadata, later, sizeOf)
}

/** The directory of the first message that has one. */
const cwd: Projection.Projection<Line.Located, string | undefined> = Projection.make({
  initial: (): string | undefined => undefined,
  evolve: (found: string | undefined, { entry }: Line.Located) =>
    found ?? (Entry.isMessage(entry) && entry.isSidechain !== true ? entry.cwd : undefined),
  extract: (found) => found
})

/**
 * Where a session is: below the project of its directory, in whichever spelling it was recorded. A new one is below the
 * project itself.
 */
const locate = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  { cwd, sessionId: given }: Transcript.Options,
  sessionId: string
) {
  if (given === undefined) return EntryLog.session(yield* port.project(cwd), sessionId)
  const projects = yield* Folders.of(port, cwd)
  for (const project of projects) {
    const log = EntryLog.session(project, sessionId)
    if (Option.isSome(yield* Effect.option(port.stat(log)))) return log
  }
  const [own] = projects
  return EntryLog.session(own!, sessionId)
})

/** Two directories may have one key; a session is of that where it began. One that was moved has another key by now. */
const mustBeFrom = (cwd: string, first: string | undefined): Effect.Effect<void, Placement.Unfit> => {
  if (first === undefined) return Effect.void
  const [now, then] = [resolved(cwd), resolved(first)]
  const isOther = now !== then && ProjectPath.keyOf(now) === ProjectPath.keyOf(then) && !Folders.isSame(now, then)
  return isOther ? Effect.fail(new Placement.Unfit("other-directory", first)) : Effect.void
}

const resolved = (directory: string): string => {
  try {
    return Directories.resolve(directory)
  } catch {
    return directory
  }
}
