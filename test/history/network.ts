/**
 * A network of namespaces: two servers and a database, each on a machine of its own as far as they can tell.
 *
 *            ┌─ link 0 ─ server 0 ─ link 2 ─┐
 *   clients ─┤                              ├─ database
 *            └─ link 1 ─ server 1 ─ link 3 ─┘
 */
import { Effect } from "effect"
import { spawnSync } from "node:child_process"

interface Network {
  /** The beginning of a command that runs there. */
  readonly within: (machine: Machine) => ReadonlyArray<string>
  /** The address of the far end of a link, as the near end sees it: clients that of a server, servers that of the database. */
  readonly addressOf: (link: number) => string
  readonly cut: (link: number, end: "near" | "far") => void
  readonly heal: (link: number) => void
}

type Machine = "server0" | "server1" | "database"

/** The ends of each link; undefined: where the clients are. */
const links: ReadonlyArray<readonly [Machine | undefined, Machine]> = [
  [undefined, "server0"],
  [undefined, "server1"],
  ["server0", "database"],
  ["server1", "database"]
]

/** All connections of the network come from here. */
export const range = "10.213.0.0/16"

const ip = (...args: ReadonlyArray<string>): boolean => spawnSync("ip", args, { stdio: "ignore" }).status === 0

const name = (machine: Machine): string => `reprise-${process.pid}-${machine}`

/** Why it cannot be had here; undefined where it can. */
export const missing = (): string | undefined => {
  const tried = `reprise-${process.pid}-tried`
  if (process.geteuid?.() !== 0) return "network namespaces are for root"
  if (!ip("netns", "add", tried)) return "network namespaces cannot be made here (Debian: apt-get install iproute2)"
  const isPossible = ip("-n", tried, "link", "add", "tried0", "type", "veth", "peer", "name", "tried1")
  ip("netns", "del", tried)
  return isPossible ? undefined : "no links between network namespaces can be made here"
}

/** Makes the network; it is gone with the scope. */
export const make = Effect.gen(function* () {
  const machines = ["server0", "server1", "database"] as const
  const must = (...args: ReadonlyArray<string>) => {
    if (!ip(...args)) throw new Error(`ip ${args.join(" ")} failed`)
  }
  const at = (machine: Machine | undefined) => (machine === undefined ? [] : ["-n", name(machine)])
  const endOf = (link: number, end: "near" | "far") => `rp${process.pid % 1_000_000}${end[0]}${link}`
  const set = (link: number, end: "near" | "far", state: "up" | "down") =>
    must(...at(links[link]![end === "near" ? 0 : 1]), "link", "set", endOf(link, end), state)
  const addressOf = (link: number, last: number) => `10.213.${(process.pid % 64) * 4 + link}.${last}`
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      for (const machine of machines) {
        must("netns", "add", name(machine))
        must(...at(machine), "link", "set", "lo", "up")
      }
      for (const [link, [near, far]] of links.entries()) {
        const peer = ["peer", "name", endOf(link, "far"), "netns", name(far)]
        must(...at(near), "link", "add", endOf(link, "near"), "type", "veth", ...peer)
        must(...at(near), "addr", "add", `${addressOf(link, 1)}/30`, "dev", endOf(link, "near"))
        must(...at(far), "addr", "add", `${addressOf(link, 2)}/30`, "dev", endOf(link, "far"))
        set(link, "near", "up")
        set(link, "far", "up")
      }
    }),
    () => Effect.sync(() => machines.forEach((machine) => ip("netns", "del", name(machine))))
  )
  return {
    within: (machine) => ["ip", "netns", "exec", name(machine)],
    addressOf: (link) => addressOf(link, 2),
    cut: (link, end) => set(link, end, "down"),
    heal: (link) => {
      set(link, "near", "up")
      set(link, "far", "up")
    }
  } as Network
})
