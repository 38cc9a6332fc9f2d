/**
 * StreamLine: one line of a stream: its key, its text, and what a store wants to know of it.
 *
 *   {"k":"<key>","e":<the entry, as it was written>}       a line that is one JSON object from first to last byte
 *   {"k":"<key>","b":"<base64>"}                           any other line: torn, glued, empty, no UTF-8
 *   {"c":"<cursor>","end":true}                            ends a page: go on there; `end`: that was all there is
 *
 * 1. The text is verbatim. It is cut out of the batch line and never made anew, so that numbers, escapes, blanks, unknown
 *    and repeated keys are the same on both sides. Without that, two copies of a log would not have the same bytes.
 * 2. For that the form is strict: no blanks around the two keys, `k` first, as `encode` writes it.
 * 3. A text that begins with `{` is an entry; base64 never does. So the text alone says what it is.
 */
import * as Boundary from "@reprise/domain/Boundary"
import * as Metadata from "@reprise/domain/Metadata"
import * as Result from "effect/Result"
import { Buffer, isUtf8 } from "node:buffer"
import * as crypto from "node:crypto"
import type * as AppendChain from "./AppendChain.ts"

/**
 * What a line is to a reader of the end of a stream: `metadata` is wanted wherever it stands, and a `boundary` makes
 * what is before it history.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "boundary" | "metadata" | "other"

/**
 * A line without its LF. `text` is the entry as written, or the base64 of a line that is none; `value` is the parsed
 * entry; `hash` the SHA-256 of the text.
 *
 * @category models
 * @since 0.1.0
 */
export interface StreamLine extends AppendChain.Line {
  readonly text: string
  readonly kind: Kind
  readonly value: { readonly [key: string]: unknown } | undefined
}

/**
 * What a store gives back: the line at place `seq`, from 1.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stored {
  readonly seq: number
  readonly key: string
  readonly text: string
}

/**
 * The last line of a page: the cursor to go on from, and whether the stream ended there.
 *
 * @category models
 * @since 0.1.0
 */
export interface Checkpoint {
  readonly cursor: string
  readonly end: boolean
}

/**
 * The line of an entry as it was written, under a key; without one, under its uuid. The failure says what is wrong.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofEntry = (text: string, key?: string): Result.Result<StreamLine, string> => {
  if (text.includes("\n")) return Result.fail("expected an entry on one line, found a line feed")
  const value = text.startsWith("{") && text.endsWith("}") ? objectOf(text) : undefined
  if (value === undefined) return Result.fail(`expected an entry, a JSON object; found ${shown(text)}`)
  const uuid = isUuid(value["uuid"]) ? value["uuid"] : undefined
  const name = key ?? uuid
  if (name === undefined) return Result.fail("expected an entry with a uuid, which is its key; found none that fits")
  if (!isKey(name)) return Result.fail(badKey(name))
  return Result.succeed({
    key: name,
    text,
    hash: hashOf(text),
    kind: kindOf(value),
    value,
    ...(uuid !== undefined && { uuid })
  })
}

/**
 * The line of any bytes, without LF, under a key that `isKey`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofBytes = (bytes: Uint8Array, key: string): StreamLine => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer[0] === OPEN && buffer.at(-1) === CLOSE && isUtf8(buffer)) {
    const entry = ofEntry(buffer.toString(), key)
    if (Result.isSuccess(entry)) return entry.success
  }
  return ofBase64(buffer.toString("base64"), key)
}

/**
 * The bytes of a line, without LF.
 *
 * @category combinators
 * @since 0.1.0
 */
export const bytesOf = ({ text }: Pick<StreamLine, "text">): Uint8Array =>
  isEntry(text) ? Buffer.from(text) : Buffer.from(text, "base64")

/**
 * How many bytes a line has, without LF.
 *
 * @category getters
 * @since 0.1.0
 */
