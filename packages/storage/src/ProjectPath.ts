/**
 * ProjectPath: directory ⇄ project key ⇄ transcript path (FORMAT §1).
 *
 *   <config>/projects/<key>/<session>.jsonl                                     Main
 *   <config>/projects/<key>/<session>/subagents/[<sub>/…]agent-<agent>.jsonl    Sidechain(agent, [sub, …])
 *
 * 1. The key comes from the *resolved* directory: whoever follows symlinks does it before asking for a key.
 * 2. A key leads back to no directory: `a.b` and `a-b` share one. The directory of a session is the `cwd` of its entries.
 * 3. All but the configuration is about strings: nothing here looks at a disk.
 */
import * as Identifier from "@reprise/domain/Identifier"
import * as Lane from "@reprise/domain/Lane"
import * as Config from "effect/Config"
import * as Option from "effect/Option"
import * as os from "node:os"
import * as path from "node:path"

/** Units of a key that are kept; a longer one is cut and gets a hash. */
const KEPT = 200

/**
 * The project key of a resolved directory: every UTF-16 unit outside `[A-Za-z0-9]` becomes `-`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const keyOf = (directory: string): Identifier.ProjectKey => {
  const key = directory.replace(/[^A-Za-z0-9]/g, "-")
  return Identifier.ProjectKey.make(key.length <= KEPT ? key : `${key.slice(0, KEPT)}-${hash(directory)}`)
}

const hash = (text: string): string => {
  let h = 0
  for (let i = 0; i < text.length; i++) h = (Math.imul(31, h) + text.charCodeAt(i)) | 0
  return Math.abs(h).toString(36)
}

/**
 * Where a transcript lies: its session and lane, and the directory of the project that holds it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly project: string
  readonly sessionId: string
  readonly lane: Lane.Lane
}

const EXTENSION = ".jsonl"
const SUBAGENTS = "subagents"
const AGENT = "agent-"

/**
 * The folder of a session's sidechains.
 *
 * @category combinators
 * @since 0.1.0
 */
export const subagents = (place: Pick<Place, "project" | "sessionId">): string =>
  path.join(place.project, place.sessionId, SUBAGENTS)

/**
 * The path of a transcript.
 *
 * @category combinators
 * @since 0.1.0
 */
export const transcript = (place: Place): string =>
  Lane.match(place.lane, {
    Main: () => path.join(place.project, place.sessionId + EXTENSION),
    Sidechain: ({ agentId, subPath }) => path.join(subagents(place), ...subPath, AGENT + agentId + EXTENSION)
  })

/**
 * The place of a transcript by its path; nothing when the file is no transcript by its name. The inverse of
 * {@link transcript}.
 *
 * @category combinators
 * @since 0.1.0
 */
export const parse = (file: string): Place | undefined => {
  const name = nameOf(path.basename(file))
  if (name === undefined) return undefined
  const folder = path.dirname(file)
  const agentId = agentOf(name)
  if (agentId !== undefined) {
    const parts = folder.split(path.sep)
    const at = parts.lastIndexOf(SUBAGENTS)
    const sessionId = parts[at - 1]
    if (at >= 1 && sessionId !== undefined && sessionId !== "") {
      const project = parts.slice(0, at - 1).join(path.sep) || (path.isAbsolute(file) ? path.sep : ".")
      return { project, sessionId, lane: Lane.sidechain(agentId, parts.slice(at + 1)) }
    }
  }
  return { project: folder, sessionId: name, lane: Lane.main }
}

/**
 * The session of a main transcript by its file name; nothing when that is no UUID with `.jsonl`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const sessionOf = (fileName: string): Identifier.SessionId | undefined => {
  const name = nameOf(fileName)
  return Identifier.isSessionId(name) ? name : undefined
}

/**
 * The lane of a sidechain's transcript by its path below the `subagents` folder, as its parts; nothing for other files.
 *
 * @category combinators
 * @since 0.1.0
 */
export const laneOf = (parts: ReadonlyArray<string>): Lane.Lane | undefined => {
  const agentId = agentOf(nameOf(parts.at(-1) ?? ""))
  return agentId === undefined ? undefined : Lane.sidechain(agentId, parts.slice(0, -1))
}

const nameOf = (fileName: string): string | undefined =>
  fileName.endsWith(EXTENSION) && fileName.length > EXTENSION.length ? fileName.slice(0, -EXTENSION.length) : undefined

/**
 * Whether a folder may be that of a project key: it is named so, or, where the key was cut, it differs in the hash
 * alone; other programs may hash differently (FORMAT §1).
 *
 * @category guards
 * @since 0.1.0
 */
export const isFolderOf = (key: string, folder: string): boolean =>
  folder === key || (isCut(key) && isCut(folder) && key.slice(0, KEPT) === folder.slice(0, KEPT))

/**
 * Whether a key was cut, so that folders with other hashes may hold its sessions too.
 *
 * @category guards
 * @since 0.1.0
 */
export const isCut = (key: string): boolean => key.length > KEPT && key[KEPT] === "-"

/**
 * The spellings of a directory in the normal forms of Unicode: the same one where the file system folds them.
 *
 * @category combinators
 * @since 0.1.0
 */
export const spellings = (directory: string): ReadonlyArray<string> => [
  ...new Set([directory, directory.normalize("NFC"), directory.normalize("NFD")])
]

const agentOf = (name: string | undefined): string | undefined =>
  name?.startsWith(AGENT) && name.length > AGENT.length ? name.slice(AGENT.length) : undefined

/**
 * The configuration directory: `$CLAUDE_CONFIG_DIR`, or `.claude` in the home directory where that is unset or empty.
 *
 * @category config
 * @since 0.1.0
 */
export const configDirectory: Config.Config<string> = Config.option(Config.NonEmptyString("CLAUDE_CONFIG_DIR")).pipe(
  Config.map(Option.getOrElse(() => path.join(os.homedir(), ".claude")))
)

/**
 * The directory that holds one folder per project.
 *
 * @category config
 * @since 0.1.0
 */
export const projectsDirectory: Config.Config<string> = Config.map(configDirectory, (config) =>
  path.join(config, "projects")
)
