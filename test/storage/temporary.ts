/** A directory of a test's own, and logs in it. */
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

/** Removed with the scope. */
export const directory = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "reprise-"))),
  (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
)

/** Files below a directory that lives as long as the layer. */
export const layer = Layer.unwrap(
  Effect.map(directory, (made) => FileEntryLog.layerWith({ projects: path.join(made, "projects") }))
)
