/** A program that has few descriptors, and writes to more logs than that: it prints how many lines are in how many. */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"

const program = Effect.gen(function* () {
  const projects = yield* Temporary.directory
  const logs = Array.from({ length: 100 }, (_, i) => EntryLog.session("-w", `s${i}`))
  const writing = Effect.gen(function* () {
    const writer = yield* SessionWriter.SessionWriter
    for (let round = 0; round < 3; round++) {
      for (const log of logs) yield* writer.append(log, { type: "n", n: round })
      yield* writer.flush()
    }
  })
  const files = FileEntryLog.layerWith({ projects, maxOpen: 1000 })
  yield* Effect.provide(writing, SessionWriter.layer.pipe(Layer.provide(files)))
  const folder = path.join(projects, "-w")
  const lines = fs.readdirSync(folder).flatMap((name) => fs.readFileSync(path.join(folder, name), "utf8").split("\n"))
  console.log(`${lines.filter((line) => line !== "").length} lines in ${fs.readdirSync(folder).length} logs`)
})

Effect.runFork(Effect.scoped(program))
