/**
 * Questions: what is read from the database, each from one state of it.
 */
import { Buffer } from "node:buffer"
import type { DatabaseSync } from "node:sqlite"
import type { Head, Listed, Page, Query, Range } from "../../IngressStore.ts"
import type { StreamAddress } from "../../StreamAddress.ts"
import type { Stored } from "../../StreamLine.ts"
import type { Answer, Question } from "./messages.ts"

/** A row of `ingress_stream`, as far as reading needs it. */
interface Row {
  readonly id: number
  readonly session: string
  readonly sub: string
  readonly last_seq: number
  readonly last_uuid: string | null
  readonly epoch: number
  readonly bytes: number
  readonly boundary_seq: number
  readonly said_first: string
  readonly said_last: string
  readonly updated_at: number
  readonly deleted_at: number | null
}

const headOf = (row: Row): Head => ({
  uuid: row.last_uuid ?? undefined,
  seq: row.last_seq,
  epoch: row.epoch,
  bytes: row.bytes,
  updatedAt: row.updated_at
})

const listed = (row: Row): Listed => ({
  ...headOf(row),
  session: row.session,
  digest: { first: JSON.parse(row.said_first), last: JSON.parse(row.said_last) }
})

/** Reads from the database; it throws what the database throws. */
export const make = (database: DatabaseSync): ((question: Question) => Answer) => {
  const find = database.prepare("SELECT * FROM ingress_stream WHERE tenant = ? AND session = ? AND sub = ?")
  const all = database.prepare("SELECT * FROM ingress_stream WHERE tenant = ? AND session = ? ORDER BY sub")
  const main = "FROM ingress_stream WHERE tenant = ? AND sub = '' AND deleted_at IS NULL AND session > ?"
  const everySession = database.prepare(`SELECT * ${main} ORDER BY session LIMIT ?`)
  const sessionsOf = database.prepare(`SELECT * ${main} AND said_first ->> 'project' = ? ORDER BY session LIMIT ?`)
  const entries = database.prepare(
    `SELECT seq, key, body AS text FROM ingress_entry WHERE stream_id = ? AND seq > ? AND seq <= ?
       AND (seq >= ? OR kind = 'metadata') ORDER BY seq`
  )

  const page = (row: Row, { after, bytes, fromBoundary, lines }: Range): Page => {
    const found: Array<Stored> = []
    let size = 0
    const from = fromBoundary === true ? row.boundary_seq : 0
    for (const entry of entries.iterate(row.id, after, row.last_seq, from)) {
      const { key, seq, text } = entry as unknown as Stored
      size += Buffer.byteLength(text)
      if (found.length > 0 && (found.length >= lines || size > bytes))
        return { lines: found, next: found.at(-1)!.seq, end: false }
      found.push({ seq, key, text })
    }
    return { lines: found, next: Math.max(after, row.last_seq), end: true }
  }

  /** A stream of a session that is there; one that was deleted tells so of all its streams. */
  const found = ({ session, sub, tenant }: StreamAddress, value: (row: Row) => unknown): Answer => {
    const row = find.get(tenant, session, sub) ?? find.get(tenant, session, "")
    if (row === undefined) return { refused: "NotFound" }
    if (row["deleted_at"] !== null) return { refused: "Deleted" }
    return row["sub"] === sub ? { value: value(row as unknown as Row) } : { refused: "NotFound" }
  }

  const sessions = (tenant: string, { after = "", limit, project }: Query) => {
    const rows =
      project === undefined ? everySession.all(tenant, after, limit) : sessionsOf.all(tenant, after, project, limit)
    return (rows as unknown as ReadonlyArray<Row>).map(listed)
  }

  return (question) => {
    switch (question.type) {
      case "head":
        return found(question.stream, headOf)
      case "read":
        return found(question.stream, (row) => page(row, question.range))
      case "streams": {
        const { session, tenant } = question
        return found({ tenant, session, sub: "" }, () =>
          (all.all(tenant, session) as unknown as ReadonlyArray<Row>).map((row) => ({ sub: row.sub, ...headOf(row) }))
        )
      }
      case "sessions":
        return { value: sessions(question.tenant, question.query) }
    }
  }
}
