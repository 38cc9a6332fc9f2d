/**
 * Sessions: those that the service runs, each in a log of its own, by as many turns at a time as there are sessions.
 *
 *   start    every log ─ Resume.load ─ Resume.adopt ─▶ open ─ a turn that is not over ─▶ goes on
 *   say      prompt ─▶ log ─▶ Turn.run, whoever listens │ told from the log, as it grows, up to the end of the turn
 *
 * 1. A session is opened once, by whoever needs it first, and closed when nobody has needed it for a while.
 * 2. A turn belongs to the session, not to the request: it goes on when the client is gone.
 * 3. A prompt is known by its id: the same one again is listened to, not run again.
 */
import * as Content from "@reprise/domain/Content"
import * as SessionSource from "@reprise/domain/SessionSource"
import type * as Host from "@reprise/recovery/Host"
import * as Recovery from "@reprise/recovery/Recovery"
import * as Resume from "@reprise/recovery/Resume"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as SessionCatalog from "@reprise/storage/SessionCatalog"
import type * as SessionWriter from "@reprise/storage/SessionWriter"
import * as StoredSessionSource from "@reprise/storage/StoredSessionSource"
import * as Transcript from "@reprise/storage/Transcript"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as path from "node:path"
import * as Api from "./Api.ts"
import type { Model } from "./Model.ts"
import * as Turn from "./Turn.ts"

/** Where the logs are, and the directory whose sessions they are. */
export interface Options {
  readonly projects: string
  readonly cwd: string
}

type Failure = Api.SessionHeld | Api.LogFailed

/** What the interface asks of the sessions. */
export class Sessions extends Context.Service<
  Sessions,
  {
    readonly list: Effect.Effect<ReadonlyArray<string>, Api.LogFailed>
    readonly show: (sessionId: string) => Effect.Effect<ReadonlyArray<Api.Event>, Api.UnknownSession | Failure>
    readonly say: (
      sessionId: string,
      promptId: string,
      text: string
    ) => Effect.Effect<Stream.Stream<Api.Event, Failure>, Api.TurnRunning | Api.PromptTaken | Failure>
  }
>()("agent-service/Sessions") {}

const version = "2.1.0"

/** A session that is open, and the turn that runs. */
interface Session {
  readonly sessionId: string
  readonly transcript: Transcript.Transcript
  readonly lock: Semaphore.Semaphore
  turn: { readonly promptId: string; readonly failed: Deferred.Deferred<never, Api.LogFailed> } | undefined
}

