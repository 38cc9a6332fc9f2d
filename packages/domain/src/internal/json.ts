/**
 * Bytes to text, text to JSON; total.
 */

/** Of the Encoding standard, in every runtime; pure. */
declare const TextDecoder: new (
  label: string,
  options: { readonly fatal?: boolean; readonly ignoreBOM: boolean }
) => { readonly decode: (bytes: Uint8Array) => string }

declare const TextEncoder: new () => {
  readonly encodeInto: (text: string, target: Uint8Array) => { readonly written: number }
}

const encoder = new TextEncoder()

/** Writes the text as UTF-8, which takes three bytes at most for each of its units, and gives its length in bytes. */
export const into = (target: Uint8Array, text: string): number => encoder.encodeInto(text, target).written

const lenient = new TextDecoder("utf-8", { ignoreBOM: true })
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true })

/** The units of the longest string of V8. */
const LONGEST = 2 ** 29 - 24

/**
 * The text of the bytes; what is no UTF-8 reads as U+FFFD, and a byte order mark stays. More bytes than a string is sure
 * to hold have none.
 */
export const textOf = (bytes: Uint8Array): string => (bytes.length > LONGEST ? "" : lenient.decode(bytes))

/** Bytes that are looked at at once. */
const SLICE = 1 << 22

/** Are the bytes UTF-8? */
export const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    for (let from = 0, to = 0; from < bytes.length; from = to) {
      to = Math.min(bytes.length, from + SLICE)
      while (to < bytes.length && isContinuation(bytes[to]!)) to++
      strict.decode(bytes.subarray(from, to))
    }
    return true
  } catch {
    return false
  }
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80

/** The JSON value; undefined where the text is none. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text of a JSON value of any depth: where the runtime recurses too deep, nothing here does. */
export const stringify = (value: unknown): string => {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return textOfDeep(value)
  }
}

/** What is still to be written: a value, or text that stands between values. */
type Rest = { readonly value: unknown } | { readonly text: string }

const textOfDeep = (root: unknown): string => {
  const parts: Array<string> = []
  const rest: Array<Rest> = [{ value: root }]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if ("text" in next) parts.push(next.text)
    else if (typeof next.value !== "object" || next.value === null) parts.push(JSON.stringify(next.value) ?? "null")
    else for (const one of membersOf(next.value).toReversed()) rest.push(one)
  }
  return parts.join("")
}

const membersOf = (value: object): Array<Rest> => {
  const isArray = Array.isArray(value)
  const members: Array<Rest> = [{ text: isArray ? "[" : "{" }]
  for (const [key, member] of Object.entries(value)) {
    // As `JSON.stringify` does: what has no JSON is left out of an object, and null in a list.
    if (!isArray && JSON.stringify(typeof member === "object" ? null : member) === undefined) continue
    const comma = members.length > 1 ? "," : ""
    members.push({ text: isArray ? comma : `${comma}${JSON.stringify(key)}:` }, { value: member })
  }
  members.push({ text: isArray ? "]" : "}" })
  return members
}

/** Is it an object with a string `type`? */
export const isTyped = (value: unknown): value is { readonly type: string; readonly [key: string]: unknown } =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  typeof (value as { readonly type?: unknown }).type === "string"
