/**
 * Compat: the messages of the main stream, by the compat profile: an entry a request, each behind the one before.
 *
 *   200, 201      the next one
 *   409 with      the id of the entry ─▶ it was stored, and its answer lost
 *                 an id of the log before it ─▶ the remote went back: so does the cursor
 *                 an id behind it ─▶ all up to there was stored, and the cursor lost
 *                 another id ─▶ somebody else wrote there: it is taken over, and the entry tried behind it
 *                 none ─▶ the log that the remote gives says where it ends
 *
 * An entry of which nobody knows whether it was stored is looked for in the log of the remote before it is sent behind a
 * line of somebody else: a server of this profile does not know entries again.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Routing from "@reprise/domain/Routing"
import type * as EntryLog from "@reprise/storage/EntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as RemoteLog from "../../RemoteLog.ts"
import * as ReplicaStatus from "../../ReplicaStatus.ts"
import * as StreamLine from "../../StreamLine.ts"
import * as Replica from "./replica.ts"
import type { Session } from "./session.ts"
import * as Step from "./step.ts"
import * as Tail from "./tail.ts"

/** Takes over what others wrote so often in a row, and waits then. */
const TAKEN_OVER = 10

/** Is it a message of the main lane? */
const isCompat = ({ uuid, value }: StreamLine.StreamLine): boolean => {
  if (uuid === undefined || typeof value?.["type"] !== "string") return false
  const decision = Routing.decide(nothing, Entry.read(value as Entry.Unknown).entry)
  return Result.isSuccess(decision) && decision.success.replicate.compat
}

const nothing: ReadonlySet<string> = new Set()

/** How far sending has come: the next piece, the end of the remote, and how often that was taken over from others. */
interface Progress {
  readonly pieces: ReadonlyArray<Tail.Piece>
  at: number
  head: string | undefined
  takenOver: number
}

/** Sends what stands behind the cursor of the main stream, piece by piece. */
export const step = Effect.fnUntraced(function* (session: Session, replica: Replica.Replica) {
  const { port } = session
  const { cursor, file, log, most } = replica
  const look = yield* Tail.look(
    port,
    log,
    file,
    cursor,
    most,
    (line, at) => isCompat(line) && Replica.isSent(replica, at)
  )
  if (look._tag === "Nothing") return Step.still
  if (look._tag === "TooLong") return yield* Step.block(replica, "entry-too-large")
  if (look._tag === "Replaced") return yield* Effect.as(Replica.restart(replica), Step.moved)
  const progress: Progress = { pieces: look.pieces, at: 0, head: cursor.head ?? undefined, takenOver: 0 }
  while (progress.at < progress.pieces.length) {
    const end = yield* put(session, replica, progress)
    if (end === undefined) continue
    yield* save(replica, progress)
    return end
  }
  replica.aside.clear()
  yield* Replica.move(replica, look.end, { head: progress.head ?? null })
  return Step.moved
})

/** What was stored so far needs not be sent again, and where the remote ends not be found out again. */
const save = (replica: Replica.Replica, { at, head, pieces }: Progress) =>
  at === 0
    ? Replica.note(replica, { head: head ?? null })
    : Replica.move(replica, pieces[at - 1]!.end, { head: head ?? null })

/** Sends the next piece; gives how the step ends, if it does. */
const put = Effect.fnUntraced(function* (session: Session, replica: Replica.Replica, progress: Progress) {
  const piece = progress.pieces[progress.at]!
  const { line } = piece
  const answer = yield* Effect.result(session.ingress.put(session.id, line.text, progress.head))
  if (Result.isFailure(answer)) {
    const { failure } = answer
    // A server that knows the native profile as well says so of a session that was claimed.
    if (failure._tag === "StaleEpoch") return Step.stop(ReplicaStatus.Fenced(failure))
    if (failure._tag === "HeadMismatch") return Step.wait(failure)
    replica.isDoubtful = true
    return yield* Step.afterFailure(replica, [piece], failure)
  }
  const put = answer.success
  if (put._tag === "Refused" && put.head !== line.uuid) return yield* meet(session, replica, progress, put.head)
  stored(replica, progress, progress.at, line.uuid)
  return undefined
})

