/**
 * Stamp: a body becomes an entry, with its keys in the order of FORMAT §8.
 *
 *   parentUuid logicalParentUuid? isSidechain agentId? type subtype? message|attachment|content?
 *   uuid timestamp …rest of the body… userType entrypoint? cwd sessionId version gitBranch?
 */
import type * as Entry from "@reprise/domain/Entry"

/** What a writer knows and a body does not. */
export interface Stamp {
  readonly parentUuid: string | null
  readonly agentId: string | undefined
  readonly uuid: string
  readonly timestamp: string
  readonly sourceToolAssistantUUID: string | undefined
  readonly entrypoint: string | undefined
  readonly cwd: string
  readonly sessionId: string
  readonly version: string
  readonly gitBranch: string | undefined
}

/** Is it a version that readers of a log can compare? */
export const isVersion = (version: string): boolean => /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/.test(version)

/** Keys that stand before the id; the others of a body stand behind it. */
const leading = ["message", "attachment", "content"]

/** Keys that only a stamp may set. */
export const stamped: ReadonlySet<string> = new Set(
  "parentUuid isSidechain agentId uuid timestamp userType entrypoint cwd sessionId version gitBranch".split(" ")
)
const placed: ReadonlySet<string> = new Set([...stamped, "logicalParentUuid", "type", "subtype", ...leading])

/** A key as any other, also where assigning to it would change what the entry is. */
const own = { configurable: true, enumerable: true, writable: true }

/** The entry of a body. */
export const message = (body: { readonly type: Entry.Message["type"] }, stamp: Stamp): Entry.Message => {
  const from = body as { readonly [key: string]: unknown }
  const entry: { [key: string]: unknown } = { parentUuid: stamp.parentUuid }
  const set = (key: string, value: unknown): void => {
    if (value !== undefined) entry[key] = value
  }
  set("logicalParentUuid", from["logicalParentUuid"])
  entry["isSidechain"] = stamp.agentId !== undefined
  set("agentId", stamp.agentId)
  entry["type"] = body.type
  set("subtype", from["subtype"])
  for (const key of leading) set(key, from[key])
  entry["uuid"] = stamp.uuid
  entry["timestamp"] = stamp.timestamp
  for (const key in from) {
    if (key === "__proto__") Object.defineProperty(entry, key, { ...own, value: from[key] })
    else if (!placed.has(key)) set(key, from[key])
  }
  if (entry["sourceToolAssistantUUID"] === undefined) set("sourceToolAssistantUUID", stamp.sourceToolAssistantUUID)
  entry["userType"] = "external"
  set("entrypoint", stamp.entrypoint)
  entry["cwd"] = stamp.cwd
  entry["sessionId"] = stamp.sessionId
  entry["version"] = stamp.version
  set("gitBranch", stamp.gitBranch)
  return entry as unknown as Entry.Message
}
