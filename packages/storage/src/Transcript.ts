/**
 * Transcript: one open session of a program.
 *
 *   body ─ stamp ─▶ entry ─ Routing ─▶ waits │ SessionWriter ─▶ main log
 *                                                          └─▶ log of an agent
 *
 * 1. `append` answers when the entry is accepted, `flush` when it is written; closing the scope flushes.
 * 2. Only accepted entries are parents. Accepting an entry and moving the tail to it is one step.
 * 3. A session without a prompt or a reply leaves no log: what comes before one waits, and is then written first.
 * 4. The main lane holds each id once; each agent has a lane of its own, with its own tail.
 */
import * as Boundary from "@reprise/domain/Boundary"
import type * as Entry from "@reprise/domain/Entry"
import * as Identifier from "@reprise/domain/Identifier"
import type * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as Routing from "@reprise/domain/Routing"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as EntryLog from "./EntryLog.ts"
import * as Chain from "./internal/chain.ts"
import * as Placement from "./internal/placement.ts"
import * as Session from "./internal/session.ts"
import * as LineReader from "./LineReader.ts"
import * as SessionWriter from "./SessionWriter.ts"

/**
 * Which session to open, and what is stamped on its entries.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** A UUID; by default a new one. */
  readonly sessionId?: string
  /** The directory at the start of the session; it decides about the project. */
  readonly cwd: string
  /** The version of the format family (`2.1.x`) that the entries claim. */
  readonly version: string
  readonly gitBranch?: string
  /** How the program is used: `cli`, `sdk-ts`, … (open). */
  readonly entrypoint?: string
  /** Where the main lane lies, when that is not below the project of `cwd`. */
  readonly log?: EntryLog.LogId
  /** The entry that the next message hangs on, as recovery found it; by default the last one of the log. */
  readonly parent?: string | null
  /** The number of entries of the conversation up to `parent`, as recovery counts them. */
  readonly messageCount?: number
}

/**
 * How one body is appended.
 *
 * @category models
 * @since 0.1.0
 */
export interface AppendOptions {
  /** The subagent that it belongs to. */
  readonly agentId?: string
  /** The folders below `subagents` for the log of an agent that is new to the session. */
  readonly subPath?: ReadonlyArray<string>
  /** The accepted entry that it hangs on; by default the last one of its lane. */
  readonly parent?: string | null
  /** Its id, when it has one already; a second append of the same id changes nothing. */
  readonly uuid?: string
  /** The working directory, when it has changed since the session began. */
  readonly cwd?: string
  readonly gitBranch?: string
}

/**
 * What became of an entry: accepted for writing; waiting for the first prompt or reply; or in the main lane already.
 *
 * @category models
 * @since 0.1.0
 */
export type Appended = Data.TaggedEnum<{
  readonly Accepted: { readonly uuid: string }
  readonly Pending: { readonly uuid: string }
  readonly AlreadyThere: { readonly uuid: string }
}>

const appended = Data.taggedEnum<Appended>()

const advice = {
  "unknown-entry": "is no entry of this session; only accepted entries can be named",
  "session-id": "is no session id; give a UUID, or none for a new session",
  "agent-id": "is no agent id or folder; give a name without separators",
  "not-json": "cannot be written as JSON; remove cycles, functions and big integers"
} as const

/**
 * An entry cannot be accepted: `what` is the id or the text that does not fit.
 *
 * @category errors
 * @since 0.1.0
 */
export class AppendError extends Schema.TaggedError<AppendError>()("AppendError", {
  reason: Schema.Literals(["unknown-entry", "session-id", "agent-id", "not-json"]),
  what: Schema.String
}) {
  override get message(): string {
    return `${JSON.stringify(this.what)} ${advice[this.reason]}`
  }
}

/**
 * Why an append fails; nothing of it is accepted then.
 *
 * @category errors
 * @since 0.1.0
 */
export type Failure = AppendError | Routing.Refused | EntryLog.EntryLogError | SessionWriter.SessionWriterClosed

/**
 * Why reading a session that is open fails.
 *
 * @category errors
 * @since 0.1.0
 */
