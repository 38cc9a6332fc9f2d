/**
 * Doors: what an open session offers to its program.
 */
import * as Boundary from "@reprise/domain/Boundary"
import type * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as Routing from "@reprise/domain/Routing"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as EntryLog from "../EntryLog.ts"
import * as Follow from "../Follow.ts"
import * as LineReader from "../LineReader.ts"
import type * as Transcript from "../Transcript.ts"
import { AppendError, typed } from "./appendError.ts"
import * as Chain from "./chain.ts"
import * as Closing from "./closing.ts"
import * as Intake from "./intake.ts"
import * as Session from "./session.ts"

const appended = Data.taggedEnum<Transcript.Appended>()

/** The doors of a session. */
export const make = (self: Session.Session, close: Effect.Effect<Transcript.Closed>): Transcript.Transcript => {
  const append = (body: () => Message.MessageBody, options: Transcript.AppendOptions = {}) =>
    Effect.map(typed(Session.append(self, self.writer.submit, body, options)), ({ placed, uuid }) =>
      appended[placed]({ uuid })
    )
  const flush = Closing.flush(self)
  const reading = <A, E>(read: Effect.Effect<A, E, EntryLog.EntryLog>) =>
    Effect.andThen(flush, Effect.provideService(read, EntryLog.EntryLog, self.port))
  return {
    sessionId: self.sessionId,
    log: self.main.log,
    tail: Effect.sync(() => self.main.chain.tail),
    append: (body, options) => given(body, () => append(() => body, options)),
    appendDurable: Effect.fnUntraced(function* (body, options = {}) {
      yield* given(body, () => Effect.void)
      const made = Session.append(self, self.writer.submitDurable, () => body, options)
      const { log, placed, uuid } = yield* typed(made)
      // What was there already may be no further than the system.
      if (placed === "AlreadyThere" && self.isMaterialised) yield* Effect.andThen(flush, self.port.sync(log))
      return appended[placed]({ uuid })
    }),
    appendEntry: (entry) =>
      given(entry, () => {
        const lane = Routing.laneOf(entry)
        const open = Session.laneOf(self, lane?._tag === "Sidechain" ? lane.agentId : undefined)
        const isMetadata = Metadata.isKind(entry.type)
        return typed(
          Effect.flatMap(open, (lane) => Session.accept(self, self.writer.submit, lane, () => entry, isMetadata))
        )
      }),
    ...metadata(self),
    ...turns(self, append),
    flush,
    flushSync: Closing.flushSync(self),
    close,
    foreign: Stream.fromPubSub(self.events),
    entries: Stream.unwrap(reading(Effect.succeed(LineReader.stream(self.main.log)))).pipe(
      Stream.catchIf(Session.isNotFound, () => Stream.empty),
      Stream.provideService(EntryLog.EntryLog, self.port)
    ),
    follow: (options) => Stream.provideService(Follow.stream(self.main.log, options), EntryLog.EntryLog, self.port),
    project: Effect.fn("Transcript.project")(function* (projection, options = {}) {
      const { log } = yield* typed(Session.laneOf(self, options.agentId))
      return yield* reading(LineReader.fold(log, projection)).pipe(
        Effect.catchIf(Session.isNotFound, () => Effect.sync(() => Projection.fold(projection, [])))
      )
    })
  }
}

/** What is no entry, whatever the compiler was told, is not stamped, routed or written. */
const given = <A, E>(value: unknown, accept: () => Effect.Effect<A, E>): Effect.Effect<A, E | AppendError> =>
  Effect.suspend((): Effect.Effect<A, E | AppendError> => {
    const found = Intake.insteadOf(value)
    return found === undefined ? accept() : Effect.fail(new AppendError({ reason: "not-entry", what: found }))
  })

type Setters =
  | "record"
  | "title"
  | "aiTitle"
  | "tag"
  | "agentName"
  | "agentColor"
  | "agentSetting"
  | "mode"
  | "permissionMode"
  | "worktree"
  | "pullRequest"
  | "lastPrompt"
  | "metadata"

const metadata = (self: Session.Session): Pick<Transcript.Transcript, Setters> => {
  const record = (body: () => Metadata.Body) =>
    typed(
      Session.accept(
        self,
        self.writer.submit,
        self.main,
        () => ({ ...body(), sessionId: self.sessionId }) as Entry.Known,
        true
      )
    )
  const setter =
    <A>(body: (value: A) => Metadata.Body): Transcript.Setter<A> =>
    (value) =>
      record(() => body(value))
  return {
    record: (body) => given(body, () => record(() => body)),
    title: setter(Metadata.customTitle),
    aiTitle: setter(Metadata.aiTitle),
    tag: setter(Metadata.tag),
    agentName: setter(Metadata.agentName),
    agentColor: setter(Metadata.agentColor),
    agentSetting: setter(Metadata.agentSetting),
    mode: setter(Metadata.mode),
    permissionMode: setter(Metadata.permissionMode),
    worktree: setter(Metadata.worktreeState),
    pullRequest: setter((value) => Metadata.make("pr-link", value)),
    lastPrompt: setter((lastPrompt) => {
      const leafUuid = self.main.chain.tail
      return Metadata.lastPrompt({ lastPrompt, ...(leafUuid === null ? {} : { leafUuid }) })
    }),
    metadata: Effect.sync(() => self.tail.cache.extract())
  }
}

const turns = (
  self: Session.Session,
  append: (
    body: () => Message.MessageBody,
    options?: Transcript.AppendOptions
  ) => Effect.Effect<Transcript.Appended, Transcript.Failure>
): Pick<Transcript.Transcript, "endTurn" | "rewind" | "compact" | "snip"> => ({
  endTurn: Effect.fnUntraced(function* (options = {}) {
    const { millis } = yield* Session.now
    const durationMs = options.durationMs ?? millis - (self.turnStart ?? millis)
    const ended = yield* append(() => {
      const count = Chain.countOf(self.main.chain)
      return count === undefined
        ? Message.system("turn_duration", { durationMs, isMeta: false })
        : Message.turnDuration({ durationMs, messageCount: count })
    })
    self.turnStart = undefined
    return ended
  }),
  rewind: (to) => append(() => Message.informational("Conversation rewound"), { parent: to }),
  compact: Effect.fn("Transcript.compact")(function* (summary, kept = [], options = {}) {
    return yield* typed(Session.compact(self, summary, kept, options))
  }),
  snip: (ids) =>
    Effect.andThen(
      typed(Session.mustHold(self, [self.main.chain], ids)),
      append(() => Boundary.snip(ids))
    )
})
