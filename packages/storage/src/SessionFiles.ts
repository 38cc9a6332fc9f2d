/**
 * SessionFiles: all that lies on a disk for one session.
 *
 *   <config>/projects/<key>/<session>.jsonl          session.jsonl         the main log
 *                          /<session>.jsonl.<…>      session.jsonl.<…>     what is kept beside it for a remote
 *                          /<session>/…              session/…             sidechains, tool results, sidecars
 *                          /agent-<agent>.jsonl      agents/…              sidechains where old versions put them
 *   <config>/file-history/<session>/…                file-history/…        backups of files that the session changed
 *
 * The right column is the name of a file within its session, wherever that is. Links are not followed and not listed.
 */
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import * as Bringing from "./internal/bringing.ts"
import * as Reasons from "./internal/reasons.ts"
import * as SessionAgents from "./SessionAgents.ts"

/**
 * A file of a session: its name within it, where it is, and its size in bytes.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionFile {
  readonly name: string
  readonly path: string
  readonly size: number
}

/**
 * The directories of a session: that of its project, and those that hold the backups and the plans of all sessions.
 *
 * @category models
 * @since 0.1.0
 */
export interface Directories {
  readonly project: string
  readonly fileHistory: string
  readonly plans: string
}

/**
 * The directories of a session whose main log is at the path: `<config>` is two above the project. Where logs are in no
 * folder `projects`, backups and plans are looked for beside them.
 *
 * @category getters
 * @since 0.1.0
 */
export const directoriesOf = (main: string): Directories => {
  const project = path.dirname(main)
  const isKept = path.basename(path.dirname(project)) === "projects"
  const config = isKept ? path.join(project, "../..") : project
  return { project, fileHistory: path.join(config, "file-history"), plans: path.join(config, "plans") }
}

const MAIN = "session.jsonl"
/** What is kept beside a log: how much of it a remote has, and lines that it does not take. */
const BESIDE = [".ingress", ".conflicts"]
const agentFile = /^agent-[^/]+\.(jsonl|meta\.json)$/

/**
 * Whether a file of a session says something of this machine alone, and goes nowhere with the session: how much of a log a
 * remote has from here, and by which claim.
 *
 * @category guards
 * @since 0.1.0
 */
export const isLocal = (name: string): boolean => name.endsWith(".ingress")

/**
 * Where a file of a session lies by its name; undefined where no session has such a file. A name has no empty part, no
 * `.` and `..`, no backslash and no control character, so the place is always within the directories.
 *
 * @category combinators
 * @since 0.1.0
 */
export const pathOf = (
  name: string,
  sessionId: string,
  { fileHistory, project }: Pick<Directories, "project" | "fileHistory">
): string | undefined => {
  const [first, ...parts] = name.split("/")
  if (isLocal(name)) return undefined
  const beside = BESIDE.find((extension) => name === MAIN + extension)
  if (name === MAIN || beside !== undefined) return path.join(project, `${sessionId}.jsonl${beside ?? ""}`)
  if (parts.length === 0 || !parts.every(Bringing.isName)) return undefined
  if (first === "session") return path.join(project, sessionId, ...parts)
  if (first === "file-history") return path.join(fileHistory, sessionId, ...parts)
  return first === "agents" && parts.length === 1 && agentFile.test(parts[0]!)
    ? path.join(project, parts[0]!)
    : undefined
}

/**
 * Lists the files of a session, the main log last; `sessionId` where that log is not named by it; `beside` where the logs
 * of agents beside the main logs of its project are known.
 *
 * @category reading
 * @since 0.1.0
 */
export const list = Effect.fn("SessionFiles.list")(function* (
  main: string,
  sessionId?: string,
  beside?: SessionAgents.Beside
) {
  const log = EntryLog.at(main)
  const agents = yield* SessionAgents.list(log, beside)
  return yield* Effect.try({
    try: () => {
      const { fileHistory, project } = directoriesOf(main)
      const name = path.basename(main, ".jsonl")
      const files = [
        ...below("session", path.join(project, name)),
        ...below("file-history", path.join(fileHistory, sessionId ?? name))
      ]
      for (const { log: own } of agents) {
        const file = EntryLog.pathOf("/", own)
        if (path.dirname(file) !== project) continue
        files.push(...fileAt(`agents/${path.basename(file)}`, file))
        const meta = file.replace(/\.jsonl$/, ".meta.json")
        files.push(...fileAt(`agents/${path.basename(meta)}`, meta))
      }
      const beside = BESIDE.flatMap((extension) => fileAt(MAIN + extension, main + extension))
      return [...files, ...beside, ...fileAt(MAIN, main)]
    },
    catch: (cause) => new EntryLog.EntryLogError({ operation: "list", path: main, reason: Reasons.of(cause), cause })
  })
})

const fileAt = (name: string, file: string): ReadonlyArray<SessionFile> => {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false })
  return stat?.isFile() === true ? [{ name, path: file, size: stat.size }] : []
}

const below = (name: string, folder: string): ReadonlyArray<SessionFile> => {
  if (fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const inner = `${name}/${entry.name}`
      const file = path.join(folder, entry.name)
      return entry.isDirectory() ? below(inner, file) : fileAt(inner, file)
    })
}
