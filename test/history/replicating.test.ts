/** A share of the history campaign: replicators, however far behind they are. Those that are killed: `test/replica`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Cluster from "../postgres/cluster.ts"
import * as Backlog from "./backlog.ts"
import * as Replicating from "./replicating.ts"

describe("a replicator", () => {
  it.live(
    "far behind, it holds one page and one batch",
    () => Effect.map(Backlog.run(16 << 20), ({ summary }) => assert.include(summary, "behind")),
    120_000
  )

  it.live.skipIf(Cluster.binaries === undefined)(
    "a standby takes over without the last lines that were answered for: they are sent again",
    () => Replicating.healed(1),
    180_000
  )
})
