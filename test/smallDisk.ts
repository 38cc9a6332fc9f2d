/** A disk that is soon full. */
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import * as Temporary from "./storage/temporary.ts"

const command = (name: string, ...args: ReadonlyArray<string>): boolean => spawnSync(name, args).status === 0

/** A file system of memory of this size, where this user may mount one; else nothing. */
export const make = Effect.fnUntraced(function* (size: string) {
  const directory = yield* Temporary.directory
  const mount = () =>
    process.getuid?.() === 0 && command("mount", "-t", "tmpfs", "-o", `size=${size},mode=0700`, "none", directory)
  const isMounted = yield* Effect.acquireRelease(Effect.sync(mount), (mounted) =>
    Effect.sync(() => mounted && command("umount", "-l", directory))
  )
  if (!isMounted) return undefined
  return { directory, remount: (options: string) => command("mount", "-o", `remount,${options}`, directory) }
})
