/**
 * Owner: which running program it is, and whether it still runs. Synchronous, over `node:fs` and the process table.
 *
 *   same host, same boot ── pid gone, a zombie, or started at another time ─▶ dead
 *        │                └─ else ─▶ live
 *        ├─ same host, another boot ─▶ dead
 *        └─ another host, or another space of pids (a container) ─▶ unknown: only its heartbeat tells
 *
 * What the system does not tell is not compared: where there is no `/proc`, a pid that is in use again counts as live.
 */
import * as fs from "node:fs"
import * as os from "node:os"

/** A running program. `startTime` is in clock ticks since boot, `since` ISO 8601; the nonce is this claim's alone. */
export interface Owner {
  readonly nonce: string
  readonly host: string
  readonly bootId?: string
  /** The space in which the pid counts. */
  readonly namespace?: string
  readonly pid: number
  readonly startTime?: string
  readonly since: string
}

/** This program. */
export const self = (nonce: string, since: string): Owner => {
  const startTime = statusOf("self")?.startTime
  return { nonce, ...place(), pid: process.pid, ...(startTime === undefined ? {} : { startTime }), since }
}

/** Whether an owner runs, as far as this host can tell. */
export const state = (owner: Owner): "live" | "dead" | "unknown" => {
  const here = place()
  if (owner.host !== here.host) return "unknown"
  if (owner.bootId !== here.bootId) return "dead"
  if (owner.namespace !== here.namespace) return "unknown"
  if (!exists(owner.pid)) return "dead"
  const status = statusOf(owner.pid)
  if (status === undefined) return "live"
  if (status.state === "Z" || status.state === "X") return "dead"
  return owner.startTime === undefined || owner.startTime === status.startTime ? "live" : "dead"
}

/** Reads what `JSON.stringify` made of an owner; nothing when it is not one. */
export const parse = (text: string): Owner | undefined => {
  try {
    const value = JSON.parse(text) as { readonly [key: string]: unknown } | null
    const { host, nonce, pid, since } = value ?? {}
    const isOwner = typeof host === "string" && typeof since === "string" && Number.isSafeInteger(pid)
    return isOwner && typeof nonce === "string" && /^[\w-]{1,64}$/.test(nonce) ? (value as unknown as Owner) : undefined
  } catch {
    return undefined
  }
}

const place = (): Pick<Owner, "host" | "bootId" | "namespace"> => {
  const bootId = attempt(() => fs.readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim())
  const namespace = attempt(() => fs.readlinkSync("/proc/self/ns/pid"))
  return {
    host: os.hostname(),
    ...(bootId === undefined ? {} : { bootId }),
    ...(namespace === undefined ? {} : { namespace })
  }
}

const exists = (pid: number): boolean => {
  if (pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return (cause as { readonly code?: unknown }).code === "EPERM"
  }
}

/** The fields behind the name, which may hold anything, in `/proc/<pid>/stat`: the first is the state. */
const statusOf = (pid: number | "self"): { readonly state: string; readonly startTime: string } | undefined => {
  const text = attempt(() => fs.readFileSync(`/proc/${pid}/stat`, "latin1"))
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ")
  const [state, startTime] = [fields?.[0], fields?.[19]]
  return state === undefined || startTime === undefined ? undefined : { state, startTime }
}

const attempt = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch {
    return undefined
  }
}
