import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fence from "./fence.ts"

describe("two writers of a session", () => {
  it.live(
    "one that was frozen wakes up after the other has claimed it, and appends nothing any more",
    () => Effect.map(Fence.run(1), ({ violations }) => assert.deepStrictEqual(violations, [])),
    120_000
  )
})
