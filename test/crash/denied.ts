/** A program of an ordinary user, which modes bind: `node denied.ts DIRECTORY SHARED`. */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"

const [directory = "", shared = ""] = process.argv.slice(2)
const log = EntryLog.session("-w", "00000000-0000-4000-8000-000000000001")

const program = Effect.gen(function* () {
  const projects = path.join(directory, "closed", "projects")
  fs.mkdirSync(path.dirname(projects), { mode: 0o500 })
  const writing = Effect.gen(function* () {
    const writer = yield* SessionWriter.SessionWriter
    for (let n = 0; n < 3; n++) yield* writer.append(log, { type: "n", n })
    const error = yield* Effect.flip(writer.flush())
    if (error._tag === "FlushError") console.log(error.cause.reason, error.queued)
    fs.chmodSync(path.dirname(projects), 0o700)
    yield* writer.flush()
    console.log(`${fs.readFileSync(EntryLog.pathOf(projects, log), "utf8").split("\n").length - 1} lines`)
  })
  const layer = SessionWriter.layer.pipe(Layer.provide(FileEntryLog.layerWith({ projects })))
  yield* Effect.provide(writing, layer)
  const files = FileEntryLog.layerWith({ projects: path.join(shared, "projects") })
  const append = EntryLog.EntryLog.use((port) => port.append(log, new TextEncoder().encode("{}\n")))
  const outcome = Effect.match(append, { onFailure: ({ reason }) => reason, onSuccess: () => "written" })
  console.log(yield* Effect.provide(outcome, files))
})

Effect.runFork(program)
