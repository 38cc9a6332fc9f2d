/**
 * A transcript of any length, as fast as the disk: one block of a generated one again and again, each time with ids of its own.
 */
import type { Buffer } from "node:buffer"
import * as fs from "node:fs"
import { session, write } from "./transcript.ts"

const BLOCK_MB = 64
const id = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Writes at least so many bytes, with a compaction every 1.2 MB, and gives the number of bytes. */
export const writeLong = (file: string, bytes: number, seed: number): number => {
  write(file, { seed, mb: BLOCK_MB, compactMb: 1.2, preserved: 0, keys: "newest" })
  const block = fs.readFileSync(file)
  const ids = placesOf(block)
  const fd = fs.openSync(file, "a")
  let size = block.length
  for (let copy = 1; size < bytes; copy++) {
    const own = copy.toString(16).padStart(8, "0")
    for (const at of ids) block.write(own, at, "latin1")
    fs.writeSync(fd, block)
    size += block.length
  }
  fs.closeSync(fd)
  return size
}

/** Where the ids of messages stand; that of the session stays. */
const placesOf = (block: Buffer): ReadonlyArray<number> => {
  const places: Array<number> = []
  const STEP = 1 << 20
  for (let from = 0; from < block.length; from += STEP) {
    const text = block.toString("latin1", from, Math.min(block.length, from + STEP + 36))
    for (const { 0: found, index } of text.matchAll(id))
      if (found !== session && index < STEP) places.push(from + index)
  }
  return places
}
