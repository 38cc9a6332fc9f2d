/** A directory of a test's own, removed with its scope. */
import { Effect } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

export const directory = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "reprise-"))),
  (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
)
