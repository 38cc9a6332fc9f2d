/**
 * Names: texts under numbers, held as bytes: what a map from text to number holds, in a fraction of its size.
 *
 *   add("u1") 0   add("u2") 1   add("u1") 0        get("u2") 1   at(0) "u1"
 *
 * A text is sought in so many places at most. What finds none there (texts made to collide), and what is no short ASCII,
 * is held as it is in a map: no text makes it slow.
 */
import * as Column from "./column.ts"

/** Numbers count from 0, in the order of first sight. */
export interface Names {
  readonly size: () => number
  readonly get: (text: string) => number | undefined
  readonly has: (text: string) => boolean
  /** The number of a text; the next one where it is new. */
  readonly add: (text: string) => number
  readonly at: (number: number) => string
}

const PLACES = 32

/** No texts yet. */
export const make = (): Names => {
  const texts = pool()
  const starts = Column.int32()
  const hashes = Column.int32()
  const odd = new Map<string, number>()
  const oddAt = new Map<number, string>()
  let slots = new Int32Array(1 << 10).fill(-1)

  /** The slot of the number that is sought, the free one where it would stand, or -1. */
  const slotOf = (hash: number, isSought: (number: number) => boolean): number => {
    for (let i = 0; i < PLACES; i++) {
      const slot = (hash + i) & (slots.length - 1)
      const number = slots[slot]!
      if (number < 0 || (hashes.get(number) === hash && isSought(number))) return slot
    }
    return -1
  }
  const at = (number: number): string => oddAt.get(number) ?? texts.read(starts.get(number))
  const place = (number: number): void => {
    const slot = slotOf(hashes.get(number), () => false)
    if (slot >= 0) slots[slot] = number
    else odd.set(at(number), number)
  }
  const grow = (): void => {
    slots = new Int32Array(slots.length * 2).fill(-1)
    for (let number = 0; number < starts.length(); number++) if (!oddAt.has(number)) place(number)
  }
  const get = (text: string): number | undefined => {
    const slot = isShort(text) ? slotOf(hashOf(text), (number) => at(number) === text) : -1
    const found = slots[slot] ?? -1
    return found >= 0 ? found : odd.get(text)
  }
  const add = (text: string): number => {
    const number = starts.length()
    if (isShort(text)) {
      hashes.push(hashOf(text))
      starts.push(texts.write(text))
      if (number * 4 > slots.length * 3) grow()
      else place(number)
    } else {
      hashes.push(0)
      starts.push(0)
      oddAt.set(number, text)
      odd.set(text, number)
    }
    return number
  }
  return { size: starts.length, get, has: (text) => get(text) !== undefined, add: (text) => get(text) ?? add(text), at }
}

const LONGEST = 127

const isShort = (text: string): boolean => {
  if (text.length > LONGEST) return false
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}

/** FNV-1a, mixed. */
const hashOf = (text: string): number => {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return Math.imul(h ^ (h >>> 15), 0x85ebca6b) | 0
}

const BITS = 16
const CHUNK = 1 << BITS
/** Stands for a length: a UUID follows, in 16 bytes. */
const UUID = LONGEST + 1
const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Short ASCII texts one after another, each behind its length; none reaches into the next chunk. */
const pool = () => {
  const chunks: Array<Uint8Array> = [new Uint8Array(CHUNK)]
  let used = 0
  return {
    /** Gives where the text can be read. */
    write: (text: string): number => {
      if (used + text.length >= CHUNK) {
        chunks.push(new Uint8Array(CHUNK))
        used = 0
      }
      const chunk = chunks.at(-1)!
      const start = ((chunks.length - 1) << BITS) | used
      if (isUuid.test(text)) {
        const hex = text.replaceAll("-", "")
        chunk[used++] = UUID
        for (let i = 0; i < hex.length; i += 2) chunk[used++] = parseInt(hex.slice(i, i + 2), 16)
      } else {
        chunk[used++] = text.length
        for (let i = 0; i < text.length; i++) chunk[used++] = text.charCodeAt(i)
      }
      return start
    },
    read: (start: number): string => {
      const chunk = chunks[start >> BITS]!
      let next = start & (CHUNK - 1)
      const length = chunk[next++]!
      let text = ""
      if (length === UUID) {
        for (let i = 0; i < 16; i++) text += dashed.has(i) ? `-${hexes[chunk[next++]!]!}` : hexes[chunk[next++]!]!
      } else for (let i = 0; i < length; i++) text += String.fromCharCode(chunk[next++]!)
      return text
    }
  }
}

const dashed = new Set([4, 6, 8, 10])
const hexes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))
