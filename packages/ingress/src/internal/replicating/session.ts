/**
 * Session: what the streams of a session that is replicated share.
 */
import type * as EntryLog from "@reprise/storage/EntryLog"
import type * as Effect from "effect/Effect"
import type { Ingress, Writer } from "../../Ingress.ts"
import type * as Replica from "./replica.ts"
import type * as Tail from "./tail.ts"

/** A session: its replicas by the names of their streams, the main one always, and what it has claimed. */
export interface Session {
  readonly id: string
  readonly port: EntryLog.EntryLog["Service"]
  readonly ingress: Ingress["Service"]
  readonly main: Replica.Replica
  readonly replicas: Map<string, Replica.Replica>
  readonly most: Tail.Most
  readonly newWriterId: Effect.Effect<string>
  writer: Writer | undefined
  /** When the remote is to be asked where its streams end, in milliseconds since 1970. */
  verifyAt: number
}