const make = Effect.fnUntraced(function* ({ cwd, projects }: Options) {
  const scope = yield* Scope.Scope
  const services = yield* Effect.context<
    EntryLog.EntryLog | SessionWriter.SessionWriter | SessionSource.SessionSource | Host.Loading | Host.Adopting | Model
  >()
  const fileOf = (sessionId: string) => EntryLog.pathOf(projects, EntryLog.session(ProjectPath.keyOf(cwd), sessionId))

  const open = Effect.fnUntraced(function* (sessionId: string) {
    const transcript = yield* resumed(fileOf(sessionId)).pipe(
      // A log without an entry is one whose first prompt did not get there; nobody was told of it.
      Effect.catchTag(["SessionNotFound", "NotATranscript"], () =>
        Transcript.open({ sessionId, cwd, version, leaf: Recovery.leaf })
      )
    )
    const session: Session = { sessionId, transcript, lock: Semaphore.makeUnsafe(1), turn: undefined }
    return session
  })
  const sessions = yield* RcMap.make({
    lookup: (sessionId: string) => Effect.mapError(open(sessionId), refusedFor(sessionId)),
    idleTimeToLive: "1 minute"
  })

  /** Runs the turn of the prompt; the session stays open for it. */
  const start = Effect.fnUntraced(function* (session: Session, promptId: string) {
    const failed = yield* Deferred.make<never, Api.LogFailed>()
    const turn = { promptId, failed }
    session.turn = turn
    const running = Effect.gen(function* () {
      yield* RcMap.get(sessions, session.sessionId)
      yield* Turn.run(session.transcript)
    }).pipe(
      Effect.scoped,
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.void
          : Effect.andThen(
              Effect.logError("a turn failed; the same prompt again takes it up", cause),
              Deferred.fail(failed, new Api.LogFailed({ message: "the turn failed; send the same prompt again" }))
            )
      ),
      // The log may have shown the end already, and the next turn begun.
      Effect.ensuring(Effect.sync(() => void (session.turn === turn && (session.turn = undefined)))),
      Effect.provide(services)
    )
    yield* Effect.forkIn(running, scope)
    return turn
  })

  /** The turn of a prompt: the one that runs, or none where it is over; one that broke off goes on. */
  const turnOf = Effect.fnUntraced(function* (session: Session, promptId: string, text: string) {
    const { transcript } = session
    const state = yield* transcript.project(Recovery.projection)
    const entry = state.conversation.find(({ uuid }) => uuid === promptId)?.entry
    const open = Turn.progress(state) === "over" ? undefined : Turn.promptOf(state)
    const message = `expected a prompt that is new or said again as it was, found ${promptId} taken; give it another id`
    const event = entry === undefined ? undefined : Turn.eventOf(entry)
    if (entry !== undefined && (event?.type !== "prompt" || Content.textOf(event.content) !== text)) {
      return yield* new Api.PromptTaken({ promptId, message })
    }
    if (session.turn?.promptId === promptId) return session.turn
    if (entry === undefined && open !== undefined) {
      // One that failed waits for nobody: it is taken up before anything else is said.
      if (session.turn === undefined) yield* start(session, open)
      const message = `expected a session whose turn is over, found that of prompt ${open} running; wait for its end`
      return yield* new Api.TurnRunning({ promptId: open, message })
    }
    if (entry === undefined) {
      const body = { type: "user", message: { role: "user", content: text } } as const
      const { _tag } = yield* transcript.append(body, { uuid: promptId })
      // In the log, and not in the conversation.
      if (_tag === "AlreadyThere") return yield* new Api.PromptTaken({ promptId, message })
      yield* transcript.flush
      return yield* start(session, promptId)
    }
    return open === promptId ? yield* start(session, promptId) : undefined
  })

  const say = Effect.fn("Sessions.say")(function* (sessionId: string, promptId: string, text: string) {
    const session = yield* RcMap.get(sessions, sessionId)
    const turn = yield* session.lock
      .withPermit(turnOf(session, promptId, text))
      .pipe(
        Effect.mapError((error) =>
          error._tag === "PromptTaken" || error._tag === "TurnRunning" ? error : refusedFor(sessionId)(error)
        )
      )
    const told = Effect.map(RcMap.get(sessions, sessionId), ({ transcript }) => events(transcript, promptId))
    const stream = Stream.unwrap(told)
    return turn === undefined ? stream : Stream.interruptWhen(stream, Deferred.await(turn.failed))
  }, Effect.scoped)

  const list = SessionCatalog.logs({ directory: cwd }).pipe(
    Effect.map(({ listed }) => listed.map((one) => path.parse(one.path).name)),
    Effect.mapError(({ message }) => new Api.LogFailed({ message })),
    Effect.provide(services)
  )

  const show = Effect.fn("Sessions.show")(function* (sessionId: string) {
    const ids = yield* list
    if (!ids.includes(sessionId)) {
      const message = `expected a session of this service, found none of id ${sessionId}; GET /sessions lists them`
      return yield* new Api.UnknownSession({ sessionId, message })
    }
    const { transcript } = yield* RcMap.get(sessions, sessionId)
    const state = yield* Effect.mapError(transcript.project(Recovery.projection), refusedFor(sessionId))
    return state.conversation.flatMap(({ entry }) => Turn.eventOf(entry) ?? [])
  }, Effect.scoped)

  // What was running when the last process ended goes on, before the first request.
  const takeUp = Effect.fnUntraced(function* (sessionId: string) {
    const session = yield* RcMap.get(sessions, sessionId)
    const state = yield* session.transcript.project(Recovery.projection)
    const promptId = Turn.promptOf(state)
    if (Turn.progress(state) !== "over" && promptId !== undefined) yield* start(session, promptId)
  }, Effect.scoped)
  yield* Effect.forEach(
    yield* list,
    (sessionId) =>
      Effect.catchCause(takeUp(sessionId), (cause) => Effect.logError(`session ${sessionId} is not resumed`, cause)),
    { concurrency: 8, discard: true }
  )
  return Sessions.of({ list, show, say })
})

/** Takes over the session of a log. */
const resumed = Effect.fnUntraced(function* (file: string) {
  const { session } = yield* Resume.adopt(yield* Resume.load(SessionSource.path(file)))
  const transcript = StoredSessionSource.transcriptOf(session)
  return transcript ?? (yield* Effect.die("the session is not one of the source above"))
})

/** The turn of a prompt, from its log: what is there, and what comes, up to its end. */
const events = (transcript: Transcript.Transcript, promptId: string): Stream.Stream<Api.Event, Failure> =>
  transcript.follow().pipe(
    Stream.flatMap((told) => Stream.fromIterable(told._tag === "Entry" ? [Turn.eventOf(told.located.entry)] : [])),
    Stream.filter((event) => event !== undefined),
    Stream.dropWhile(({ uuid }) => uuid !== promptId),
    Stream.takeUntil(({ type }) => type === "end"),
    Stream.mapError(refusedFor(transcript.sessionId))
  )

/** What a log or its lock says, as the interface says it. */
const refusedFor =
  (sessionId: string) =>
  (error: { readonly _tag: string; readonly message: string }): Failure =>
    error._tag === "SessionLocked"
      ? new Api.SessionHeld({ sessionId, message: error.message })
      : new Api.LogFailed({ message: error.message })

/** The sessions over logs below `projects`; the model is the program's. */
export const layerWith = (options: Options) => Layer.effect(Sessions, make(options))