export type ReadFailure = EntryLog.EntryLogError | SessionWriter.FlushError | SessionWriter.SessionWriterClosed

/**
 * An open session.
 *
 * @category models
 * @since 0.1.0
 */
export interface Transcript {
  readonly sessionId: string
  readonly log: EntryLog.LogId
  /** The entry that the next message of the main lane hangs on. */
  readonly tail: Effect.Effect<string | null>
  /** Stamps a body and accepts it. */
  readonly append: (body: Message.MessageBody, options?: AppendOptions) => Effect.Effect<Appended, Failure>
  /** Accepts an entry as it is: a copy, a snapshot, a queue operation, a kind of one's own. */
  readonly appendEntry: (entry: Entry.Known | Entry.Unknown) => Effect.Effect<Appended["_tag"], Failure>
  /** Accepts metadata, made with `Metadata`; the session id is added. */
  readonly record: (body: Metadata.Body) => Effect.Effect<Appended["_tag"], Failure>
  readonly title: (title: string) => Effect.Effect<Appended["_tag"], Failure>
  readonly tag: (tag: string) => Effect.Effect<Appended["_tag"], Failure>
  readonly mode: (mode: string) => Effect.Effect<Appended["_tag"], Failure>
  /** Names the last typed prompt, with the tail as its leaf. */
  readonly lastPrompt: (text: string) => Effect.Effect<Appended["_tag"], Failure>
  /** Ends a turn with a checkpoint: how long it took, and how many entries the conversation holds. */
  readonly endTurn: (options?: { readonly durationMs?: number }) => Effect.Effect<Appended, Failure>
  /** Goes back: the next message hangs on `to`, an accepted entry of the main lane. */
  readonly rewind: (to: string) => Effect.Effect<Appended, Failure>
  /** Starts the context anew with a summary and the `kept` messages, in their order. */
  readonly compact: (
    summary: string,
    kept?: ReadonlyArray<string>,
    options?: { readonly trigger?: string; readonly preTokens?: number }
  ) => Effect.Effect<{ readonly boundary: string; readonly summary: string }, Failure>
  /** Takes messages off the chain; the log still holds them. */
  readonly snip: (ids: ReadonlyArray<string>) => Effect.Effect<Appended, Failure>
  /** Returns when all that was accepted for this session is written. */
  readonly flush: Effect.Effect<void, SessionWriter.FlushError | SessionWriter.SessionWriterClosed>
  /** The entries of the main lane, after a flush. */
  readonly entries: Stream.Stream<Line.Located, ReadFailure>
  /** Runs a projection over the main lane, or over an agent's, after a flush. */
  readonly project: <S>(
    projection: Projection.Projection<Line.Located, S>,
    options?: { readonly agentId?: string }
  ) => Effect.Effect<S, ReadFailure | AppendError>
}

