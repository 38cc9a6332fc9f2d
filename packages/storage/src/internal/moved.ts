/**
 * Moved: a log whose session goes on in another directory: `cwd` and worktree paths in the old one are in the new one.
 */
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Verbatim from "@reprise/domain/Verbatim"
import { Buffer } from "node:buffer"

/** Makes the line of another directory; the bytes given may be used again. */
export type Move = (line: Uint8Array) => Uint8Array

/** From one directory to another; undefined: nothing changes. */
export const from = (old: string | null, to: string): Move | undefined => {
  if (old === null || old === to) return undefined
  const moved = mover(trimmed(old), trimmed(to))
  const shape: Verbatim.Shape = {
    cwd: moved,
    worktreeSession: { originalCwd: moved, preEnterOriginalCwd: moved, worktreePath: moved },
    trackingPath: moved,
    backup: { realParentDir: moved }
  }
  return (line) => {
    const edited = isObject(line) ? Verbatim.edit(line, { shape }) : undefined
    return edited === undefined ? line : Verbatim.bytesOf(edited)
  }
}

/** A path below the old directory is one below the new one, written as paths there are. */
const mover = (old: string, to: string): Verbatim.Change => {
  const [isOldWindows, separator] = [isWindows(old), isWindows(to) ? "\\" : "/"]
  // There, both separators are one, and so are upper and lower case.
  const spelled = (text: string): string => (isOldWindows ? text.replaceAll("/", "\\").toLowerCase() : text)
  const above = spelled(old)
  return (text) => {
    const rest = text.slice(old.length)
    const isBelow = rest === "" ? text !== "" : spelled(rest[0]!) === (isOldWindows ? "\\" : "/")
    if (!isBelow || spelled(text.slice(0, old.length)) !== above) return text
    return to + rest.replaceAll(isOldWindows ? /[\\/]/g : "/", separator) || separator
  }
}

/** A drive, or a share. */
const isWindows = (directory: string): boolean => /^([A-Za-z]:|\\\\)/.test(directory)

const trimmed = (directory: string): string => directory.replace(/[\\/]+$/, "")

/** A line that is one object and nothing else: any other is left as it is. */
const isObject = (line: Uint8Array): boolean => {
  if (line[0] !== 0x7b || line.at(-1) !== 0x7d) return false
  try {
    JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString("utf8"))
    return true
  } catch {
    return false
  }
}

/** Moves a log piece by piece; a last line without LF stays without. */
export const lines = (move: Move, write: (bytes: Uint8Array) => void) => {
  let batch: Array<Uint8Array> = []
  let size = 0
  const flush = (): void => {
    write(Buffer.concat(batch))
    batch = []
    size = 0
  }
  const splitter = LineSplitter.make((line, _, terminated) => {
    const moved = Buffer.from(move(line))
    batch.push(moved)
    if (terminated) batch.push(newline)
    size += moved.length + 1
    if (size > 1 << 20) flush()
  })
  return {
    push: (piece: Uint8Array): void => splitter.push(piece),
    end: (): void => {
      splitter.end()
      flush()
    }
  }
}

const newline = Buffer.from("\n")