/** All pieces up to one are stored, and the remote ends with `head`. */
const stored = (replica: Replica.Replica, progress: Progress, last: number, head: string | undefined): void => {
  progress.at = last + 1
  progress.head = head
  progress.takenOver = 0
  replica.isDoubtful = false
  replica.refused = undefined
  replica.asideInRow = 0
}

/** The remote ends elsewhere than was thought: goes on behind that, or goes back, or finds that all is there. */
const meet = Effect.fnUntraced(function* (
  session: Session,
  replica: Replica.Replica,
  progress: Progress,
  told: string | undefined
) {
  if (told !== undefined && told === progress.head) return refusedAtItsEnd
  const place = told === undefined ? undefined : yield* Tail.find(replica.log, told, isCompat)
  if (place !== undefined) return yield* jump(replica, progress, told, place)
  if (++progress.takenOver > TAKEN_OVER) return Step.wait({ message: "others write to the remote without end" })
  if (told === undefined || replica.isDoubtful) return yield* lookUp(session, replica, progress, told)
  progress.head = told
  return undefined
})

/** The remote ends with a line of somebody else, or does not say with which: its log tells what of ours it has. */
const lookUp = Effect.fnUntraced(function* (
  session: Session,
  replica: Replica.Replica,
  progress: Progress,
  told: string | undefined
) {
  const read = yield* Effect.result(readLog(session))
  if (Result.isFailure(read)) {
    const { failure } = read
    return failure._tag === "NotALog" ? Step.wait(failure) : Step.ofFailure(replica.stream, failure)
  }
  const { ids, last } = read.success
  if (told !== undefined && last !== undefined && last !== told)
    return Step.wait({ message: `the log of the remote ends with ${last}, and its answer says ${told}` })
  const head = told ?? last
  if (head === undefined) return yield* jump(replica, progress, undefined, { byte: 0, line: 1 })
  const { byteStart } = progress.pieces[progress.at]!
  const { before, known } = yield* lastOf(replica.log, ids, byteStart)
  const isBehind = known !== undefined && known.byte < (before?.byte ?? 0)
  if (known !== undefined && (isBehind || known.byte > byteStart)) return yield* jump(replica, progress, head, known)
  if (head === progress.head) return refusedAtItsEnd
  replica.isDoubtful = false
  progress.head = head
  return undefined
})

/** The remote ends with a line of the log: all before it is there, and nothing behind it. */
const jump = Effect.fnUntraced(function* (
  replica: Replica.Replica,
  progress: Progress,
  head: string | undefined,
  place: Tail.Place
) {
  const isBack = place.byte <= progress.pieces[progress.at]!.byteStart
  // Servers that do not agree with one another are asked again later.
  if (isBack && replica.refused === (head ?? "")) return refusedAtItsEnd
  replica.refused = isBack ? (head ?? "") : undefined
  replica.isDoubtful &&= isBack
  progress.at = 0
  progress.head = head
  return yield* Effect.as(Replica.move(replica, place), Step.moved)
})

const refusedAtItsEnd = Step.wait({ message: "the remote refuses what stands behind the end that it tells" })

/** The ids of the log that the remote gives, and the last one. What is not there is empty. */
const readLog = Effect.fnUntraced(function* (session: Session) {
  const ids = new Set<string>()
  let last: string | undefined
  yield* Stream.runForEachArray(RemoteLog.ofLoglines(session.ingress.loglines(session.id)).lines, (some) =>
    Effect.sync(() => {
      for (const { line } of some) if (line.uuid !== undefined) ids.add((last = line.uuid))
    })
  ).pipe(Effect.catchTag("NotFound", () => Effect.void))
  return { ids, last }
})

/** Of the messages of a log, the places behind the last one with one of these ids, and behind the last one before a byte. */
const lastOf = Effect.fnUntraced(function* (log: EntryLog.LogId, ids: ReadonlySet<string>, byte: number) {
  let known: Tail.Place | undefined
  let before: Tail.Place | undefined
  yield* LineReader.forEachLine(log, (bytes, { byteEnd, line: number }, terminated) => {
    if (!terminated) return
    const line = StreamLine.ofBytes(bytes, "~")
    if (!isCompat(line)) return
    const place = { byte: byteEnd + 1, line: number + 1 }
    if (place.byte <= byte) before = place
    if (ids.has(line.uuid!)) known = place
  })
  return { known, before }
})
