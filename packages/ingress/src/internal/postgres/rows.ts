/**
 * Rows: what a query gives, as the store says it. Numbers of 64 bits come as `bigint`.
 */
import type { Head } from "../../IngressStore.ts"
import type { SessionDigest } from "../../SessionDigest.ts"

/** A row of `ingress_stream`. */
export interface StreamRow {
  readonly id: bigint
  readonly session: string
  readonly sub: string
  readonly last_seq: bigint
  readonly last_uuid: string | null
  readonly epoch: bigint
  readonly bytes: bigint
  readonly said_first: SessionDigest["first"]
  readonly said_last: SessionDigest["last"]
  readonly updated_at: bigint
  readonly deleted_at: bigint | null
}

/** Where the stream of a row ends. */
export const headOf = (row: StreamRow): Head => ({
  uuid: row.last_uuid ?? undefined,
  seq: Number(row.last_seq),
  epoch: Number(row.epoch),
  bytes: Number(row.bytes),
  updatedAt: Number(row.updated_at)
})
