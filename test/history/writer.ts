/**
 * A writer as a program that can be frozen: `node writer.ts URL SESSION NAME` claims the session and appends lines to it,
 * until it is fenced off. It prints each append as an event of a history, first as one that nobody has answered.
 */
import type * as HistoryChecker from "@reprise/ingress/testing/HistoryChecker"
import { Effect, Result } from "effect"
import * as Workload from "./workload.ts"

const [, , url = "", session = "", writer = ""] = process.argv
const target = { session, sub: "" }

await Effect.gen(function* () {
  const ingress = yield* Workload.client([url], 20_000)
  const began = Workload.now()
  const { epoch, head } = yield* ingress.claim(session, writer)
  const stream = Workload.nameOf(target)
  const tell = (event: HistoryChecker.Event) => console.log(JSON.stringify(event))
  tell({ _tag: "Claim", writer, stream, began, ended: Workload.now(), epoch })
  let behind = head
  for (let count = 1; ; count++) {
    const lines = [Workload.lineOf(`${writer}-${count}`, false)]
    const call = { _tag: "Append", writer, stream, lines, behind: [behind ?? "*"], epoch } as const
    const began = Workload.now()
    tell({ ...call, began, ended: Infinity, answer: { _tag: "Unknown" } })
    const result = yield* Effect.result(
      ingress.append(target, { lines, lastUuid: behind ?? "*", writer: { id: writer, epoch } })
    )
    if (Result.isFailure(result) && result.failure._tag !== "StaleEpoch") return yield* result.failure
    const answer: HistoryChecker.Answer = Result.match(result, {
      onSuccess: ({ duplicate, head, seq }) => ({ _tag: "Stored", end: { head, seq }, duplicate }),
      onFailure: () => ({ _tag: "Fenced" })
    })
    tell({ ...call, began, ended: Workload.now(), answer })
    if (Result.isFailure(result)) return
    behind = result.success.head
  }
}).pipe(Effect.scoped, Effect.runPromise)
