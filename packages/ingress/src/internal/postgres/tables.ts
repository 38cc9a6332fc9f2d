/**
 * Tables: those of a store in PostgreSQL, and their versions.
 *
 * `ingress_migration` counts what was made. Servers that start at the same time make it once.
 */
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"

const first = SqlClient.SqlClient.use((sql) =>
  Effect.all([
    sql`CREATE TABLE ingress_meta (backend_id text NOT NULL)`,
    sql`INSERT INTO ingress_meta VALUES (gen_random_uuid()::text)`,
    sql`CREATE TABLE ingress_stream (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      tenant text COLLATE "C" NOT NULL,
      session text COLLATE "C" NOT NULL,
      sub text COLLATE "C" NOT NULL,
      last_seq bigint NOT NULL DEFAULT 0,
      last_uuid text COLLATE "C",
      epoch bigint NOT NULL DEFAULT 0,
      writer text,
      bytes bigint NOT NULL DEFAULT 0,
      boundary_seq bigint NOT NULL DEFAULT 1,
      said_first jsonb NOT NULL DEFAULT '{}',
      said_last jsonb NOT NULL DEFAULT '{}',
      updated_at bigint NOT NULL,
      deleted_at bigint,
      UNIQUE (tenant, session, sub)
    ) WITH (fillfactor = 50)`,
    sql`CREATE INDEX ingress_project ON ingress_stream (tenant, (said_first ->> 'project'), session) WHERE sub = ''`,
    sql`CREATE TABLE ingress_entry (
      stream_id bigint NOT NULL REFERENCES ingress_stream,
      seq bigint NOT NULL,
      key text COLLATE "C" NOT NULL,
      hash text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (stream_id, seq),
      UNIQUE (stream_id, key)
    )`
  ])
)

/** Each takes the tables to its version. What was published is never changed. */
const migrations = { "1_streams": first }

/** Brings the tables up to date; gives the version that is there, which a later program may have made. */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = "ingress_migration"
  yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations), table })
  const [latest] = yield* sql<{ version: number }>`SELECT max(migration_id) AS version FROM ${sql(table)}`
  return latest?.version ?? 0
})

/** The version that this program knows. */
export const known = Object.keys(migrations).length

/** Names the data of a database. */
export const backendId = SqlClient.SqlClient.use((sql) =>
  Effect.map(sql<{ id: string }>`SELECT backend_id AS id FROM ingress_meta`, ([row]) => row?.id ?? "")
)
