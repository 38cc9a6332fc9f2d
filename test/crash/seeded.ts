/** Chance that can be had again: numbers in [0, 1) from a seed. */
export type Random = () => number

/** mulberry32. */
export const make = (seed: number): Random => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A whole number below the limit. */
export const below = (random: Random, limit: number): number => Math.floor(random() * limit)
