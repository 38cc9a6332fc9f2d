/**
 * Tar: files in one archive, as POSIX (ustar, with pax records for long names) has it; any `tar` reads it.
 *
 *   header 512 · bytes, filled up to 512 · header … · 1024 zeros
 *
 * Reading is strict: what is no regular file (links, devices, directories) is refused, and so is a checksum that is wrong.
 */
import { Buffer } from "node:buffer"

const BLOCK = 512
const REGULAR = "0"
const PAX = "x"

/** The largest record of pax that is read: a name and little else. */
const MOST = 1 << 16

/** Why an archive is refused. */
export class Refused extends Error {
  readonly code = "EREFUSED"
}

/** What something is that does not begin as an archive does. */
export const none = "no archive, or one that is broken"

/** The header of a file; `time` in seconds since 1970. */
export const header = (name: string, size: number, time: number): Buffer => {
  const plain = Buffer.byteLength(name) <= 100 && /^[\x20-\x7e]*$/.test(name)
  if (plain && size < 8 ** 11) return block(name, size, REGULAR, time)
  const record = Buffer.from(recordOf("path", name) + recordOf("size", String(size)))
  return Buffer.concat([
    block("pax", record.length, PAX, time),
    record,
    padding(record.length),
    block("file", size, REGULAR, time)
  ])
}

const recordOf = (key: string, value: string): string => {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + 1
  while (rest + String(length).length !== length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}

/** What fills a file of so many bytes up to whole blocks. */
export const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)

/** What ends an archive. */
export const end: Buffer = Buffer.alloc(2 * BLOCK)

const block = (name: string, size: number, type: string, time: number): Buffer => {
  const bytes = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, length: number): void => {
    bytes.write(
      Math.min(value, 8 ** (length - 1) - 1)
        .toString(8)
        .padStart(length - 1, "0"),
      at,
      "latin1"
    )
  }
  bytes.write(name, 0, 100)
  octal(0o600, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(time, 136, 12)
  bytes.write(type, 156)
  bytes.write("ustar\u000000", 257, "latin1")
  bytes.write(checksum(bytes).toString(8).padStart(6, "0") + "\u0000 ", 148, "latin1")
  return bytes
}

const checksum = (bytes: Uint8Array): number =>
  bytes.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0)

/** A file of an archive: its name, and where its bytes are. */
export interface Member {
  readonly name: string
  readonly start: number
  readonly size: number
}

/** The files of an archive of `length` bytes; `read` gives so many bytes from an offset on. Throws `Refused`. */
export function* members(length: number, read: (at: number, count: number) => Buffer): Generator<Member> {
  let at = 0
  let named: { path?: string; size?: number } = {}
  for (;;) {
    if (at + BLOCK > length) throw new Refused(at === 0 ? none : "the archive ends in the middle")
    const bytes = read(at, BLOCK)
    if (bytes.every((byte) => byte === 0)) return mustBeZeros(at + BLOCK, length, read)
    if (at === 0 && !/^[0-7]+$/.test(text(bytes, 148, 8).trim())) throw new Refused(none)
    if (number(bytes, 148, 8) !== checksum(bytes)) throw new Refused(`no header of a file at byte ${at}`)
    const type = String.fromCharCode(bytes[156]!)
    const size = named.size ?? number(bytes, 124, 12)
    const start = at + BLOCK
    if (start + size > length) throw new Refused("the archive ends in the middle of a file")
    if (type === PAX) {
      if (size > MOST) throw new Refused("a record of more than 64 KiB")
      named = records(read(start, size))
    } else {
      const name = named.path ?? nameOf(bytes)
      if (type !== REGULAR && type !== "\u0000") throw new Refused(`${JSON.stringify(name)} is no regular file`)
      yield { name, start, size }
      named = {}
    }
    at = start + size + ((BLOCK - (size % BLOCK)) % BLOCK)
  }
}

/** Behind the end of an archive is nothing but zeros: what else there is would be left out in silence. */
const mustBeZeros = (from: number, length: number, read: (at: number, count: number) => Buffer): void => {
  for (let at = from; at < length; at += MOST) {
    if (read(at, Math.min(MOST, length - at)).some((byte) => byte !== 0)) {
      throw new Refused("more behind the end of the archive, such as another one; import each by itself")
    }
  }
}

const text = (bytes: Buffer, at: number, length: number): string => {
  const field = bytes.subarray(at, at + length)
  const zero = field.indexOf(0)
  return field.toString("utf8", 0, zero < 0 ? length : zero)
}

const nameOf = (bytes: Buffer): string => {
  const prefix = text(bytes, 345, 155)
  return prefix === "" ? text(bytes, 0, 100) : `${prefix}/${text(bytes, 0, 100)}`
}

const number = (bytes: Buffer, at: number, length: number): number => {
  const digits = text(bytes, at, length).trim()
  if (!/^[0-7]+$/.test(digits)) throw new Refused(`no number at byte ${at} of a header`)
  return parseInt(digits, 8)
}

const records = (bytes: Buffer): { path?: string; size?: number } => {
  const found: { path?: string; size?: number } = {}
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const length = Number(bytes.toString("latin1", at, space))
    if (space < 0 || !Number.isSafeInteger(length) || length < 5 || at + length > bytes.length)
      throw new Refused("a record that is none")
    const [, key, value] = /^(\w[\w.]*)=([^]*)\n$/.exec(bytes.toString("utf8", space + 1, at + length)) ?? []
    if (key === "path") found.path = value!
    if (key === "size") {
      if (!/^\d{1,15}$/.test(value!)) throw new Refused("a size that is no number")
      found.size = Number(value)
    }
    at += length
  }
  return found
}
