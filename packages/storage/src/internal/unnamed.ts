/**
 * Unnamed: a log that a path leads to and no session names may be any file. It is looked at before anything of it changes.
 */
import * as Evidence from "@reprise/domain/Evidence"
import * as Projection from "@reprise/domain/Projection"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as path from "node:path"
import * as EntryLog from "../EntryLog.ts"
import * as LineReader from "../LineReader.ts"
import * as ProjectPath from "../ProjectPath.ts"
import * as Placement from "./placement.ts"
import * as Session from "./session.ts"

/** Fails for a file that holds something, and no entry of a transcript; one that is missing will be one. */
export const mustBeTranscript = Effect.fnUntraced(function* (port: EntryLog.EntryLog["Service"], log: EntryLog.LogId) {
  if (log._tag === "Session" || ProjectPath.sessionOf(path.basename(log.path)) !== undefined) return
  const run = Projection.run(Evidence.projection)
  yield* LineReader.stream(log).pipe(
    Stream.takeUntil(({ entry }) => Evidence.isKnown(entry)),
    Stream.runForEach((located) => Effect.sync(() => run.evolve(located))),
    Effect.provideService(EntryLog.EntryLog, port),
    Effect.catchIf(Session.isNotFound, () => Effect.void)
  )
  if (!Evidence.isTranscript(run.extract())) return yield* Effect.fail(new Placement.Unfit("not-transcript", log.path))
})
