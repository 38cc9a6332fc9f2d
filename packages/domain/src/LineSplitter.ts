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
}

const LF = 0x0a

/**
 * A splitter that starts at a line and byte of the log (default: its beginning).
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (onLine: OnLine, from: { readonly line: number; readonly byte: number } = start): LineSplitter => {
  let line = from.line
  let byte = from.byte
  let carried: Array<Uint8Array> = []
  let carriedLength = 0

  const emit = (bytes: Uint8Array, terminated: boolean): void => {
    const byteEnd = byte + bytes.length
    onLine(bytes, { line, byteStart: byte, byteEnd }, terminated)
    line++
    byte = byteEnd + 1
  }
  const carry = (part: Uint8Array): void => {
    // A copy also of a Node Buffer, whose own `slice` is a view.
    carried.push(new Uint8Array(part))
    carriedLength += part.length
  }
  const takeCarried = (last: Uint8Array): Uint8Array => {
    const whole = new Uint8Array(carriedLength + last.length)
    let at = 0
    for (const part of carried) {
      whole.set(part, at)
      at += part.length
    }
    whole.set(last, at)
    carried = []
    carriedLength = 0
    return whole
  }
  return {
    push: (chunk) => {
      let lineStart = 0
      for (let lf = chunk.indexOf(LF); lf >= 0; lf = chunk.indexOf(LF, lineStart)) {
        const part = chunk.subarray(lineStart, lf)
        emit(carriedLength === 0 ? part : takeCarried(part), true)
        lineStart = lf + 1
      }
      if (lineStart < chunk.length) carry(chunk.subarray(lineStart))
    },
    end: () => {
      if (carriedLength > 0) emit(takeCarried(empty), false)
    }
  }
}

const start = { line: 1, byte: 0 }
const empty = new Uint8Array(0)
