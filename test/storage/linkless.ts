/** A file system without hard links, until the scope ends. */
import { Effect } from "effect"
import filesystem from "node:fs"
import { syncBuiltinESMExports } from "node:module"

export const linkless = Effect.acquireRelease(
  Effect.sync(() => {
    const { linkSync } = filesystem
    filesystem.linkSync = () => {
      throw Object.assign(new Error("no links here"), { code: "EPERM" })
    }
    syncBuiltinESMExports()
    return linkSync
  }),
  (linkSync) =>
    Effect.sync(() => {
      filesystem.linkSync = linkSync
      syncBuiltinESMExports()
    })
)
