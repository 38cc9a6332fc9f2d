/** Explained pictures of logs. */
import * as Explain from "@reprise/cli/Explain"
import * as ExplainMessage from "@reprise/cli/ExplainMessage"
import * as Look from "@reprise/cli/Look"
import * as Style from "@reprise/cli/Style"
import type * as Lanes from "@reprise/recovery/Lanes"
import { Effect } from "effect"
import * as Temporary from "../storage/temporary.ts"
import { write } from "./running.ts"

/** The explanation of a file, or of the log of a picture. */
export const explain = (log: string, lane?: Lanes.Choice) =>
  Effect.gen(function* () {
    const file = log.endsWith(".jsonl") ? log : write(yield* Temporary.directory, "log", log)
    return yield* Explain.explain(file, lane === undefined ? {} : { lane })
  })

/** The text about one id of a log, as lines. */
export const about = (log: string, id: string) =>
  Effect.gen(function* () {
    const explanation = yield* explain(log)
    const subject = yield* Explain.find(explanation, id)
    return ExplainMessage.render(explanation, subject, Look.make(explanation, Style.plain(), Look.some)).split("\n")
  })
