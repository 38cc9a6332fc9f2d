/**
 * The least code that reads a transcript in plain Node: no checks, no fold, no findings, trust in the shape of lines.
 */
import * as fs from "node:fs"
import { timed, type Args, type Variant } from "./compare.ts"
import { peakMb } from "./memory.ts"

/** What was found is held here, so that it counts in memory. */
const held: { answer?: unknown } = {}

const LF = 10

/** Calls `onLine` with each line of a part of a file; one buffer, which grows for a long line. */
const eachLine = (
  fd: number,
  start: number,
  end: number,
  onLine: (buffer: Buffer, from: number, to: number) => void
) => {
  let buffer = Buffer.allocUnsafe(1 << 20)
  let have = 0
  for (let at = start; at < end;) {
    if (have === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)])
    const count = fs.readSync(fd, buffer, have, Math.min(buffer.length - have, end - at), at)
    if (count === 0) break
    at += count
    have += count
    const view = buffer.subarray(0, have)
    let from = 0
    for (let to = view.indexOf(LF); to >= 0; to = view.indexOf(LF, from)) {
      if (to > from) onLine(buffer, from, to)
      from = to + 1
    }
    buffer.copyWithin(0, from, have)
    have -= from
  }
  if (have > 0) onLine(buffer, 0, have)
}

const parsed = (fd: number, start: number, end: number): Array<any> => {
  const all: Array<unknown> = []
  eachLine(fd, start, end, (buffer, from, to) => all.push(JSON.parse(buffer.toString("utf8", from, to))))
  return all
}

const needle = Buffer.from('"compact_boundary"')

/** The start of the last line before `before` that holds the bytes, and its text. */
const lastLineWith = (fd: number, bytes: Buffer, before: number): { readonly start: number; readonly text: string } => {
  for (let reach = 1 << 18; ; reach *= 2) {
    const low = Math.max(0, before - reach)
    const view = Buffer.allocUnsafe(before - low)
    fs.readSync(fd, view, 0, view.length, low)
    const at = view.lastIndexOf(bytes)
    const start = at < 0 ? -1 : view.lastIndexOf(LF, at)
    if (start < 0 && low > 0) continue
    const end = view.indexOf(LF, at)
    return { start: low + start + 1, text: view.toString("utf8", start + 1, end < 0 ? view.length : end) }
  }
}

/** Where the suffix begins: at the last boundary, or at the head of what it preserved. */
const suffixStart = (fd: number, size: number): number => {
  const { start, text } = lastLineWith(fd, needle, size)
  const head = JSON.parse(text).compactMetadata?.preservedSegment?.headUuid
  return head === undefined ? start : lastLineWith(fd, Buffer.from(`"uuid":"${head}"`), start).start
}

const metadataBytes = Buffer.from('{"type":"')

/** The metadata lines before `end`: told by their first bytes and their length. */
const metadataBefore = (fd: number, end: number): Array<unknown> => {
  const all: Array<unknown> = []
  eachLine(fd, 0, end, (buffer, from, to) => {
    if (to - from >= 4096 || buffer.compare(metadataBytes, 0, 9, from, from + 9) !== 0) return
    all.push(JSON.parse(buffer.toString("utf8", from, to)))
  })
  return all
}

const UUID = Buffer.from('"uuid":"')

/** The place of each line, and the line of each id that is found by its bytes. */
const skeleton = (fd: number, size: number): unknown => {
  const ids = new Map<string, number>()
  const offsets: Array<number> = []
  let offset = 0
  eachLine(fd, 0, size, (buffer, from, to) => {
    const at = buffer.subarray(from, to).lastIndexOf(UUID)
    if (at >= 0)
      ids.set(buffer.toString("latin1", from + at + UUID.length, from + at + UUID.length + 36), offsets.length)
    offsets.push(offset)
    offset += to - from + 1
  })
  return { ids, offsets }
}

/** A job on the file: its peak memory counts from the first time on. */
export const job = (note: string, read: (file: string) => unknown): Variant => ({
  note,
  setup: (args: Args) => ({ file: args["file"], before: peakMb() }),
  run: async ({ before, file }) => {
    const time = await timed(async () => {
      held.answer = await read(file)
    })
    return { n: 1, ...time, growthMb: Math.round(peakMb() - before) }
  }
})

const opened = (read: (fd: number, size: number) => unknown) => (file: string) => {
  const fd = fs.openSync(file, "r")
  const answer = read(fd, fs.fstatSync(fd).size)
  fs.closeSync(fd)
  return answer
}

/** By name. */
export const floors: { readonly [name: string]: Variant } = {
  chunked: job(
    "floor: 1 MB chunks, one parse for each line",
    opened((fd, size) => parsed(fd, 0, size))
  ),
  skeleton: job("floor of a lazy open: ids and places by their bytes, nothing parsed", opened(skeleton)),
  suffixFloor: job(
    "floor: back to the last boundary, parse what follows",
    opened((fd, size) => parsed(fd, suffixStart(fd, size), size))
  ),
  metadataFloor: job(
    "floor: the same with every older metadata line",
    opened((fd, size) => {
      const start = suffixStart(fd, size)
      return [metadataBefore(fd, start), parsed(fd, start, size)]
    })
  )
}
