/** Clusters of PostgreSQL of a round's own. They stop with the scope. */
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { directory } from "../ingress/temporary.ts"
import * as Cluster from "../postgres/cluster.ts"

const running = (make: (directory: string) => Cluster.Cluster) =>
  Effect.gen(function* () {
    const made = make(yield* directory)
    yield* Effect.addFinalizer(() => Effect.promise(() => made.stop("immediate")))
    yield* Effect.promise(made.start)
    return made
  })

/** A cluster that waits for its disk. */
export const primary = (options: Cluster.Options = {}) =>
  running((directory) => Cluster.make(directory, { durable: true, ...options }))

/** A standby of a cluster. */
export const standbyOf = (primary: Cluster.Cluster) =>
  running((directory) => Cluster.standbyOf(primary, directory, { durable: true }))

/** One name for whichever cluster is the primary, as an address that moves is one. */
export const named = Effect.fnUntraced(function* (first: Cluster.Cluster) {
  const link = path.join(yield* directory, "primary")
  const pointTo = ({ directory }: Cluster.Cluster) => {
    fs.rmSync(link, { force: true })
    fs.symlinkSync(directory, link)
  }
  pointTo(first)
  return { url: Cluster.at(link).url, pointTo }
})
