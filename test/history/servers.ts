/** Servers of one store as processes, each behind a network that breaks. They end with the scope. */
import * as FaultProxy from "@reprise/ingress/testing/FaultProxy"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as Running from "../running.ts"

const program = fileURLToPath(new URL("server.ts", import.meta.url))

export interface Servers {
  /** Where clients find each, through its network. */
  readonly urls: ReadonlyArray<string>
  /** Where each is, without a network that breaks. */
  readonly addresses: ReadonlyArray<string>
  /** Kills one with SIGKILL. */
  readonly kill: (server: number) => Promise<void>
  /** Starts one that was killed. */
  readonly start: (server: number) => Promise<void>
  /** How often each fault has happened. */
  readonly faults: () => Readonly<Record<string, number>>
}

/** Where a server runs, and how it names the store: `within` is the beginning of a command that runs it. */
interface Place {
  readonly store: string
  readonly host?: string
  readonly within?: ReadonlyArray<string>
}

/** Starts servers; of 100 requests about `percent` have a fault. */
export const make = Effect.fnUntraced(function* (
  places: ReadonlyArray<Place>,
  options: { readonly seed: number; readonly percent: number }
) {
  const running: Array<Running.Running> = []
  const upstreams: Array<string> = []
  const start = async (server: number) => {
    const { host = "127.0.0.1", store, within } = places[server]!
    running[server] = Running.start(["--no-warnings", program, store, host], within)
    upstreams[server] = `http://${host}:${await running[server].port}`
  }
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(running.map(({ kill }) => kill()))))
  const numbers = [...places.keys()]
  // The first one makes the tables.
  for (const server of numbers) yield* Effect.promise(() => start(server))
  const proxies = yield* Effect.forEach(numbers, (server) =>
    FaultProxy.make({
      upstream: () => upstreams[server]!,
      faultOf: FaultProxy.seeded(options.seed * 31 + server, options.percent)
    })
  )
  const faults = () => {
    const sums: Record<string, number> = {}
    for (const { counts } of proxies)
      for (const [fault, count] of Object.entries(counts())) sums[fault] = (sums[fault] ?? 0) + count
    return sums
  }
  return {
    urls: proxies.map(({ url }) => url),
    addresses: upstreams,
    kill: (server: number) => running[server]!.kill(),
    start,
    faults
  } satisfies Servers
})
