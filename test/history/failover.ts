/** Failover: of a server, and of the database to its standby. */
import { Effect } from "effect"
import * as Seeded from "../crash/seeded.ts"
import * as Databases from "./databases.ts"
import { round } from "./round.ts"
import * as Servers from "./servers.ts"
import * as Workload from "./workload.ts"

/** A session may stand still for so long, in ms: many times what it takes, since machines are busy. */
const MOST = 10_000

/** One of three servers is killed and stays away; the worst pause of a session is a figure. */
export const server = Effect.fnUntraced(function* (operations: number, seed: number) {
  const database = yield* Databases.primary()
  const servers = yield* Servers.make(
    [1, 2, 3].map(() => ({ store: database.url })),
    { seed, percent: 0 }
  )
  const urls = servers.addresses
  const workload = Workload.make({ urls, operations, writers: 6, random: Seeded.make(seed) })
  let killed = Infinity
  const kill = () => {
    killed = Workload.now()
    return servers.kill(0)
  }
  const { summary, violations } = yield* round({ ...servers, urls }, workload, operations, [{ at: 0.5, run: kill }])
  const before = longest(workload.history.filter(({ ended }) => ended < killed))
  const after = longest(workload.history.filter(({ ended }) => ended >= killed))
  if (after > MOST) throw new Error(`a session stood still for ${after} ms`)
  return {
    violations,
    summary: `${summary}; worst pause of a session ${after.toFixed(0)} ms, without the kill ${before.toFixed(0)} ms`
  }
}, Effect.scoped)

/** The longest time in which no append to a stream was answered, in ms. */
const longest = (history: Workload.Workload["history"]): number => {
  const last = new Map<string, number>()
  let longest = 0
  for (const { _tag, ended, stream } of history.toSorted((a, b) => a.ended - b.ended)) {
    if (_tag !== "Append") continue
    longest = Math.max(longest, ended - (last.get(stream) ?? ended))
    last.set(stream, ended)
  }
  return longest
}

/** The primary crashes for good, and its synchronous standby is promoted: nothing that was answered is lost. */
export const synchronous = Effect.fnUntraced(function* (operations: number, seed: number) {
  const first = yield* Databases.primary({ settings: ["synchronous_standby_names=*"] })
  const second = yield* Databases.standbyOf(first)
  const { pointTo, url } = yield* Databases.named(first)
  const servers = yield* Servers.make([{ store: url }, { store: url }], { seed, percent: 10 })
  const workload = Workload.make({ urls: servers.urls, operations, writers: 6, random: Seeded.make(seed) })
  const promote = async () => {
    await first.stop("immediate")
    second.promote()
    pointTo(second)
  }
  return yield* round(servers, workload, operations, [{ at: 0.5, run: promote }])
}, Effect.scoped)
