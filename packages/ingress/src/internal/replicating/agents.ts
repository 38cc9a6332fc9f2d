/**
 * Agents: the logs of a session's agents as streams; and those that can be none, which are told.
 *
 * Today's logs are listed anew each time. Old versions put theirs beside the main log, where none comes to be any more:
 * whose they are only their lines say, so they are looked for once.
 */
import * as Lane from "@reprise/domain/Lane"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionAgents from "@reprise/storage/SessionAgents"
import * as Effect from "effect/Effect"
import * as StreamAddress from "../../StreamAddress.ts"

/** `unnamed`: logs with names that no remote takes, or that another log of the session has already. */
export interface Agents {
  readonly streams: ReadonlyMap<string, EntryLog.LogId>
  readonly unnamed: ReadonlyArray<EntryLog.LogId>
}

/** The agents of the session of a main log, as often as they are asked for. */
export const make = Effect.fnUntraced(function* (main: Extract<EntryLog.LogId, { readonly _tag: "Session" }>) {
  const port = yield* EntryLog.EntryLog
  const old = (yield* SessionAgents.beside(main.project)).get(main.sessionId) ?? []
  const list = Effect.map(port.sidechains(main), (logs): Agents => {
    const streams = new Map<string, EntryLog.LogId>()
    const unnamed: Array<EntryLog.LogId> = []
    const add = (name: string, log: EntryLog.LogId): void => {
      if (name === "" || !StreamAddress.isSub(name) || streams.has(name)) unnamed.push(log)
      else streams.set(name, log)
    }
    for (const log of logs) if (log._tag === "Session") add(Lane.key(log.lane), log)
    for (const { agentId, log } of old) add(agentId, log)
    return { streams, unnamed }
  })
  return { list }
})
