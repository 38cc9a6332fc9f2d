/**
 * Address: which log. `EntryLog` exports what is here.
 */
import * as Lane from "@reprise/domain/Lane"
import * as Data from "effect/Data"
import * as path from "node:path"
import * as ProjectPath from "../ProjectPath.ts"

/**
 * The address of a log: a lane of a session, where `project` is a key below the projects directory or an absolute
 * directory of its own; or any one file.
 *
 * @category models
 * @since 0.1.0
 */
export type LogId = Data.TaggedEnum<{
  readonly Session: ProjectPath.Place
  readonly File: { readonly path: string }
}>

const { $match, File, Session } = Data.taggedEnum<LogId>()

/**
 * The log of a session's lane, by default of its main lane.
 *
 * @category constructors
 * @since 0.1.0
 */
export const session = (project: string, sessionId: string, lane: Lane.Lane = Lane.main): LogId =>
  Session({ project, sessionId, lane })

/**
 * The log at a path: a lane of a session if it is named like one, else that one file.
 *
 * @category constructors
 * @since 0.1.0
 */
export const at = (file: string): LogId => {
  const place = ProjectPath.parse(path.resolve(file))
  return place === undefined ? File({ path: path.resolve(file) }) : Session(place)
}

/**
 * The log of another lane of the same session.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withLane = (log: LogId, lane: Lane.Lane): LogId =>
  log._tag === "Session"
    ? session(log.project, log.sessionId, lane)
    : session(path.dirname(log.path), path.parse(log.path).name, lane)

/**
 * Branches on the kind of address.
 *
 * @category combinators
 * @since 0.1.0
 */
export const match = $match

/**
 * The path of a log, where `projects` is the directory that project keys are below. Equal for equal logs.
 *
 * @category combinators
 * @since 0.1.0
 */
export const pathOf = (projects: string, log: LogId): string =>
  log._tag === "File" ? log.path : ProjectPath.transcript({ ...log, project: path.resolve(projects, log.project) })

/**
 * A string that is equal for equal addresses, for use as a map key.
 *
 * @category combinators
 * @since 0.1.0
 */
export const keyOf = (log: LogId): string => pathOf("/", log)
