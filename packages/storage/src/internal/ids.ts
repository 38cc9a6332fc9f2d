/**
 * The ids on a line, told by its bytes.
 *
 *   {"type":"user",…,"message":{… \"uuid\":\"quoted\" …},"uuid":"u1","toolUseResult":{"uuid":"inner"}}     inner, u1
 *
 * A quote inside of a string is escaped, so `"uuid":` is a key wherever it stands; whether it is that of the entry or of
 * something inside of it, the bytes do not tell.
 */
import { Buffer } from "node:buffer"

const KEY = Buffer.from('"uuid":')
const QUOTE = 0x22
const SPACE = 0x20
const TAB = 0x09
const COLON = 0x3a
const BACKSLASH = 0x5c

/** Gives all ids in the line, the last one first; false: the line is written in a way that its bytes do not tell them. */
export const inBytes = (line: Buffer, onId: (uuid: string) => void): boolean => {
  if (!isPlain(line)) return false
  for (let at = line.lastIndexOf(KEY); at >= 0; at = at === 0 ? -1 : line.lastIndexOf(KEY, at - 1)) {
    let from = at + KEY.length
    while (line[from] === SPACE || line[from] === TAB) from++
    if (line[from] !== QUOTE) continue
    const to = line.indexOf(QUOTE, from + 1)
    if (to < 0) continue
    if (line.subarray(from, to).includes(BACKSLASH)) return false
    onId(line.toString("utf8", from + 1, to))
  }
  return true
}

/** Whether a colon follows its first key at once, as all writers of transcripts put it, or there is none. */
const isPlain = (line: Buffer): boolean => {
  const quote = line.indexOf(QUOTE)
  const end = quote < 0 ? -1 : line.indexOf(QUOTE, quote + 1)
  return end < 0 || line[end + 1] === COLON
}
