/**
 * Claims: what concerns a session as a whole. Its main row is locked first, then all its rows are changed, so that
 * appends on their way are before it and later ones behind.
 */
import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { Deleted, NotFound } from "../../IngressError.ts"
import { headOf, type StreamRow } from "./rows.ts"

/** Claims and removes sessions of a database. */
export const make = (sql: PgClient.PgClient) => {
  const lock = (tenant: string, session: string) =>
    Effect.map(
      sql<StreamRow>`SELECT * FROM ingress_stream
        WHERE tenant = ${tenant} AND session = ${session} AND sub = '' FOR UPDATE`,
      ([row]) => row
    )

  const claim = Effect.fnUntraced(function* (tenant: string, session: string, writer: string, now: number) {
    yield* sql`INSERT INTO ingress_stream (tenant, session, sub, updated_at) VALUES (${tenant}, ${session}, '', ${now})
      ON CONFLICT DO NOTHING`
    const main = (yield* lock(tenant, session))!
    if (main.deleted_at !== null) return yield* new Deleted()
    const rows = yield* sql<StreamRow>`UPDATE ingress_stream SET epoch = ${main.epoch + 1n}, writer = ${writer}
      WHERE tenant = ${tenant} AND session = ${session} RETURNING *`
    return headOf(rows.find(({ sub }) => sub === "")!)
  })

  const remove = Effect.fnUntraced(function* (tenant: string, session: string, now: number) {
    const main = yield* lock(tenant, session)
    if (main === undefined || main.deleted_at !== null) return yield* new NotFound()
    yield* sql`UPDATE ingress_stream SET deleted_at = ${now} WHERE tenant = ${tenant} AND session = ${session}`
    yield* sql`DELETE FROM ingress_entry WHERE stream_id IN
      (SELECT id FROM ingress_stream WHERE tenant = ${tenant} AND session = ${session})`
  })

  return {
    claim: (...args: Parameters<typeof claim>) => sql.withTransaction(claim(...args)),
    remove: (...args: Parameters<typeof remove>) => sql.withTransaction(remove(...args))
  }
}
