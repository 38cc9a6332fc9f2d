/**
 * Undoing: steps that are all done, or none.
 *
 *   a ─ b ─ c ✗      undo b, undo a, and the failure of c
 *
 * A step that answered has its undo, and the last one its caller: other fibers get their turn before each step and before
 * the answer, where an interruption is heeded, so that none comes in between. An undo that dies does not keep the others
 * from running.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/** Runs a step whose answer says how it is undone. */
export type Take = <A, E, R>(
  step: Effect.Effect<A, E, R>,
  undoOf: (answer: A) => Effect.Effect<void>
) => Effect.Effect<A, E, R>

/** Runs steps; should one fail, die or be interrupted, those before it are undone in reverse. */
export const steps = <A, E, R>(body: (take: Take) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Scope.make(), (undos) => {
      const take: Take = (step, undoOf) =>
        Effect.uninterruptibleMask((restore) =>
          restore(Effect.andThen(Effect.yieldNow, step)).pipe(
            Effect.tap((answer) => Scope.addFinalizer(undos, undoOf(answer)))
          )
        )
      return restore(Effect.tap(body(take), () => Effect.yieldNow)).pipe(
        Effect.onError((cause) => Scope.close(undos, Exit.failCause(cause)))
      )
    })
  )
