/**
 * Places: where the streams of a session lie, and which of them lie nowhere.
 *
 *   ""        <project>/<session>.jsonl
 *   "a1"      <project>/<session>/subagents/agent-a1.jsonl, or where an agent of that name has its log already
 *   "x/a1"    <project>/<session>/subagents/x/agent-a1.jsonl
 *
 * The names come from a remote. One that is no name of a stream has no place, and no place is reached through a link: a
 * folder of the session that leads elsewhere is not entered, and a log that is a link not opened.
 */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionAgents from "@reprise/storage/SessionAgents"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as StreamAddress from "../StreamAddress.ts"

/** Where a stream lies; or why it has no place, and nothing of it is written. */
export type Place =
  | { readonly _tag: "At"; readonly log: EntryLog.LogId; readonly file: string }
  | { readonly _tag: "Nowhere"; readonly why: string }

/** Finds the places of a session's streams, by its main log. */
export const make = Effect.fnUntraced(function* (main: EntryLog.LogId) {
  const agents = yield* SessionAgents.list(main)
  return (stream: string): Place => {
    const lane = StreamAddress.laneOf(stream)
    if (lane === undefined) return nowhere(`${JSON.stringify(stream.slice(0, 80))} is no name of a stream`)
    const known = agents.filter(({ agentId, subPath }) => [...subPath, agentId].join("/") === stream)
    const named = known.length > 0 ? known : agents.filter(({ agentId }) => agentId === stream)
    const log = named.length === 1 ? named[0]!.log : EntryLog.withLane(main, lane)
    const file = EntryLog.pathOf("/", log)
    const link = linkIn(path.dirname(EntryLog.pathOf("/", main)), file)
    return link === undefined ? { _tag: "At", log, file } : nowhere(`${link} is a link or no directory`)
  }
})

const nowhere = (why: string): Place => ({ _tag: "Nowhere", why })

/** What is in the way below a directory: a folder that is a link or none, or a log that is a link. */
const linkIn = (directory: string, file: string): string | undefined => {
  const parts = path.relative(directory, file).split(path.sep)
  let at = directory
  for (const [i, part] of parts.entries()) {
    at = path.join(at, part)
    const stat = fs.lstatSync(at, { throwIfNoEntry: false })
    if (stat === undefined) return undefined
    if (i < parts.length - 1 ? !stat.isDirectory() : !stat.isFile()) return at
  }
  return undefined
}
