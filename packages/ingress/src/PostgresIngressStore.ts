/**
 * PostgresIngressStore: streams in a PostgreSQL database, for any number of servers.
 *
 *   server ─┐               ┌─ one statement an append: the row of the stream is the lock
 *   server ─┼─ PostgreSQL ──┤
 *   server ─┘               └─ LISTEN: which streams grew, a hint; followers look once a second in any case
 *
 * 1. Servers hold nothing: any of them may end at any time, and clients go on with another.
 * 2. An answer means what `synchronous_commit` says: on the disk of the database, and with a synchronous standby on its
 *    disk too. Without one, the last lines may be lost when a standby takes over; their client sends them again.
 * 3. It connects again by itself. As long as it cannot, every answer is `Unavailable`.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { OpenError, Unavailable } from "./IngressError.ts"
import { IngressStore } from "./IngressStore.ts"
import * as Hub from "./internal/hub.ts"
import * as Appending from "./internal/postgres/appending.ts"
import * as Claims from "./internal/postgres/claims.ts"
import * as Notices from "./internal/postgres/notices.ts"
import * as Reading from "./internal/postgres/reading.ts"
import * as Tables from "./internal/postgres/tables.ts"
import { keyOf } from "./StreamAddress.ts"

/**
 * Where the database is (`postgres://user:password@host:port/database`, or `host=/directory` of a socket), and how many
 * connections a server may have (10; one of them listens). `prepare: false` is for poolers that keep no session.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly url: Redacted.Redacted
  readonly maxConnections?: number
  readonly prepare?: boolean
}

/** The longest that an answer of the database may take. */
const PATIENCE = "10 seconds"

/** A line of 8 MiB may come as base64, with the rest of its row. */
const MESSAGE = 64 << 20

/**
 * The store in this database. Its tables are made where they are missing.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = ({ maxConnections, prepare, url }: Options): Layer.Layer<IngressStore, OpenError> =>
  layerClient.pipe(
    Layer.provide(
      PgClient.layer({
        url,
        maxConnections,
        prepare,
        connectTimeout: "5 seconds",
        maxMessageSize: MESSAGE,
        applicationName: "reprise-ingress"
      })
    ),
    Layer.catchTag("SqlError", (error) => Layer.effect(IngressStore, Effect.fail(unopened(error))))
  )

/**
 * The store in the database of a client that is there.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerClient: Layer.Layer<IngressStore, OpenError, PgClient.PgClient> = Layer.effect(
  IngressStore,
  Effect.suspend(() => make)
)

/** What went wrong and why, each reason once: drivers wrap one error in the next. */
const unopened = (error: unknown): OpenError => {
  const reasons = new Set<string>()
  for (let at = error; at instanceof Error; at = at.cause) reasons.add(at.message)
  return new OpenError({ store: "PostgreSQL", detail: [...reasons].join(": ") })
}

const unavailable = (cause?: unknown): Unavailable =>
  new Unavailable({ retryAfter: 1, ...(cause !== undefined && { cause }) })

/** Waits no longer than it may, and tells of the database only that it is not there. */
const available = <A, E>(
  effect: Effect.Effect<A, E | SqlError>
): Effect.Effect<A, Exclude<E, SqlError> | Unavailable> =>
  effect.pipe(
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.fail(unavailable()) }),
    Effect.mapError((error) => (isSqlError(error) ? unavailable(error) : error)),
    // A connection that ends within a transaction cannot take its rollback either, which Effect takes for a defect.
    Effect.catchDefect((defect) => (isSqlError(defect) ? Effect.fail(unavailable(defect)) : Effect.die(defect)))
  ) as Effect.Effect<A, Exclude<E, SqlError> | Unavailable>

const isSqlError = (error: unknown): error is SqlError =>
  (error as { readonly _tag?: unknown } | undefined)?._tag === "SqlError"

/** Brings the tables up to date, and says whose they are. */
const prepared = Effect.gen(function* () {
  const version = yield* Tables.migrate
  if (version <= Tables.known) return yield* Tables.backendId
  const detail = `it has version ${version}, this program knows ${Tables.known}. Run the later program.`
  return yield* new OpenError({ store: "PostgreSQL", detail })
}).pipe(Effect.mapError((error) => (error._tag === "OpenError" ? error : unopened(error))))

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const clock = yield* Clock.Clock
  const backendId = yield* Effect.provideService(prepared, SqlClient.SqlClient, sql)
  const hub = Hub.make()
  const tellOthers = yield* Notices.make(sql, hub)
  const append = Appending.make(sql)
  const { claim, remove } = Claims.make(sql)
  const { head, page, sessions, streams } = Reading.make(sql)
  const now = () => clock.currentTimeMillisUnsafe()

  return IngressStore.of({
    backendId,
    append: (stream, attempt) =>
      available(Effect.suspend(() => append(stream, attempt, now()))).pipe(
        Effect.flatMap(Effect.fromResult),
        Effect.tap(({ duplicate }) =>
          Effect.sync(() => {
            if (duplicate) return
            hub.tell(keyOf(stream))
            tellOthers(keyOf(stream))
          })
        )
      ),
    claim: (tenant, session, writer) => available(Effect.suspend(() => claim(tenant, session, writer, now()))),
    remove: (tenant, session) =>
      available(Effect.suspend(() => remove(tenant, session, now()))).pipe(Effect.tap(() => Effect.sync(hub.tellAll))),
    read: (stream, range) => available(page(stream, range)),
    head: (stream) => available(head(stream)),
    streams: (tenant, session) => available(streams(tenant, session)),
    sessions: (tenant, query) => available(sessions(tenant, query)),
    changes: (stream) => Stream.merge(hub.changes(stream), Hub.polling),
    probe: available(Effect.asVoid(sql`SELECT 1`))
  })
})
