/**
 * LineSplitter: chunks of bytes, however cut, to lines with their positions. The one line splitter of the library.
 *
 *   chunk ─┐        ┌─ carried part + first part ─▶ line
 *   chunk ─┴─ LF ───┼─ a view into the chunk ─────▶ line
 *   chunk ─┐        └─ what has no LF yet is carried
 *
 * 1. Only 0x0A separates lines; a line may be of any length.
 * 2. A line is a view that is valid during the call only: the chunk's buffer may be used again afterwards.
 */
import { constFalse } from "effect/Function"
import type { Position } from "./Finding.ts"

/**
 * What is done with a line; `terminated` is false for a last line without LF.
 *
 * @category models
 * @since 0.1.0
 */
export type OnLine = (line: Uint8Array, at: Position, terminated: boolean) => void

/**
 * A splitter under way: `push` chunks in order, then `end` once.
 *
 * @category models
 * @since 0.1.0
 */
export interface LineSplitter {
  readonly push: (chunk: Uint8Array) => void
  readonly end: () => void
  /** Where the next line begins; a last one without LF begins there for ever. */
  readonly mark: () => { readonly line: number; readonly byte: number }
}

/**
 * Whether the line `[start, end)` of the bytes, which stands at `byte` of the log, is passed by: it is counted, and costs
 * nothing more.
 *
 * @category models
 * @since 0.1.0
 */
export type IsPassed = (bytes: Uint8Array, start: number, end: number, byte: number) => boolean

const LF = 0x0a

/**
 * A splitter that starts at a line and byte of the log (default: its beginning), and may pass by lines unseen.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  onLine: OnLine,
  from: { readonly line: number; readonly byte: number } = start,
  isPassed: IsPassed = constFalse
): LineSplitter => {
  let line = from.line
  let byte = from.byte
  let carried = empty
  let carriedLength = 0

  const emit = (bytes: Uint8Array, start: number, end: number, terminated: boolean): void => {
    const byteEnd = byte + end - start
    if (!isPassed(bytes, start, end, byte)) {
      onLine(bytes.subarray(start, end), { line, byteStart: byte, byteEnd }, terminated)
    }
    if (!terminated) return
    line++
    byte = byteEnd + 1
  }
  const carry = (part: Uint8Array): void => {
    const length = carriedLength + part.length
    if (length > carried.length) {
      const longer = new Uint8Array(2 * length)
      longer.set(carried.subarray(0, carriedLength))
      carried = longer
    }
    carried.set(part, carriedLength)
    carriedLength = length
  }
  const emitCarried = (last: Uint8Array, terminated: boolean): void => {
    carry(last)
    const length = carriedLength
    carriedLength = 0
    emit(carried, 0, length, terminated)
  }
  return {
    push: (chunk) => {
      let lineStart = 0
      for (let lf = chunk.indexOf(LF); lf >= 0; lf = chunk.indexOf(LF, lineStart)) {
        if (carriedLength === 0) emit(chunk, lineStart, lf, true)
        else emitCarried(chunk.subarray(lineStart, lf), true)
        lineStart = lf + 1
      }
      if (lineStart < chunk.length) carry(chunk.subarray(lineStart))
    },
    end: () => {
      if (carriedLength > 0) emitCarried(empty, false)
    },
    mark: () => ({ line, byte })
  }
}

const start = { line: 1, byte: 0 }
const empty = new Uint8Array(0)
