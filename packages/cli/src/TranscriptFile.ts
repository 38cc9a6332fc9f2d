/**
 * TranscriptFile: one transcript named by its path, folded as it is read. It is never written, and no more than a
 * window and a line of it is held beside the state.
 */
import * as Line from "@reprise/domain/Line"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Projection from "@reprise/domain/Projection"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/**
 * A path that cannot be read as a transcript.
 *
 * @category errors
 * @since 0.1.0
 */
export class TranscriptUnreadable extends Schema.TaggedError<TranscriptUnreadable>()("TranscriptUnreadable", {
  file: Schema.String,
  reason: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `${this.file}: expected a readable transcript file, found ${this.reason}; check the path and its permissions`
  }
}

/** Bytes per read. */
const window = 1024 * 1024

/**
 * Folds the entries of a file.
 *
 * @category reading
 * @since 0.1.0
 */
export const fold = Effect.fn("TranscriptFile.fold")(function* <S>(
  file: string,
  projection: Projection.Projection<Line.Located, S>
) {
  const fs = yield* FileSystem.FileSystem
  const run = Projection.run(projection)
  const splitter = LineSplitter.make((line, at) => {
    for (const located of Line.decode(line, at)) run.evolve(located)
  })
  yield* Stream.runForEachArray(fs.stream(file, { chunkSize: window }), (chunks) =>
    Effect.sync(() => {
      for (const chunk of chunks) splitter.push(chunk)
    })
  ).pipe(Effect.mapError((cause) => new TranscriptUnreadable({ file, reason: cause.reason._tag, cause })))
  splitter.end()
  return run.extract()
})

/**
 * The session that a transcript belongs to: its file name where that is a UUID, else what its first line says.
 *
 * @category getters
 * @since 0.1.0
 */
export const sessionIdOf = (path: Path.Path, file: string, written: string | undefined): string | null => {
  const name = path.basename(file, ".jsonl")
  return isUuid.test(name) ? name : (written ?? null)
}

const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