/**
 * Opens a session: a new one, or one whose log exists, which is read for the ids that it holds and its last message.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = Effect.fn("Transcript.open")(function* (options: Options) {
  const port = yield* EntryLog.EntryLog
  const writer = yield* SessionWriter.SessionWriter
  const { uuidV4 } = yield* Session.secureRandom
  const sessionId = options.sessionId ?? (yield* uuidV4())
  if (!Identifier.isSessionId(sessionId)) return yield* new AppendError({ reason: "session-id", what: sessionId })
  const log = options.log ?? EntryLog.session(yield* port.project(options.cwd), sessionId)
  const existing = yield* Session.readChain(port, log, false)
  const chain = existing ?? Chain.make()
  if (chain.beforeBoundary !== undefined) Chain.moveTo(chain, chain.beforeBoundary)
  const parent = options.parent === undefined ? chain.tail : options.parent
  yield* typed(Session.mustKnow([chain], [parent]))
  Chain.moveTo(chain, parent, options.messageCount)
  const { cwd, entrypoint, gitBranch, version } = options
  const session: Session.Session = {
    port,
    writer,
    uuid: uuidV4(),
    common: { sessionId, cwd, version, entrypoint, gitBranch },
    main: { log, chain },
    agents: new Map(),
    waiting: [],
    isMaterialised: existing !== undefined,
    turnStart: undefined
  }
  const transcript = make(session)
  yield* Effect.addFinalizer(() => close(session, transcript))
  return transcript
})

const typed = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, Placement.Unfit> | AppendError, R> =>
  Effect.mapError(effect, (error) =>
    error instanceof Placement.Unfit ? new AppendError(error) : (error as Exclude<E, Placement.Unfit>)
  )

const make = (self: Session.Session): Transcript => {
  const main = self.main.chain
  const append = (body: () => Message.MessageBody, options: AppendOptions = {}) =>
    Effect.map(typed(Session.append(self, body, options)), ({ placed, uuid }) => appended[placed]({ uuid }))
  const accept = (draft: Placement.Draft) => typed(Session.submit(self, (place) => place(draft)))
  const record = (body: () => Metadata.Body) =>
    accept(() => ({ ...body(), sessionId: self.common.sessionId }) as Entry.Known)
  const logs = () => [self.main, ...self.agents.values()].map(({ log }) => log)
  const flush = Effect.suspend(() => self.writer.flush(logs()))
  const reading = <A, E>(read: Effect.Effect<A, E, EntryLog.EntryLog>) =>
    Effect.andThen(flush, Effect.provideService(read, EntryLog.EntryLog, self.port))
  return {
    sessionId: self.common.sessionId,
    log: self.main.log,
    tail: Effect.sync(() => main.tail),
    append: (body, options) => append(() => body, options),
    appendEntry: Effect.fnUntraced(function* (entry) {
      const lane = Routing.laneOf(entry)
      if (lane?._tag === "Sidechain") yield* typed(Session.laneOf(self, lane.agentId))
      return yield* accept(() => entry)
    }),
    record: (body) => record(() => body),
    title: (title) => record(() => Metadata.customTitle(title)),
    tag: (tag) => record(() => Metadata.tag(tag)),
    mode: (mode) => record(() => Metadata.mode(mode)),
    lastPrompt: (lastPrompt) =>
      record(() => Metadata.lastPrompt({ lastPrompt, ...(main.tail === null ? {} : { leafUuid: main.tail }) })),
    endTurn: Effect.fnUntraced(function* (options = {}) {
      const { millis } = yield* Session.now
      const durationMs = options.durationMs ?? millis - (self.turnStart ?? millis)
      const ended = yield* append(() =>
        main.count === undefined
          ? Message.system("turn_duration", { durationMs, isMeta: false })
          : Message.turnDuration({ durationMs, messageCount: main.count })
      )
      self.turnStart = undefined
      return ended
    }),
    rewind: (to) => append(() => Message.informational("Conversation rewound"), { parent: to }),
    compact: Effect.fn("Transcript.compact")(function* (summary, kept = [], options = {}) {
      return yield* typed(Session.compact(self, summary, kept, options))
    }),
    snip: (ids) =>
      Effect.andThen(
        typed(Session.mustKnow([main], ids)),
        append(() => Boundary.snip(ids))
      ),
    flush,
    entries: Stream.unwrap(reading(Effect.succeed(LineReader.stream(self.main.log)))).pipe(
      Stream.catchIf(Session.isNotFound, () => Stream.empty),
      Stream.provideService(EntryLog.EntryLog, self.port)
    ),
    project: Effect.fn("Transcript.project")(function* (projection, options = {}) {
      const { log } = yield* typed(Session.laneOf(self, options.agentId))
      return yield* reading(LineReader.fold(log, projection)).pipe(
        Effect.catchIf(Session.isNotFound, () => Effect.sync(() => Projection.fold(projection, [])))
      )
    })
  }
}

const close = (self: Session.Session, transcript: Transcript) =>
  Effect.gen(function* () {
    if (self.waiting.length > 0) {
      yield* Effect.logInfo(
        `session ${self.common.sessionId} had no prompt; ${self.waiting.length} entries that waited for one are discarded`
      )
    }
    // What is not written now stays with the writer, which tries again.
    yield* Effect.catch(transcript.flush, (error) => Effect.logError(error.message))
    for (const { log } of [self.main, ...self.agents.values()]) yield* self.port.release(log)
  })
