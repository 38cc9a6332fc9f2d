/**
 * Verdict: what a store answers, by what `AppendChain.judge` says.
 */
import * as Result from "effect/Result"
import type * as AppendChain from "../AppendChain.ts"
import { HeadMismatch, KeyReused, StaleEpoch } from "../IngressError.ts"
import type { Appended } from "../IngressStore.ts"

/** The answer to a verdict; `after` is where the stream ends once its lines are appended. */
export const answerOf = (
  verdict: AppendChain.Verdict,
  after: AppendChain.Position,
  epoch: number
): Result.Result<Appended, HeadMismatch | StaleEpoch | KeyReused> => {
  switch (verdict._tag) {
    case "HeadMoved":
      return Result.fail(
        new HeadMismatch({
          seq: verdict.seq,
          ...(verdict.uuid !== undefined && { lastUuid: verdict.uuid }),
          ...(verdict.known !== undefined && { known: verdict.known })
        })
      )
    case "StaleEpoch":
      return Result.fail(new StaleEpoch({ epoch: verdict.epoch }))
    case "KeyReused":
      return Result.fail(new KeyReused({ keys: verdict.keys }))
    default: {
      const duplicate = verdict._tag === "Duplicate"
      return Result.succeed({
        uuid: after.uuid,
        seq: after.seq,
        epoch,
        duplicate,
        mismatched: duplicate ? verdict.keys : []
      })
    }
  }
}
