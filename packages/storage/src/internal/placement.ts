/**
 * Placement: what becomes of an entry that a transcript is given. One synchronous step, so that the queue, the ids seen
 * and the tail of the chain never disagree.
 *
 *   draft ─▶ entry ─ Redactor ─ Routing.decide ─▶ refused · there already · waits · accepted
 *                                                                             └ metadata that it pushes out comes first
 *
 * 1. A draft is made into its entry at the last moment, so its parent is the tail at that moment.
 * 2. Until a prompt or a reply brings the log into being, all else waits; then it is accepted first, in order.
 * 3. Every byte that is accepted is counted, so that the step knows what the tail of the log will show.
 */
import * as Entry from "@reprise/domain/Entry"
import type * as Lane from "@reprise/domain/Lane"
import * as Routing from "@reprise/domain/Routing"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as Result from "effect/Result"
import type * as EntryLog from "../EntryLog.ts"
import * as MetadataTail from "../MetadataTail.ts"
import * as Redactor from "../Redactor.ts"
import type * as SessionWriter from "../SessionWriter.ts"
import * as Chain from "./chain.ts"
import * as Content from "./content.ts"
import * as Intake from "./intake.ts"

/** An entry to be. */
export type Draft = () => Entry.Known | Entry.Unknown

/** One lane of an open session. Offsets are bytes of its log. */
export interface OpenLane {
  readonly log: EntryLog.LogId
  readonly chain: Chain.Chain
  /** Where the log will end when all that was accepted is written. */
  end: number
  /** What others wrote is counted in `end` up to here. */
  counted: number
  /** The log was read up to `size`, and in whole lines up to `mark`. */
  size: number
  mark: number
  /** What the writer found that others wrote, and that was not read yet. */
  readonly found: Array<EntryLog.Foreign>
  /** Whether it was looked for others' bytes in this turn of the program. */
  isFresh: boolean
}

/** An open session. */
export interface Session {
  readonly sessionId: string
  readonly main: OpenLane
  readonly agents: Map<string, OpenLane>
  readonly tail: MetadataTail.MetadataTail
  readonly redactor: Redactor.Redact | undefined
  /** Whether metadata is restated: whoever has no lock adds nothing of its own accord. */
  readonly restates: boolean
  readonly waiting: Array<{ readonly draft: Draft; readonly entry: Entry.Known | Entry.Unknown }>
  isMaterialised: boolean
  /** Whether a message was accepted since the session was opened. */
  hasMoved: boolean
  /** What each message of the main lane says, once a repeated id made that a question. */
  digests: Map<string, string> | undefined
}

/** What became of a draft. */
export type Placed = "Accepted" | "Pending" | "AlreadyThere"

/** Why an entry cannot be placed. */
export type UnfitReason =
  | "unknown-entry"
  | "session-id"
  | "version"
  | "agent-id"
  | "not-entry"
  | "not-json"
  | "other-content"
  | "other-directory"
  | "not-transcript"
  | "unlocked"
  | "closed"

/** An entry cannot be placed; `Transcript` makes its typed error of it. */
export class Unfit {
  readonly reason: UnfitReason
  readonly what: string

  constructor(reason: UnfitReason, what: string) {
    this.reason = reason
    this.what = what
  }
}

/** The entry of a draft as it is written. */
export const entryOf = (session: Session, draft: Draft): Entry.Known | Entry.Unknown =>
  Redactor.redact(draft(), session.redactor)

/** The same with its line; what cannot be written is told before anything is accepted. */
export const encode = (session: Session, draft: Draft) =>
  Result.try({
    try: () => {
      const entry = entryOf(session, draft)
      return { entry, line: Intake.lineOf(entry) }
    },
    catch: (cause) => new Unfit("not-json", String(cause))
  })

