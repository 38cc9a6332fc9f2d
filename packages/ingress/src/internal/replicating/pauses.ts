/**
 * Pauses: how long to wait before something is tried again: 0.1 s, twice as long each time up to 8 s, each with chance.
 */

const FIRST = 100
const MOST = 8_000

/** Milliseconds before the next attempt, after so many that failed, with a number drawn from [0, 1); `seconds` at least. */
export const pauseOf = (failed: number, chance: number, seconds = 0): number => {
  const most = Math.min(MOST, FIRST * 2 ** Math.min(failed - 1, 16))
  return Math.max(seconds * 1000, Math.round(most * (0.5 + chance / 2)))
}
