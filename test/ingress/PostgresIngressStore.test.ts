import { assert, describe, it, layer } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as IngressStoreSuite from "@reprise/ingress/testing/IngressStoreSuite"
import { append, holds, native, newStream } from "@reprise/ingress/testing/store/lines"
import { Effect, Fiber, Layer, Stream } from "effect"
import * as Cluster from "../postgres/cluster.ts"
import * as Shared from "../postgres/shared.ts"
import * as Stores from "./stores.ts"

if (Cluster.binaries === undefined) console.log(Cluster.skipped)

describe.skipIf(Cluster.binaries === undefined)("PostgreSQL", () => {
  layer(Stores.postgres, { excludeTestServices: true })("PostgresIngressStore", (it) => {
    for (const { name, run } of IngressStoreSuite.tests) it.effect(name, () => run)
  })

  it.live("two servers have one store: each hears of what the other appends", () =>
    Effect.gen(function* () {
      const { url } = yield* Shared.cluster
      const stream = newStream()
      const [one, two] = yield* Effect.all([Layer.build(Stores.at(url)), Layer.build(Stores.at(url))], {
        concurrency: 2
      })
      const here = <A, E>(run: Effect.Effect<A, E, IngressStore.IngressStore>) => Effect.provideContext(run, one)
      const there = <A, E>(run: Effect.Effect<A, E, IngressStore.IngressStore>) => Effect.provideContext(run, two)
      const backend = IngressStore.IngressStore.use(({ backendId }) => Effect.succeed(backendId))
      assert.strictEqual(yield* here(backend), yield* there(backend))

      yield* here(append(stream, native("a")))
      yield* there(append(stream, native("b", "a")))
      yield* here(holds(stream, "a b"))
      const heard = yield* IngressStore.IngressStore.use(({ changes, head }) =>
        changes(stream).pipe(
          Stream.mapEffect(() => head(stream)),
          Stream.takeUntil(({ seq }) => seq === 3),
          Stream.runDrain
        )
      ).pipe(there, Effect.forkChild)
      yield* here(append(stream, native("c", "b")))
      yield* Effect.timeout(Fiber.join(heard), "10 seconds")
    })
  )

  it.live("a connection that ends within a transaction is a store that is not available, and no defect", () =>
    Effect.gen(function* () {
      const { url } = yield* Shared.cluster
      const stream = newStream()
      const store = yield* Layer.build(Stores.at(url))
      yield* Effect.provideContext(append(stream, native("a")), store)
      // Holds the row, and ends the connection of the first that waits for it.
      const ending = Cluster.ask(
        url,
        `BEGIN;
         SELECT 1 FROM ingress_stream WHERE tenant = '${stream.tenant}' FOR UPDATE;
         DO $$ BEGIN LOOP
           PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid));
           EXIT WHEN FOUND;
           PERFORM pg_sleep(0.02);
           PERFORM pg_stat_clear_snapshot();
         END LOOP; END $$;
         COMMIT;`
      )
      yield* Effect.flip(append(stream, native("b", "elsewhere"))).pipe(
        Effect.provideContext(store),
        Effect.repeat({ until: ({ _tag }) => _tag === "Unavailable" })
      )
      yield* Effect.promise(() => ending)
      yield* Effect.provideContext(append(stream, native("b", "a")), store)
    })
  )

  it.live("a database that is not there is said to be that, without its password", () =>
    Effect.gen(function* () {
      const { url } = yield* Shared.cluster
      const missing = url.replace("/postgres?", "/nothing?").replace("postgres@", "postgres:secret@")
      const { message } = yield* Effect.flip(Effect.scoped(Layer.build(Stores.at(missing))))
      assert.match(message, /the store PostgreSQL could not be opened: .*database "nothing" does not exist/)
      assert.notInclude(message, "secret")
    })
  )
})
