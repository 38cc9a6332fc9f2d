import { assert, describe, it } from "@effect/vitest"
import * as ReplicaStatus from "@reprise/ingress/ReplicaStatus"

const all: ReadonlyArray<readonly [status: ReplicaStatus.ReplicaStatus, isFinal: boolean, says: string]> = [
  [ReplicaStatus.Idle(), false, "nothing to send yet"],
  [ReplicaStatus.CatchingUp({ behind: 7 }), false, "7 bytes behind"],
  [ReplicaStatus.Live(), false, "all is sent"],
  [ReplicaStatus.Backoff({ since: 1, why: "ECONNREFUSED" }), false, "tries again: ECONNREFUSED"],
  [ReplicaStatus.AuthRequired({ since: 1, why: "expired" }), false, "another token: expired"],
  [ReplicaStatus.Fenced({ epoch: 3 }), true, "epoch 3"],
  [ReplicaStatus.Diverged({ stream: "", head: "u9" }), true, "ends with u9, which is not in the log"],
  [ReplicaStatus.Diverged({ stream: "a1", head: "u9" }), true, "of agent a1, ends with u9"],
  [ReplicaStatus.Blocked({ stream: "a1", why: "entry-too-large" }), false, "at agent a1: a line is longer"],
  [ReplicaStatus.Blocked({ stream: "", why: "refused" }), false, "refuses line after line"],
  [ReplicaStatus.Blocked({ stream: "", why: "deleted" }), true, "was deleted"]
]

describe("ReplicaStatus", () => {
  for (const [status, isFinal, says] of all)
    it(`${status._tag}: ${says}`, () => {
      assert.include(ReplicaStatus.describe(status), says)
      assert.strictEqual(ReplicaStatus.isFinal(status), isFinal)
    })
})
