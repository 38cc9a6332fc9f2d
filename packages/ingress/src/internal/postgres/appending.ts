/**
 * Appending: one statement where all goes well, and the rule where it does not.
 *
 *   UPDATE the stream where it ends as the attempt says ─▶ INSERT the lines        1 row: appended
 *        no row: another head, epoch, or no stream ┐
 *        a key is there already: nothing happened  ┴─▶ lock the row, read, judge, insert what the rule says
 *
 * 1. The row of the stream is the lock: who changes it waits for the one before, and streams do not meet.
 * 2. The statement appends where the rule says `Accepted`, all lines being new. In every other case it does nothing.
 * 3. A new stream takes its epoch from the main one while that is locked, so no claim can miss it.
 */
import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { Buffer } from "node:buffer"
import * as AppendChain from "../../AppendChain.ts"
import { Deleted, type HeadMismatch, type KeyReused, type StaleEpoch } from "../../IngressError.ts"
import type { Appended } from "../../IngressStore.ts"
import * as SessionDigest from "../../SessionDigest.ts"
import type { StreamAddress } from "../../StreamAddress.ts"
import type { StreamLine } from "../../StreamLine.ts"
import { answerOf } from "../verdict.ts"
import type { StreamRow } from "./rows.ts"

type Attempt = AppendChain.Attempt<StreamLine>
type Refused = HeadMismatch | StaleEpoch | KeyReused | Deleted

/** What lines add to the row of their stream; `boundary` is the number of the last one among them, 0 for none. */
const addition = (stream: StreamAddress, lines: ReadonlyArray<StreamLine>, now: number) => {
  const { first, last } = stream.sub === "" ? SessionDigest.of(lines) : SessionDigest.empty
  return {
    now,
    count: lines.length,
    uuid: lines.findLast(({ uuid }) => uuid !== undefined)?.uuid ?? null,
    bytes: lines.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
    boundary: lines.findLastIndex(({ kind }) => kind === "boundary") + 1,
    first: JSON.stringify(first),
    last: JSON.stringify(last)
  }
}
type Addition = ReturnType<typeof addition>

