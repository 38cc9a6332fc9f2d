/**
 * SessionAgents: the logs of a session's agents: in its folder, at any depth, and beside the main log where old versions
 * put them.
 *
 *   <project>/<session>/subagents/[<sub>/…]agent-<agent>.jsonl · .meta.json
 *   <project>/agent-<agent>.jsonl                                              old; whose it is, its lines say
 */
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import type * as Projection from "@reprise/domain/Projection"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import * as LineReader from "./LineReader.ts"

/**
 * The log of an agent. `meta` is what the file beside it holds, where that is an object of JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface AgentLog {
  readonly agentId: string
  readonly subPath: ReadonlyArray<string>
  readonly log: EntryLog.LogId
  readonly meta: { readonly [key: string]: unknown } | undefined
}

/**
 * Logs of agents beside the main logs of a project, by the session that their lines name.
 *
 * @category models
 * @since 0.1.0
 */
export type Beside = ReadonlyMap<string, ReadonlyArray<AgentLog>>

/**
 * Finds the logs of agents beside the main logs of a project: for many sessions of it, once.
 *
 * @category reading
 * @since 0.1.0
 */
export const beside = Effect.fn("SessionAgents.beside")(function* (project: string) {
  const port = yield* EntryLog.EntryLog
  const found = new Map<string, Array<AgentLog>>()
  for (const { path: file } of (yield* port.listing(project)).passed) {
    const agentId = /^agent-(.+)\.jsonl$/.exec(path.basename(file))?.[1]
    if (agentId === undefined) continue
    const log = EntryLog.at(file)
    const sessionId = yield* sessionIn(log)
    if (sessionId === undefined) continue
    const own = found.get(sessionId)
    const agent: AgentLog = { agentId, subPath: [], log, meta: metaOf(file) }
    if (own === undefined) found.set(sessionId, [agent])
    else own.push(agent)
  }
  const all: Beside = found
  return all
})

/**
 * Lists the logs of a session's agents, those in its folder first; `known`: those beside the main logs of its project,
 * where they were looked for already.
 *
 * @category reading
 * @since 0.1.0
 */
export const list = Effect.fn("SessionAgents.list")(function* (session: EntryLog.LogId, known?: Beside) {
  const port = yield* EntryLog.EntryLog
  const found: Array<AgentLog> = []
  for (const log of yield* port.sidechains(session)) {
    if (log._tag !== "Session" || log.lane._tag !== "Sidechain") continue
    const { agentId, subPath } = log.lane
    found.push({ agentId, subPath, log, meta: metaOf(EntryLog.placeOf(port, log)) })
  }
  if (session._tag !== "Session") return found
  const others = known ?? (yield* beside(session.project))
  return [...found, ...(others.get(session.sessionId) ?? [])]
})

/**
 * Runs a projection over the log of an agent of a session; undefined where it has none of its own.
 *
 * @category reading
 * @since 0.1.0
 */
export const load = Effect.fn("SessionAgents.load")(function* <S>(
  session: EntryLog.LogId,
  agentId: string,
  projection: Projection.Projection<Line.Located, S>
) {
  const found = (yield* list(session)).find((one) => one.agentId === agentId)
  return found === undefined ? undefined : yield* LineReader.fold(found.log, projection)
})

/** The session that the first line which names one does; one that cannot be read belongs to none. */
const sessionIn = (log: EntryLog.LogId): Effect.Effect<string | undefined, never, EntryLog.EntryLog> =>
  LineReader.stream(log).pipe(
    Stream.map(({ entry }) =>
      entry instanceof Entry.Malformed ? undefined : (entry as { sessionId?: unknown }).sessionId
    ),
    Stream.filter((sessionId): sessionId is string => typeof sessionId === "string" && sessionId !== ""),
    Stream.take(1),
    Stream.runCollect,
    Effect.map(([sessionId]) => sessionId),
    Effect.orElseSucceed(() => undefined)
  )

const metaOf = (file: string): AgentLog["meta"] => {
  const beside = file.replace(/\.jsonl$/, ".meta.json")
  try {
    if (fs.lstatSync(beside, { throwIfNoEntry: false })?.isFile() !== true) return undefined
    const meta: unknown = JSON.parse(fs.readFileSync(beside, "utf8"))
    return typeof meta === "object" && meta !== null && !Array.isArray(meta)
      ? (meta as { readonly [key: string]: unknown })
      : undefined
  } catch {
    return undefined
  }
}
