/**
 * Guarded: a log that throws is one that fails. The writer's fibre serves all logs and all who wait for a flush, so it has
 * to outlive a mistake of one port.
 *
 *   append · rewrite · sync ─ throws ─▶ EntryLogError (Other), the cause inside: kept, tried again, told by `status`
 */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Result from "effect/Result"
import * as EntryLog from "../EntryLog.ts"

type Port = EntryLog.EntryLog["Service"]

/** The same log, whose writing fails where it would throw. */
export const make = (port: Port): Port => ({
  ...port,
  append: (log, lines) => guarded(failing("append", port, log), () => port.append(log, lines)),
  rewrite: (log, start, lines) => guarded(failing("rewrite", port, log), () => port.rewrite(log, start, lines)),
  sync: (log) => guarded(failing("sync", port, log), () => port.sync(log)),
  blocking: port.blocking && blocking(port, port.blocking)
})

const blocking = (port: Port, { append, rewrite, sync }: EntryLog.Blocking): EntryLog.Blocking => ({
  append: (log, lines) => guardedNow(failing("append", port, log), () => append(log, lines)),
  rewrite: (log, start, lines) => guardedNow(failing("rewrite", port, log), () => rewrite(log, start, lines)),
  sync: (log) => guardedNow(failing("sync", port, log), () => sync(log))
})

type Failing = (cause: unknown) => EntryLog.EntryLogError

const guarded = <A>(failing: Failing, run: () => Effect.Effect<A, EntryLog.EntryLogError>) =>
  Effect.catchDefect(Effect.suspend(run), (cause) => Effect.fail(failing(cause)))

const guardedNow = <A>(
  failing: Failing,
  run: () => Result.Result<A, EntryLog.EntryLogError>
): Result.Result<A, EntryLog.EntryLogError> => Result.flatMap(Result.try({ try: run, catch: failing }), identity)

const failing =
  (operation: EntryLog.EntryLogError["operation"], port: Port, log: EntryLog.LogId): Failing =>
  (cause) =>
    new EntryLog.EntryLogError({ operation, path: EntryLog.placeOf(port, log), reason: "Other", cause })
