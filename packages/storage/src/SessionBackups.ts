/**
 * SessionBackups: the backups of files that sessions changed, in files.
 *
 *   <config>/file-history/<session>/<hash>@v<version>
 *
 * 1. A backup never changes once it is made. A session that goes on under another id gets links to those of the first
 *    one, and copies where the file system has no links.
 * 2. What is there already is left alone: bringing twice is bringing once.
 * 3. Names come from a log, which is not trusted: one that leads out of its folder, or to a link, is that of no backup.
 */
import * as Identifier from "@reprise/domain/Identifier"
import * as Effect from "effect/Effect"
import * as path from "node:path"
import * as Bringing from "./internal/bringing.ts"
import * as Directories from "./internal/directories.ts"

/**
 * The folder that holds the backups of all sessions, and the session.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly fileHistory: string
  readonly sessionId: string
}

/**
 * The files that were brought, and the names of those that are nowhere.
 *
 * @category models
 * @since 0.1.0
 */
export interface Brought {
  readonly brought: ReadonlyArray<string>
  readonly gone: ReadonlyArray<string>
}

/**
 * Brings the backups of these names from the first of some places that has them.
 *
 * @category running
 * @since 0.1.0
 */
export const bring = Effect.fn("SessionBackups.bring")(function* (
  names: Iterable<string>,
  options: { readonly from: ReadonlyArray<Place>; readonly to: Place }
) {
  const to = folderOf(options.to)
  const from = options.from.flatMap((place) => folderOf(place) ?? [])
  return yield* Effect.try({
    try: () => {
      const changed: Directories.Changed = new Set()
      const brought: Array<string> = []
      const gone: Array<string> = []
      for (const name of new Set(names)) {
        if (to === undefined || !Bringing.isName(name)) {
          gone.push(name)
          continue
        }
        const file = path.join(to, name)
        const sources = from.map((folder) => path.join(folder, name))
        const how = Bringing.bring(sources, file, "link", changed)
        if (how === "brought") brought.push(file)
        if (how === "gone") gone.push(name)
      }
      const failure = Directories.sync(changed)
      if (failure !== null) throw failure
      const all: Brought = { brought, gone }
      return all
    },
    catch: Bringing.errorOf(to ?? "")
  })
})

const folderOf = ({ fileHistory, sessionId }: Place): string | undefined =>
  Identifier.isSessionId(sessionId) ? path.join(fileHistory, sessionId) : undefined
