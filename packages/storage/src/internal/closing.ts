/**
 * Closing: flushing a session, and its end.
 *
 *   flush ─▶ look at what others wrote ─▶ restate ─▶ flush ─▶ let go of logs ─▶ let go of the session
 *
 * A session that could not be written is not let go: the writer still has entries for it, and another program that
 * opened it would not see them.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type * as Transcript from "../Transcript.ts"
import * as Foreign from "./foreign.ts"
import * as Placement from "./placement.ts"
import * as Session from "./session.ts"

const logsOf = (self: Session.Session) => [self.main, ...self.agents.values()].map(({ log }) => log)

/** Returns when all that was accepted is written. */
export const flush = (self: Session.Session): Transcript.Transcript["flush"] =>
  Effect.suspend(() => {
    const { main } = self
    const { end } = main
    const written = self.writer.flush(logsOf(self))
    if (!self.isMaterialised) return written
    // Writes that stopped half way have left bytes that were not counted.
    const recount = Effect.map(self.port.stat(main.log), ({ size }) => {
      if (main.end === end && size > end) main.end = main.counted = size
    })
    return Effect.andThen(written, Effect.ignore(recount))
  })

/** Restates and writes at once. */
export const flushSync = (self: Session.Session): Transcript.Transcript["flushSync"] =>
  Effect.andThen(
    lookAgain(self),
    self.writer.flushSync((offer) => {
      if (!self.isClosed && self.claim?.lost() === undefined) Placement.restate(self, offer)
    })
  )

/** The last look, whenever the one before was. */
const lookAgain = (self: Session.Session): Effect.Effect<void> =>
  Effect.suspend(() => {
    self.main.isFresh = false
    return Effect.ignore(Foreign.look(self, self.main))
  })

/** Ends the session, once. */
export const close = (self: Session.Session): Effect.Effect<Transcript.Closed> =>
  Effect.gen(function* () {
    yield* Effect.ignore(flush(self))
    yield* lookAgain(self)
    // Room or not: while the log fails there may be none until the program has ended.
    if (self.claim?.lost() === undefined) yield* Effect.ignore(Session.restate(self, self.writer.submitNow))
    self.isClosed = true
    const discarded = self.waiting.splice(0).map(({ entry }) => entry)
    const flushed = yield* Effect.result(flush(self))
    yield* Scope.close(self.scope, Exit.void)
    for (const log of logsOf(self)) yield* self.port.release(log)
    const letGo = Scope.close(self.claimScope, Exit.void)
    if (Result.isSuccess(flushed)) {
      yield* letGo
      return { discarded, unwritten: undefined }
    }
    const retry = Schedule.spaced("1 second")
    yield* Effect.forkDetach(
      self.writer
        .flush(logsOf(self))
        .pipe(
          Effect.retry({ while: ({ _tag }) => _tag === "FlushError", schedule: retry }),
          Effect.ignore,
          Effect.andThen(letGo)
        )
    )
    return { discarded, unwritten: flushed.failure }
  }).pipe(Effect.uninterruptible)
