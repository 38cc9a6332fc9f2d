/**
 * Reading: each answer is one statement, so it is of one moment.
 */
import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { Deleted, NotFound } from "../../IngressError.ts"
import type { Listed, Page, Query, Range } from "../../IngressStore.ts"
import type { StreamAddress } from "../../StreamAddress.ts"
import { headOf, type StreamRow } from "./rows.ts"

/** A row of a page; those of an empty page have no entry. */
interface PageRow {
  readonly last_seq: bigint
  readonly seq: bigint | null
  readonly key: string
  readonly body: string
}

const listed = (row: StreamRow): Listed => ({
  ...headOf(row),
  session: row.session,
  digest: { first: row.said_first, last: row.said_last }
})

const pageOf = (rows: readonly [PageRow, ...ReadonlyArray<PageRow>], after: number): Page => {
  const end = Number(rows[0].last_seq)
  const lines = rows.flatMap(({ body, key, seq }) => (seq === null ? [] : [{ seq: Number(seq), key, text: body }]))
  const last = lines.at(-1)?.seq ?? Math.max(after, end)
  return { lines, next: last, end: last >= end }
}

/** Reads from a database. */
export const make = (sql: PgClient.PgClient) => {
  /** Why a stream gave no row. */
  const missing = ({ session, tenant }: StreamAddress): Effect.Effect<never, NotFound | Deleted | SqlError> =>
    Effect.flatMap(
      sql<{ deleted: boolean }>`SELECT deleted_at IS NOT NULL AS deleted FROM ingress_stream
        WHERE tenant = ${tenant} AND session = ${session} AND sub = ''`,
      ([row]): Effect.Effect<never, NotFound | Deleted> =>
        Effect.fail(row?.deleted === true ? new Deleted() : new NotFound())
    )

  const page = (stream: StreamAddress, { after, bytes, fromBoundary = false, lines }: Range) =>
    sql<PageRow>`SELECT s.last_seq, e.seq, e.key, e.body FROM ingress_stream s LEFT JOIN LATERAL (
        SELECT * FROM (
          SELECT seq, key, body, sum(octet_length(body)) OVER place AS size, row_number() OVER place AS number
          FROM ingress_entry WHERE stream_id = s.id AND seq > ${after}
            AND (NOT ${fromBoundary} OR seq >= s.boundary_seq OR kind = 'metadata')
          WINDOW place AS (ORDER BY seq) ORDER BY seq LIMIT ${lines}
        ) AS entries WHERE size <= ${bytes} OR number = 1
      ) AS e ON true
      WHERE s.tenant = ${stream.tenant} AND s.session = ${stream.session} AND s.sub = ${stream.sub}
        AND s.deleted_at IS NULL
      ORDER BY e.seq`.pipe(
      Effect.flatMap(([row, ...rest]) =>
        row === undefined ? missing(stream) : Effect.succeed(pageOf([row, ...rest], after))
      )
    )

  const head = (stream: StreamAddress) =>
    sql<StreamRow>`SELECT * FROM ingress_stream WHERE tenant = ${stream.tenant} AND session = ${stream.session}
      AND sub = ${stream.sub} AND deleted_at IS NULL`.pipe(
      Effect.flatMap(([row]) => (row === undefined ? missing(stream) : Effect.succeed(headOf(row))))
    )

  const streams = (tenant: string, session: string) =>
    sql<StreamRow>`SELECT * FROM ingress_stream WHERE tenant = ${tenant} AND session = ${session}
      AND deleted_at IS NULL ORDER BY sub`.pipe(
      Effect.flatMap((rows) =>
        rows.length === 0
          ? missing({ tenant, session, sub: "" })
          : Effect.succeed(rows.map((row) => ({ sub: row.sub, ...headOf(row) })))
      )
    )

  const sessions = (tenant: string, { after = "", limit, project }: Query) =>
    Effect.map(
      sql<StreamRow>`SELECT * FROM ingress_stream WHERE tenant = ${tenant} AND sub = '' AND deleted_at IS NULL
        AND session > ${after} AND ${project === undefined ? sql`true` : sql`said_first ->> 'project' = ${project}`}
        ORDER BY session LIMIT ${limit}`,
      (rows) => rows.map(listed)
    )

  return { page, head, streams, sessions }
}
