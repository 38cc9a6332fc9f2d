/**
 * Bytes to text, text to JSON; total.
 */

/** Of the Encoding standard, in every runtime; pure. */
declare const TextDecoder: new (
  label: string,
  options: { readonly fatal?: boolean; readonly ignoreBOM: boolean }
) => { readonly decode: (bytes: Uint8Array) => string }

const lenient = new TextDecoder("utf-8", { ignoreBOM: true })
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true })

/** The text of the bytes; what is no UTF-8 reads as U+FFFD, and a byte order mark stays. */
export const textOf = (bytes: Uint8Array): string => lenient.decode(bytes)

/** Are the bytes UTF-8? */
export const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    strict.decode(bytes)
    return true
  } catch {
    return false
  }
}

/** The JSON value; undefined where the text is none. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Is it an object with a string `type`? */
export const isTyped = (value: unknown): value is { readonly type: string; readonly [key: string]: unknown } =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  typeof (value as { readonly type?: unknown }).type === "string"