/** Places one draft. The lane of its agent is open already. */
export const place = (
  session: Session,
  offer: SessionWriter.Offer,
  draft: Draft
): Result.Result<Placed, Routing.Refused | Unfit> => {
  const encoded = encode(session, draft)
  if (Result.isFailure(encoded)) return Result.fail(encoded.failure)
  const { entry, line } = encoded.success
  const decision = Routing.decide(session.main.chain.seen, entry)
  if (Result.isFailure(decision)) return Result.fail(decision.failure)
  const { writes } = decision.success
  if (writes.length === 0) return Result.succeed("AlreadyThere")
  if (!session.isMaterialised) {
    if (!Routing.materialises(entry)) return wait(session, draft, entry)
    session.isMaterialised = true
    for (const waiting of session.waiting.splice(0)) place(session, offer, waiting.draft)
    return place(session, offer, draft)
  }
  for (const { lane } of writes) put(session, offer, laneOf(session, lane), entry, line)
  return Result.succeed("Accepted")
}

const wait = (
  session: Session,
  draft: Draft,
  entry: Entry.Known | Entry.Unknown
): Result.Result<Placed, Routing.Refused | Unfit> => {
  const uuid = Entry.isMessage(entry) && entry.isSidechain !== true ? entry.uuid : undefined
  const other = session.waiting.find(({ entry }) => uuid !== undefined && Entry.isMessage(entry) && entry.uuid === uuid)
  if (other !== undefined) {
    const isEqual = Content.digest(other.entry) === Content.digest(entry)
    return isEqual ? Result.succeed("AlreadyThere") : Result.fail(new Unfit("other-content", String(uuid)))
  }
  session.waiting.push({ draft, entry })
  return Result.succeed("Pending")
}

/** An entry that is so long that what is restated before it would leave the window again is followed by it instead. */
const LONG = MetadataTail.WINDOW - 16384

/** No UTF-16 unit takes more than three bytes: a line is counted only where they might matter. */
const restateBefore = (session: Session, offer: SessionWriter.Offer, line: string): void => {
  if (!MetadataTail.isDue(session.tail, session.main.end + 3 * line.length + 1)) return
  const bytes = Buffer.byteLength(line) + 1
  if (bytes <= LONG) restate(session, offer, bytes)
}

const put = (
  session: Session,
  offer: SessionWriter.Offer,
  lane: OpenLane,
  entry: Entry.Known | Entry.Unknown,
  line: string
): void => {
  const isMain = lane === session.main
  if (isMain) restateBefore(session, offer, line)
  const bytes = offer(lane.log, entry, line)
  if (isMain && SessionMetadata.isRestated(entry)) MetadataTail.set(session.tail, entry, lane.end, bytes)
  lane.end += bytes
  if (Entry.isMessage(entry)) {
    Chain.advance(lane.chain, entry)
    if (isMain) {
      session.hasMoved = true
      session.digests?.set(entry.uuid, Content.digest(entry))
    }
  }
  if (isMain) restate(session, offer, 0)
}

/** Accepts the metadata that is out of the window, or would be with `incoming` bytes more. */
export const restate = (session: Session, offer: SessionWriter.Offer, incoming = 0): void => {
  const { main, tail } = session
  if (!session.restates || !session.isMaterialised) return
  const leaf = session.hasMoved ? (main.chain.tail ?? undefined) : tail.leaf
  let lines = restated(session, main.end + incoming, leaf)
  // What is restated takes room too, and may push out more.
  for (let bytes = 0; bytes < sizeOf(lines);) {
    bytes = sizeOf(lines)
    lines = restated(session, main.end + incoming + bytes, leaf)
  }
  for (const { bytes, entry, kind, line } of lines) {
    MetadataTail.restated(tail, kind, main.end, bytes)
    main.end += bytes
    offer(main.log, entry, line)
  }
}

/** What a redactor does not let pass, a title of another program, is not said again. */
const restated = (session: Session, end: number, leaf: string | undefined) =>
  MetadataTail.due(session.tail, end, leaf).flatMap((body) => {
    const encoded = encode(session, () => ({ ...body, sessionId: session.sessionId }) as Entry.Known)
    if (Result.isFailure(encoded)) return []
    const { entry, line } = encoded.success
    return [{ kind: body.type, entry, line, bytes: Buffer.byteLength(line) + 1 }]
  })

const sizeOf = (lines: ReadonlyArray<{ readonly bytes: number }>): number =>
  lines.reduce((sum, { bytes }) => sum + bytes, 0)

const laneOf = (session: Session, lane: Lane.Lane): OpenLane =>
  (lane._tag === "Sidechain" ? session.agents.get(lane.agentId) : undefined) ?? session.main
