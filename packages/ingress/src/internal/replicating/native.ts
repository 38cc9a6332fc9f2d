/**
 * Native: a batch of a stream, by the native profile.
 *
 *   201, 200       the cursor moves behind the batch
 *   409 with       an id of the log before the cursor ─▶ the remote went back (restore): the cursor does too
 *                  an id behind it ─▶ all before is ours: to the end, wherever that is
 *                  an id that is not in the log ─▶ diverged: somebody else wrote there
 *   403 with       a later epoch ─▶ fenced · an earlier one ─▶ the claim was lost with the end of the remote: again
 *   another store  from the beginning: what is there is known by its keys
 */
import * as Effect from "effect/Effect"
import * as os from "node:os"
import type { End } from "../../Ingress.ts"
import * as ReplicaStatus from "../../ReplicaStatus.ts"
import * as Replica from "./replica.ts"
import type { Session } from "./session.ts"
import * as Step from "./step.ts"
import * as Tail from "./tail.ts"

/** Claims the session, and keeps the claim in the cursor of its main log. */
export const claim = Effect.fnUntraced(function* (session: Session) {
  const { ingress, main } = session
  const id = session.writer?.id ?? (yield* session.newWriterId)
  const { backend, epoch } = yield* ingress.claim(session.id, id)
  session.writer = { id, epoch }
  if (isOther(main, backend)) yield* restart(session, backend)
  const known = { writer: { ...session.writer, host: os.hostname() }, ...(backend !== undefined && { backend }) }
  yield* Replica.note(main, known)
})

/**
 * Asks the remote where its streams end, which nobody notices otherwise while nothing is written: that it went back, is
 * another, or was claimed by another writer.
 */
export const verify = Effect.fnUntraced(function* (session: Session) {
  const found = yield* Effect.catchTag(session.ingress.streams(session.id), "NotFound", () => Effect.succeed(nowhere))
  const { epoch, streams } = found
  if (session.writer !== undefined && epoch > session.writer.epoch) return Step.stop(ReplicaStatus.Fenced({ epoch }))
  const [backend] = streams.flatMap((one) => one.backend ?? [])
  if (isOther(session.main, backend)) return yield* Effect.as(restart(session, backend), Step.moved)
  let last = Step.still
  for (const replica of session.replicas.values()) {
    const { byte, head, seq } = replica.cursor
    const end = streams.find(({ stream }) => stream === replica.stream) ?? { head: undefined, seq: 0 }
    const isThere = end.seq >= seq && (end.head ?? null) === head
    if (byte > 0 && !isThere) last = yield* meet(replica, end)
    if (last._tag === "Stop") break
  }
  return last
})

const nowhere = { epoch: 0, streams: [] }

/** Sends what stands behind the cursor of a stream, one batch. */
export const step = Effect.fnUntraced(function* (session: Session, replica: Replica.Replica) {
  const { ingress, port } = session
  const { cursor, file, log, most } = replica
  const look = yield* Tail.look(port, log, file, cursor, most, (_, at) => Replica.isSent(replica, at))
  if (look._tag === "Nothing") return Step.still
  if (look._tag === "TooLong") return yield* Step.block(replica, "entry-too-large")
  if (look._tag === "Replaced") return yield* Effect.as(Replica.restart(replica), Step.moved)
  const lines = look.pieces.map(({ line }) => line)
  if (lines.length === 0) return yield* Effect.as(Replica.move(replica, look.end), Step.moved)

  const lastUuid = replica.isAnywhere ? "*" : (cursor.head ?? undefined)
  const target = { session: session.id, sub: replica.stream }
  // What was refused is asked again without it, so that no server can refuse it for that reason for ever.
  const backend = replica.refused === undefined ? cursor.backend : undefined
  const answer = yield* Effect.result(ingress.append(target, { lines, lastUuid, writer: session.writer, backend }))
  if (answer._tag === "Success") {
    const { backend, head, seq } = answer.success
    if (isOther(replica, backend)) return yield* Effect.as(restart(session, backend), Step.moved)
    Replica.tookAll(replica, session.most)
    yield* Replica.move(replica, look.end, { head: head ?? null, seq, ...(backend !== undefined && { backend }) })
    return Step.moved
  }
  const { failure } = answer
  if (failure._tag === "HeadMismatch") {
    if (isOther(replica, failure.backend)) return yield* Effect.as(restart(session, failure.backend), Step.moved)
    if (replica.isAnywhere) return Step.wait(failure)
    return yield* meet(replica, { head: failure.lastUuid, seq: failure.seq })
  }
  if (failure._tag === "StaleEpoch") {
    if (failure.epoch > (session.writer?.epoch ?? 0)) return Step.stop(ReplicaStatus.Fenced({ epoch: failure.epoch }))
    session.writer = undefined
    return Step.moved
  }
  return yield* Step.afterFailure(replica, look.pieces, failure)
})

/** The remote ends elsewhere than was thought: where in the log is that? */
const meet = Effect.fnUntraced(function* (replica: Replica.Replica, { head, seq }: Pick<End, "head" | "seq">) {
  // What was refused for the same reason twice is known to be there in another order.
  const isAgain = replica.refused === (head ?? "")
  replica.refused = head ?? ""
  if (head === undefined && seq === 0) {
    return yield* Effect.as(Replica.move(replica, { byte: 0, line: 1 }, { head: null, seq }), Step.moved)
  }
  if (head === undefined) {
    replica.isAnywhere = isAgain || replica.cursor.head === null
    return yield* Effect.as(Replica.note(replica, { head: null, seq }), Step.moved)
  }
  const place = yield* Tail.find(replica.log, head)
  if (place === undefined) return Step.stop(ReplicaStatus.Diverged({ stream: replica.stream, head }))
  replica.isAnywhere = isAgain || place.byte > replica.cursor.byte
  yield* replica.isAnywhere ? Replica.note(replica, { head, seq }) : Replica.move(replica, place, { head, seq })
  return Step.moved
})

const isOther = ({ cursor }: Replica.Replica, backend: string | undefined): boolean =>
  backend !== undefined && cursor.backend !== undefined && cursor.backend !== backend

/** Begins anew with every stream, at another store, where the session has to be claimed as well. */
const restart = (session: Session, backend: string | undefined) =>
  Effect.forEach(session.replicas.values(), (replica) =>
    Replica.restart(replica, backend === undefined ? {} : { backend })
  )
