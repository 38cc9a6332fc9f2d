/**
 * LocalLog: a log as the lines that a merge compares, each with its place.
 */
import * as Entry from "@reprise/domain/Entry"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import type * as EntryLog from "@reprise/storage/EntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as Effect from "effect/Effect"
import * as LineKey from "../LineKey.ts"
import type * as Merge from "../Merge.ts"
import type { StreamLine } from "../StreamLine.ts"

/** A line with its number, from 1, and its bytes, without LF. */
export interface LocalLine extends Merge.Line {
  readonly number: number
  readonly byteStart: number
  readonly byteEnd: number
}

/** The lines of a log; `isTorn`: the last one lacks its LF. */
export interface LocalLog {
  readonly lines: ReadonlyArray<LocalLine>
  readonly isTorn: boolean
}

/** A line as a merge compares it; `isMain`: messages are those of the main lane. */
export const compared = ({ hash, uuid, value }: StreamLine, isMain: boolean): Merge.Line => {
  const said = uuid === undefined ? undefined : saidIn(value, isMain)
  return { hash, ...(uuid !== undefined && { uuid }), ...(said !== undefined && { said }) }
}

const none: LocalLog | undefined = undefined

const isNotFound = ({ reason }: EntryLog.EntryLogError): boolean => reason === "NotFound"

/** Reads a log; undefined where there is none. */
export const read = Effect.fnUntraced(
  function* (log: EntryLog.LogId, isMain: boolean) {
    const lines: Array<LocalLine> = []
    let isTorn = false
    yield* LineReader.forEachLine(log, (bytes, { byteEnd, byteStart, line: number }, terminated) => {
      lines.push({ ...compared(LineKey.lineAt(number, bytes), isMain), number, byteStart, byteEnd })
      isTorn = !terminated
    })
    const read: LocalLog = { lines, isTorn }
    return read
  },
  Effect.map((read): LocalLog | undefined => read),
  Effect.catchIf(isNotFound, () => Effect.succeed(none))
)

/** When a message of the lane was said; undefined where the entry is none. */
const saidIn = (value: StreamLine["value"], isMain: boolean): string | undefined => {
  if (!isTyped(value) || !Entry.isMessage(value) || (isMain && value.isSidechain === true)) return undefined
  return (typeof value.timestamp === "string" ? SessionMetadata.timeOf(value) : undefined) ?? ""
}

const isTyped = (value: StreamLine["value"]): value is Entry.Unknown => typeof value?.["type"] === "string"
