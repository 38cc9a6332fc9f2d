/** Logs in memory, read through the three doors, with every read counted. */
import type * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Notation from "@reprise/domain/testing/Notation"
import type { History as Amount } from "@reprise/domain/Suffix"
import * as Interruption from "@reprise/recovery/Interruption"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import type { SessionState } from "@reprise/recovery/SessionState"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as History from "@reprise/storage/History"
import * as Effect from "effect/Effect"

/** How often and how much of a log was read. */
export interface Work {
  reads: number
  bytes: number
  lines: number
}

/** A log of these bytes, of which a read gives so many at most; `work` grows as it is read. */
export const logOf = Effect.fnUntraced(function* (
  bytes: Uint8Array,
  work: Work = { reads: 0, bytes: 0, lines: 0 },
  most = Infinity
) {
  const log = EntryLog.at("/session.jsonl")
  const reader: EntryLog.Reader = {
    size: bytes.length,
    isReplaced: Effect.succeed(false),
    read: (offset, into) =>
      Effect.sync(() => {
        const part = bytes.subarray(offset, offset + Math.min(into.length, most))
        into.set(part)
        work.reads++
        work.bytes += part.length
        return part.length
      })
  }
  const port = yield* EntryLog.EntryLog
  return { log, reader, port: EntryLog.EntryLog.of({ ...port, reader: () => Effect.succeed(reader) }) }
})

/** What recovery gives for the bytes through a door. */
export const through = Effect.fnUntraced(function* (
  bytes: Uint8Array,
  history: Amount,
  options: History.Options & { readonly most?: number } = {}
) {
  const work: Work = { reads: 0, bytes: 0, lines: 0 }
  const { log, port } = yield* logOf(bytes, work, options.most)
  const read = History.read(log, Recovery.judged(), { ...options, history })
  const { answer: state, ...door } = yield* Effect.provideService(read, EntryLog.EntryLog, port)
  work.lines = state.extent.lines
  return { ...door, state, work }
})

/** What the model and the user see. */
export const seen = (state: SessionState) => {
  const view = ModelMessages.make(state)
  return {
    conversation: Notation.show(state.conversation),
    messages: view.messages,
    interruption: Interruption.judge(state.conversation, view)
  }
}

/** What stands beside the conversation, without the lines on which it stands. */
export const beside = ({ metadata, sessionId, snapshots }: SessionState) => ({
  sessionId,
  metadata,
  snapshots: { ...snapshots, pending: snapshots.pending.map(({ at: { byteStart }, text }) => ({ byteStart, text })) }
})

/** The bytes of lines, each a text, an entry, or a picture of several. */
export const bytesOf = (...lines: ReadonlyArray<string | { readonly picture: string } | object>): Uint8Array =>
  new TextEncoder().encode(
    lines
      .flatMap((line) => {
        if (typeof line === "string") return [line]
        return "picture" in line
          ? Notation.entries(line.picture as string).map(Line.encode)
          : [Line.encode(line as Entry.Entry)]
      })
      .map((line) => `${line}\n`)
      .join("")
  )