/** Appends to streams of a database. */
export const make = (sql: PgClient.PgClient) => {
  const sets = ({ boundary, bytes, count, first, last, now, uuid }: Addition) =>
    sql`last_seq = last_seq + ${count}, last_uuid = coalesce(${uuid}, last_uuid), bytes = bytes + ${bytes},
      boundary_seq = CASE WHEN ${boundary}::bigint > 0 THEN last_seq + ${boundary} ELSE boundary_seq END,
      said_first = ${first}::jsonb || said_first, said_last = said_last || ${last}::jsonb, updated_at = ${now}`

  const inserts = (lines: ReadonlyArray<StreamLine>) =>
    sql`INSERT INTO ingress_entry (stream_id, seq, key, hash, kind, body)
      SELECT id, last_seq - ${lines.length} + place, key, hash, kind, body FROM grown, unnest(
        ${lines.map(({ key }) => key)}::text[], ${lines.map(({ hash }) => hash)}::text[],
        ${lines.map(({ kind }) => kind)}::text[], ${lines.map(({ text }) => text)}::text[]
      ) WITH ORDINALITY AS line (key, hash, kind, body, place)`

  /** The one statement; undefined where it found no row that fits, or a key that is there. */
  const fast = (
    { session, sub, tenant }: StreamAddress,
    { epoch, lastUuid, lines }: Attempt,
    added: Addition
  ): Effect.Effect<Appended | undefined, SqlError> =>
    sql<{ last_seq: bigint; last_uuid: string | null }>`WITH grown AS (
        UPDATE ingress_stream SET ${sets(added)}
        WHERE tenant = ${tenant} AND session = ${session} AND sub = ${sub} AND deleted_at IS NULL AND epoch = ${epoch}
          AND (${lastUuid === "*"} OR last_uuid IS NOT DISTINCT FROM ${lastUuid ?? null})
        RETURNING id, last_seq, last_uuid
      ), entries AS (${inserts(lines)})
      SELECT last_seq, last_uuid FROM grown`.pipe(
      Effect.map(([row]) =>
        row === undefined
          ? undefined
          : {
              uuid: row.last_uuid ?? undefined,
              seq: Number(row.last_seq),
              epoch,
              duplicate: false,
              mismatched: []
            }
      ),
      Effect.catchIf(
        ({ reason }) => reason._tag === "UniqueViolation",
        () => Effect.as(Effect.void, undefined)
      )
    )

  const locked = ({ session, tenant }: StreamAddress, sub: string) =>
    Effect.map(
      sql<StreamRow>`SELECT * FROM ingress_stream
        WHERE tenant = ${tenant} AND session = ${session} AND sub = ${sub} FOR UPDATE`,
      ([row]) => row
    )

  const headOf = (row: StreamRow, attempt: Attempt): Effect.Effect<AppendChain.Head, SqlError> =>
    Effect.map(
      sql<{ key: string; seq: bigint; hash: string }>`SELECT key, seq, hash FROM ingress_entry
        WHERE stream_id = ${row.id} AND key = ANY(${attempt.lines.map(({ key }) => key)}::text[])`,
      (rows) => ({
        uuid: row.last_uuid ?? undefined,
        seq: Number(row.last_seq),
        epoch: Number(row.epoch),
        known: new Map(rows.map(({ hash, key, seq }) => [key, { seq: Number(seq), hash }]))
      })
    )

  /** Makes the stream, and the main one of its session. */
  const create = Effect.fnUntraced(function* (stream: StreamAddress, now: number) {
    const { session, sub, tenant } = stream
    yield* sql`INSERT INTO ingress_stream (tenant, session, sub, updated_at) VALUES (${tenant}, ${session}, '', ${now})
      ON CONFLICT DO NOTHING`
    if (sub === "") return
    yield* locked(stream, "")
    yield* sql`INSERT INTO ingress_stream (tenant, session, sub, epoch, deleted_at, updated_at)
      SELECT tenant, session, ${sub}::text, epoch, deleted_at, ${now}::bigint FROM ingress_stream
      WHERE tenant = ${tenant} AND session = ${session} AND sub = '' ON CONFLICT DO NOTHING`
  })

  /** What the rule says of a stream that is not there. */
  const unmade = (epoch: number, attempt: Attempt) =>
    AppendChain.judge({ uuid: undefined, seq: 0, epoch, known: new Map() }, attempt)

  /** The way of the rule; within a transaction. */
  const slow = Effect.fnUntraced(function* (stream: StreamAddress, attempt: Attempt, now: number) {
    let row = yield* locked(stream, stream.sub)
    if (row === undefined) {
      const [main] = yield* sql<StreamRow>`SELECT * FROM ingress_stream
        WHERE tenant = ${stream.tenant} AND session = ${stream.session} AND sub = ''`
      if (main !== undefined && main.deleted_at !== null) return Result.fail<Refused>(new Deleted())
      const epoch = Number(main?.epoch ?? 0)
      const verdict = unmade(epoch, attempt)
      if (AppendChain.linesOf(verdict).length === 0) return answerOf(verdict, { uuid: undefined, seq: 0 }, epoch)
      yield* create(stream, now)
      row = (yield* locked(stream, stream.sub))!
    }
    if (row.deleted_at !== null) return Result.fail<Refused>(new Deleted())
    const head = yield* headOf(row, attempt)
    const verdict = AppendChain.judge(head, attempt)
    const lines = AppendChain.linesOf(verdict)
    if (lines.length > 0)
      yield* sql`WITH grown AS (
          UPDATE ingress_stream SET ${sets(addition(stream, lines, now))} WHERE id = ${row.id} RETURNING id, last_seq
        ) ${inserts(lines)}`
    return answerOf(verdict, AppendChain.advance(head, lines), head.epoch)
  })

  return Effect.fnUntraced(function* (stream: StreamAddress, attempt: Attempt, now: number) {
    if (attempt.lines.length > 0) {
      const appended = yield* fast(stream, attempt, addition(stream, attempt.lines, now))
      if (appended !== undefined) return Result.succeed(appended) as Result.Result<Appended, Refused>
    }
    return (yield* sql.withTransaction(slow(stream, attempt, now))) as Result.Result<Appended, Refused>
  })
}
