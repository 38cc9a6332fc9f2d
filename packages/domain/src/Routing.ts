/**
 * Routing: where an entry goes, whether it is new there, and whether the remote hears of it.
 *
 *   message, main lane       main log, once per uuid       compat and native replica
 *   message, sidechain       its agent's log, always       native replica
 *   metadata                 main log, always              native replica
 *   other, of an agent       its agent's log, always       native replica
 *   other                    main log, always              native replica
 *   progress, Malformed      refused
 *
 * 1. The main lane dedupes: a uuid written twice would loop on resume and collide at the remote.
 * 2. Sidechains are faithful: a fork or subagent inherits repeated ids and needs them to be whole.
 * 3. The compat remote follows the main lane's messages only.
 * 4. Only messages are deduped: the `messageId` of a snapshot is no id of its own.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Entry from "./Entry.ts"
import * as Lane from "./Lane.ts"

/**
 * What is done with an entry: `writes` is empty when the main lane has it already.
 *
 * @category models
 * @since 0.1.0
 */
export interface Decision {
  readonly writes: ReadonlyArray<{ readonly lane: Lane.Lane; readonly entry: Entry.Known | Entry.Unknown }>
  readonly replicate: { readonly compat: boolean; readonly native: boolean }
}

/**
 * Why an entry is not written: `malformed` bytes are moved verbatim or not at all, `progress` would cut the chain of
 * old readers, a sidechain entry `without-agent` has no log to go to, a message `without-id` cannot be a parent.
 *
 * @category errors
 * @since 0.1.0
 */
export class Refused extends Data.TaggedError("Refused")<{
  readonly reason: "malformed" | "progress" | "without-agent" | "without-id"
  readonly entry: Entry.Entry
}> {
  override get message(): string {
    return `an entry of kind ${Entry.kindOf(this.entry)} is not written: ${explanations[this.reason]}`
  }
}

const explanations: { readonly [K in Refused["reason"]]: string } = {
  malformed: "its bytes are no entry; copy the line as bytes instead",
  progress: "progress entries are read and never written",
  "without-agent": "it says isSidechain and names no agentId; set agentId to the agent that it belongs to",
  "without-id": "a message needs a uuid; let the transcript stamp it"
}

/**
 * Decides about one entry; `seen` holds the ids of all messages of the main lane. Total and pure.
 *
 * @category combinators
 * @since 0.1.0
 */
export const decide = (
  seen: { readonly has: (uuid: string) => boolean },
  entry: Entry.Entry
): Result.Result<Decision, Refused> => {
  if (entry instanceof Entry.Malformed) return Result.fail(new Refused({ reason: "malformed", entry }))
  if (entry.type === "progress") return Result.fail(new Refused({ reason: "progress", entry }))
  const lane = laneOf(entry)
  if (lane === undefined) return Result.fail(new Refused({ reason: "without-agent", entry }))
  if (!Entry.isMessage(entry)) return Result.succeed(write(lane, entry, native))
  if (entry.uuid === "") return Result.fail(new Refused({ reason: "without-id", entry }))
  if (lane !== Lane.main) return Result.succeed(write(lane, entry, native))
  return seen.has(entry.uuid) ? nothing : Result.succeed(write(lane, entry, both))
}

/**
 * Whether the entry brings a session's log into being: a prompt or a reply of the main lane does, all else waits.
 *
 * @category guards
 * @since 0.1.0
 */
export const materialises = (entry: Entry.Entry): boolean =>
  (Entry.is("user")(entry) || Entry.is("assistant")(entry)) && entry.isSidechain !== true

/**
 * The lane of an entry; nothing when it says that it belongs to a sidechain and not to whose.
 *
 * @category combinators
 * @since 0.1.0
 */
export const laneOf = (entry: Entry.Known | Entry.Unknown): Lane.Lane | undefined => {
  const { agentId, isSidechain } = entry as { readonly agentId?: unknown; readonly isSidechain?: unknown }
  const agent = typeof agentId === "string" && agentId !== "" ? agentId : undefined
  if (isSidechain === true) return agent === undefined ? undefined : Lane.sidechain(agent)
  return agent !== undefined && followsAgent.has(entry.type) ? Lane.sidechain(agent) : Lane.main
}

/** Kinds without `isSidechain` that stand in their agent's log (FORMAT §7). */
const followsAgent: ReadonlySet<string> = new Set([
  "content-replacement",
  "api-request-shape",
  "api-request-blob",
  "api-request"
])

const write = (lane: Lane.Lane, entry: Entry.Known | Entry.Unknown, replicate: Decision["replicate"]): Decision => ({
  writes: [{ lane, entry }],
  replicate
})

const both: Decision["replicate"] = { compat: true, native: true }
const native: Decision["replicate"] = { compat: false, native: true }
const nothing = Result.succeed<Decision>({ writes: [], replicate: { compat: false, native: false } })
