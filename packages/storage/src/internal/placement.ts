/**
 * Placement: what becomes of an entry that a transcript is given. One synchronous step, so that the queue, the ids seen
 * and the tail of the chain never disagree.
 *
 *   draft ─▶ entry ─ Routing.decide ─▶ refused · there already · waits · accepted
 *
 * 1. A draft is made into its entry at the last moment, so its parent is the tail at that moment.
 * 2. Until a prompt or a reply brings the log into being, all else waits; then it is accepted first, in order.
 */
import * as Entry from "@reprise/domain/Entry"
import type * as Lane from "@reprise/domain/Lane"
import * as Line from "@reprise/domain/Line"
import * as Routing from "@reprise/domain/Routing"
import * as Result from "effect/Result"
import type * as EntryLog from "../EntryLog.ts"
import type * as SessionWriter from "../SessionWriter.ts"
import * as Chain from "./chain.ts"

/** An entry to be. */
export type Draft = () => Entry.Known | Entry.Unknown

/** One lane of an open session. */
export interface OpenLane {
  readonly log: EntryLog.LogId
  readonly chain: Chain.Chain
}

/** An open session. */
export interface Session {
  readonly main: OpenLane
  readonly agents: Map<string, OpenLane>
  readonly waiting: Array<Draft>
  isMaterialised: boolean
}

/** What became of a draft. */
export type Placed = "Accepted" | "Pending" | "AlreadyThere"

/** An entry cannot be placed; `Transcript` makes its typed error of it. */
export class Unfit {
  readonly reason: "unknown-entry" | "session-id" | "agent-id" | "not-json"
  readonly what: string

  constructor(reason: Unfit["reason"], what: string) {
    this.reason = reason
    this.what = what
  }
}

/** Places one draft. The lane of its agent is open already. */
export const place = (
  session: Session,
  offer: SessionWriter.Offer,
  draft: Draft
): Result.Result<Placed, Routing.Refused | Unfit> => {
  const entry = draft()
  const decision = Routing.decide(session.main.chain.seen, entry)
  if (Result.isFailure(decision)) return Result.fail(decision.failure)
  const { writes } = decision.success
  if (writes.length === 0) return Result.succeed("AlreadyThere")
  const line = Result.try({ try: () => Line.encode(entry), catch: (cause) => new Unfit("not-json", String(cause)) })
  if (Result.isFailure(line)) return Result.fail(line.failure)
  if (!session.isMaterialised) {
    if (!Routing.materialises(entry)) {
      session.waiting.push(draft)
      return Result.succeed("Pending")
    }
    session.isMaterialised = true
    for (const waiting of session.waiting.splice(0)) place(session, offer, waiting)
    return place(session, offer, draft)
  }
  for (const { lane } of writes) {
    const { chain, log } = laneOf(session, lane)
    offer(log, entry, line.success)
    if (Entry.isMessage(entry)) Chain.advance(chain, entry)
  }
  return Result.succeed("Accepted")
}

const laneOf = (session: Session, lane: Lane.Lane): OpenLane =>
  (lane._tag === "Sidechain" ? session.agents.get(lane.agentId) : undefined) ?? session.main
