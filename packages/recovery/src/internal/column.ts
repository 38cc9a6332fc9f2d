/**
 * Column: numbers, one after another, in arrays of a fixed size: it grows without being copied.
 */

/** Numbers by their place; what was not pushed is 0. */
export interface Column {
  readonly length: () => number
  readonly push: (value: number) => void
  readonly get: (place: number) => number
}

const BITS = 14
const SIZE = 1 << BITS

const make = (chunk: (size: number) => { [place: number]: number }) => (): Column => {
  const chunks: Array<{ [place: number]: number }> = []
  let length = 0
  return {
    length: () => length,
    push: (value) => {
      const place = length & (SIZE - 1)
      if (place === 0) chunks.push(chunk(SIZE))
      chunks[length >> BITS]![place] = value
      length++
    },
    get: (place) => chunks[place >> BITS]?.[place & (SIZE - 1)] ?? 0
  }
}

export const uint8: () => Column = make((size) => new Uint8Array(size))
export const int32: () => Column = make((size) => new Int32Array(size))
export const float64: () => Column = make((size) => new Float64Array(size))
