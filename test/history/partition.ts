/** Partitions: links between clients, servers and the database are cut, alone and together, and healed. */
import { Effect } from "effect"
import * as Seeded from "../crash/seeded.ts"
import * as Databases from "./databases.ts"
import * as Network from "./network.ts"
import { type Disturbance, pause, round } from "./round.ts"
import * as Servers from "./servers.ts"
import * as Workload from "./workload.ts"

/** What is cut at a time: a server from clients or from the database, the database from all, all from clients, crosswise. */
const cuts: ReadonlyArray<ReadonlyArray<number>> = [[0], [3], [2, 3], [0, 1], [0, 3]]

/** How long a cut lasts, in ms: longer than clients wait for an answer. */
const LASTS = 2_500

export const run = Effect.fnUntraced(function* (operations: number, seed: number) {
  const random = Seeded.make(seed)
  const network = yield* Network.make
  yield* Databases.primary({ within: network.within("database"), network: Network.range })
  const place = (server: 0 | 1) => ({
    store: `postgres://postgres@${network.addressOf(server + 2)}/postgres`,
    host: network.addressOf(server),
    within: network.within(`server${server}`)
  })
  const servers = yield* Servers.make([place(0), place(1)], { seed, percent: 10 })
  const workload = Workload.make({ urls: servers.urls, operations, writers: 6, random })
  const disturbances = cuts.map((links, i): Disturbance => ({
    at: (i + 1) / (cuts.length + 1),
    run: async () => {
      for (const link of links) network.cut(link, random() < 0.5 ? "near" : "far")
      await pause(LASTS)
      links.forEach(network.heal)
    }
  }))
  const outcome = yield* round(servers, workload, operations, disturbances)
  return { ...outcome, summary: `${outcome.summary}, ${cuts.length} partitions` }
}, Effect.scoped)
