/** A share of the history campaign: replicators, whoever is killed and however far behind they are. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Cluster from "../postgres/cluster.ts"
import * as Backlog from "./backlog.ts"
import * as Replicating from "./replicating.ts"

describe("a replicator", () => {
  it.live(
    "server and replicator are killed while torn lines are written: in the end the remote holds the bytes of the logs",
    () => Replicating.killed("sqlite", 2, 2),
    180_000
  )

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
