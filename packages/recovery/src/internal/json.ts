/**
 * JSON values of any depth: what is nested ten thousand levels deep must not end the process, so nothing here recurses.
 */

interface JsonObject {
  readonly [key: string]: unknown
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null

/** Whether two values are equal but for the order of keys. */
export const isSame = (a: unknown, b: unknown): boolean => {
  const pairs: Array<readonly [unknown, unknown]> = [[a, b]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [one, other] = pair
    if (Object.is(one, other)) continue
    if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return false
    const keys = Object.keys(one)
    if (keys.length !== Object.keys(other).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(other, key)) return false
      pairs.push([one[key], other[key]])
    }
  }
  return true
}

/** Whether every text in a value, its keys included, is well-formed Unicode. */
const isWellFormed = (value: unknown): boolean => {
  const rest: Array<unknown> = [value]
  while (rest.length > 0) {
    const one = rest.pop()
    if (typeof one === "string" && !one.isWellFormed()) return false
    if (!isObject(one)) continue
    for (const key of Object.keys(one)) {
      if (!key.isWellFormed()) return false
      rest.push(one[key])
    }
  }
  return true
}

/** The value with U+FFFD for every lone surrogate; the value itself where there is none. */
export const toWellFormed = <A>(value: A): A => {
  if (isWellFormed(value)) return value
  const root: { value?: unknown } = {}
  const rest: Array<{ readonly from: unknown; readonly into: object; readonly key: string }> = [
    { from: value, into: root, key: "value" }
  ]
  for (let step = rest.pop(); step !== undefined; step = rest.pop()) {
    const { from, into, key } = step
    const copy = isObject(from)
      ? Array.isArray(from)
        ? []
        : {}
      : typeof from === "string"
        ? from.toWellFormed()
        : from
    // Defined, not assigned: a key may be `__proto__`.
    Object.defineProperty(into, key, { value: copy, configurable: true, enumerable: true, writable: true })
    if (!isObject(from) || !isObject(copy)) continue
    for (const own of Object.keys(from).toReversed())
      rest.push({ from: from[own], into: copy, key: own.toWellFormed() })
  }
  return root.value as A
}
