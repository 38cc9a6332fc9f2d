/** A share of the replica campaign (`npm run replica`). */
import { describe, it } from "@effect/vitest"
import * as Seeded from "../crash/seeded.ts"
import * as Crash from "./crash.ts"
import * as Fence from "./fence.ts"

describe("a session that is replicated by programs that die", () => {
  it.live(
    "replicator and server are killed while its logs grow: at the end the remote has them byte for byte",
    () => Crash.once(Seeded.make(5), { store: "sqlite", kills: 2, lines: 60 }),
    120_000
  )

  it.live(
    "a writer that was frozen is fenced off by the one that took its session",
    () => Fence.once(Seeded.make(6)),
    120_000
  )
})