export const sizeOf = ({ text }: Pick<StreamLine, "text">): number =>
  isEntry(text) ? Buffer.byteLength(text) : Buffer.byteLength(text, "base64")

/**
 * Is it the text of an entry, and not base64?
 *
 * @category guards
 * @since 0.1.0
 */
export const isEntry = (text: string): boolean => text.startsWith("{")

/**
 * May it be the key of a line? 1 to 256 characters, none of which is a control character.
 *
 * @category guards
 * @since 0.1.0
 */
export const isKey = (key: string): boolean => /^[^\p{Cc}\p{Cs}]{1,256}$/u.test(key)

/**
 * May it be the id behind which lines are put? 1 to 256 visible ASCII characters, as a header can carry, and not `*`.
 *
 * @category guards
 * @since 0.1.0
 */
export const isUuid = (uuid: unknown): uuid is string =>
  typeof uuid === "string" && uuid !== "*" && /^[\x21-\x7e]{1,256}$/.test(uuid)

/**
 * The batch line, without LF.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = ({ key, text }: Pick<StreamLine, "key" | "text">): string =>
  isEntry(text) ? `{"k":${JSON.stringify(key)},"e":${text}}` : `{"k":${JSON.stringify(key)},"b":"${text}"}`

/**
 * The checkpoint that closes a page, without LF.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encodeCheckpoint = ({ cursor, end }: Checkpoint): string => `{"c":${JSON.stringify(cursor)},"end":${end}}`

/**
 * Reads a batch line, without LF. The failure says what was expected and found.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = (line: string): Result.Result<StreamLine, string> => {
  const [head = "", name, form] = HEAD.exec(line) ?? []
  const key = name === undefined ? undefined : keyOf(name)
  if (key === undefined || !line.endsWith("}"))
    return Result.fail(`expected {"k":"<key>","e":<entry>}, without blanks around the keys; found ${shown(line)}`)
  if (!isKey(key)) return Result.fail(badKey(key))
  const text = line.slice(head.length, -1)
  if (form === "e") return ofEntry(text, key)
  const base64 = text.slice(1, -1)
  return `"${Buffer.from(base64, "base64").toString("base64")}"` === text
    ? Result.succeed(ofBase64(base64, key))
    : Result.fail(`expected base64 in quotes, found ${shown(text)}`)
}

/**
 * Reads what a server answers with, a line or the checkpoint that ends a page.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeAnswer = (line: string): Result.Result<StreamLine | Checkpoint, string> => {
  const [, cursor, end] = CHECKPOINT.exec(line) ?? []
  return cursor === undefined ? decode(line) : Result.succeed({ cursor, end: end === "true" })
}

const OPEN = 0x7b
const CLOSE = 0x7d
const HEAD = /^\{"k":("(?:[^"\\]|\\.){1,1600}"),"([eb])":/u
const CHECKPOINT = /^\{"c":"([A-Za-z0-9_-]{1,1024})","end":(true|false)\}$/

const ofBase64 = (text: string, key: string): StreamLine => ({
  key,
  text,
  hash: hashOf(text),
  kind: "other",
  value: undefined
})

const hashOf = (text: string): string => crypto.hash("sha256", text, "base64url")

/** A boundary that keeps messages from before it leaves them wanted, so it makes nothing history. */
const kindOf = (value: { readonly [key: string]: unknown }): Kind => {
  if (Metadata.isKind(value["type"])) return "metadata"
  return Boundary.isCompact(value) && Boundary.preserved(value) === undefined ? "boundary" : "other"
}

const objectOf = (text: string): { readonly [key: string]: unknown } | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const keyOf = (quoted: string): string | undefined => {
  const key = objectOf(quoted) as unknown
  return typeof key === "string" ? key : undefined
}

const badKey = (key: string): string =>
  `expected a key of 1 to 256 characters, no control characters among them; found ${shown(JSON.stringify(key))}`

const SHOWN = 60

const shown = (text: string): string =>
  text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length})` : text || "nothing"
