/**
 * Notices: what servers of one database tell each other: which streams grew. A hint and no more: followers look once a
 * second in any case.
 *
 * `NOTIFY` takes a lock of the whole database when it commits, so it is not part of an append: notices gather for a moment
 * and go out together, in a transaction that writes nothing.
 */
import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Hub from "../hub.ts"

const CHANNEL = "ingress"
/** How long notices gather, and how many characters of them PostgreSQL takes at once. */
const GATHERED = "20 millis"
const ROOM = 7_900
/** What says that more grew than one notice can name. */
const ALL = "*"

/** Tells the hub of what other servers write, as long as the scope lives; gives what tells those of ours. */
export const make = Effect.fnUntraced(function* (sql: PgClient.PgClient, hub: ReturnType<typeof Hub.make>) {
  const grown = yield* Queue.sliding<string>(4_096)
  const listen = Effect.scoped(
    Effect.gen(function* () {
      const notices = yield* sql.listen(CHANNEL)
      // What grew while nobody listened is not known.
      hub.tellAll()
      while (true) {
        const { payload } = yield* Queue.take(notices)
        if (payload === ALL) hub.tellAll()
        else for (const key of payload.split("\n")) hub.tell(key)
      }
    })
  )
  const send = Effect.gen(function* () {
    const one = yield* Queue.take(grown)
    yield* Effect.sleep(GATHERED)
    const more = yield* Queue.clear(grown)
    const payload = [...new Set([one, ...more])].join("\n")
    yield* Effect.ignore(sql.notify(CHANNEL, Buffer.byteLength(payload) > ROOM ? ALL : payload))
  })
  yield* Effect.forkScoped(Effect.retry(listen, Schedule.spaced("1 second")))
  yield* Effect.forkScoped(Effect.forever(send))
  return (key: string): void => void Queue.offerUnsafe(grown, key)
})
