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
  append: (log, lines) => guarded("append", log, () => port.append(log, lines)),
  rewrite: (log, start, lines) => guarded("rewrite", log, () => port.rewrite(log, start, lines)),
  sync: (log) => guarded("sync", log, () => port.sync(log)),
  blocking: port.blocking && blocking(port.blocking)
})

const blocking = (port: EntryLog.Blocking): EntryLog.Blocking => ({
  append: (log, lines) => guardedNow("append", log, () => port.append(log, lines)),
  rewrite: (log, start, lines) => guardedNow("rewrite", log, () => port.rewrite(log, start, lines)),
  sync: (log) => guardedNow("sync", log, () => port.sync(log))
})

type Operation = EntryLog.EntryLogError["operation"]

const guarded = <A>(operation: Operation, log: EntryLog.LogId, run: () => Effect.Effect<A, EntryLog.EntryLogError>) =>
  Effect.catchDefect(Effect.suspend(run), (cause) => Effect.fail(failure(operation, log, cause)))

const guardedNow = <A>(
  operation: Operation,
  log: EntryLog.LogId,
  run: () => Result.Result<A, EntryLog.EntryLogError>
): Result.Result<A, EntryLog.EntryLogError> =>
  Result.flatMap(Result.try({ try: run, catch: (cause) => failure(operation, log, cause) }), identity)

const failure = (operation: Operation, log: EntryLog.LogId, cause: unknown): EntryLog.EntryLogError =>
  new EntryLog.EntryLogError({ operation, path: EntryLog.keyOf(log), reason: "Other", cause })
