/** Writers over a log in memory that fails when told to, and over files. */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import { Effect, Layer } from "effect"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

/** The log that is written. */
export const log = EntryLog.session("-w", "00000000-0000-4000-8000-000000000001")
const faulty = FaultyEntryLog.layer.pipe(Layer.provide(EntryLog.layerMemory))
/** Entries with numbers from one up to another. */
export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ type: "n", n: from + i }))
/** Their lines. */
export const lines = (from: number, to: number) =>
  numbers(from, to)
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join("")

/** The text of a log. */
export const textOf = (id: EntryLog.LogId) =>
  Effect.scoped(
    Effect.gen(function* () {
      const reader = yield* (yield* EntryLog.EntryLog).reader(id)
      const into = new Uint8Array(reader.size)
      yield* reader.read(0, into)
      return new TextDecoder().decode(into)
    })
  )

/** Runs with a writer over the faulty log in memory. */
export const withWriter = <A, E>(
  options: SessionWriter.Options,
  use: (
    writer: SessionWriter.SessionWriter["Service"],
    faults: FaultyEntryLog.Faults["Service"]
  ) => Effect.Effect<A, E, EntryLog.EntryLog>
) =>
  Effect.gen(function* () {
    return yield* use(yield* SessionWriter.SessionWriter, yield* FaultyEntryLog.Faults)
  }).pipe(Effect.provide(SessionWriter.layerWith(options).pipe(Layer.provideMerge(faulty))))

/** Runs with a writer over files, and the path of the log. */
export const withFiles = <A, E>(
  use: (writer: SessionWriter.SessionWriter["Service"], file: string) => Effect.Effect<A, E>,
  options: SessionWriter.Options = {},
  files: { readonly maxOpen?: number } = {}
) =>
  Effect.gen(function* () {
    const projects = path.join(yield* Temporary.directory, "projects")
    const layer = SessionWriter.layerWith(options).pipe(Layer.provide(FileEntryLog.layerWith({ projects, ...files })))
    const used = SessionWriter.SessionWriter.use((writer) => use(writer, EntryLog.pathOf(projects, log)))
    return yield* Effect.provide(used, layer)
  }).pipe(Effect.scoped)
