/**
 * The history of a store under faults: writers talk to servers over networks that break, while servers are killed and the
 * database is stopped as by a crash.
 */
import { Effect } from "effect"
import * as path from "node:path"
import * as Seeded from "../crash/seeded.ts"
import { directory } from "../ingress/temporary.ts"
import * as Databases from "./databases.ts"
import { pause, round } from "./round.ts"
import * as Servers from "./servers.ts"
import * as Workload from "./workload.ts"

/** Two servers that share a file of SQLite, each killed once. */
export const sqlite = Effect.fnUntraced(function* (operations: number, seed: number) {
  const random = Seeded.make(seed)
  const file = path.join(yield* directory, "ingress.sqlite")
  const servers = yield* Servers.make([{ store: file }, { store: file }], { seed, percent: 30 })
  const workload = Workload.make({ urls: servers.urls, operations, writers: 6, random })
  const restart = (server: number) => async () => {
    await servers.kill(server)
    await servers.start(server)
  }
  return yield* round(servers, workload, operations, [
    { at: 0.2 + 0.2 * random(), run: restart(0) },
    { at: 0.6 + 0.2 * random(), run: restart(1) }
  ])
}, Effect.scoped)

/** Three servers, one of them killed and started again; the database is stopped as by a crash, and started again. */
export const postgres = Effect.fnUntraced(function* (operations: number, seed: number) {
  const random = Seeded.make(seed)
  const database = yield* Databases.primary()
  const servers = yield* Servers.make(
    [1, 2, 3].map(() => ({ store: database.url })),
    { seed, percent: 30 }
  )
  const workload = Workload.make({ urls: servers.urls, operations, writers: 6, random })
  return yield* round(servers, workload, operations, [
    { at: 0.2, run: () => servers.kill(0) },
    { at: 0.35, run: () => servers.start(0) },
    {
      at: 0.5,
      run: async () => {
        await database.stop("immediate")
        await pause(500)
        await database.start()
      }
    }
  ])
}, Effect.scoped)
