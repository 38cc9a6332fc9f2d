/**
 * How often each law is tried, and with which seed: 200 runs by default, or what `npm run laws` asks for.
 */
const number = (name: string, otherwise: number): number => {
  const text = process.env[name]
  if (text === undefined || text === "") return otherwise
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name}: expected a positive number, found ${text}`)
  return value
}

/** Runs of each law. */
export const runs = number("REPRISE_LAWS_RUNS", 200)

/** The seed: the same one gives the same logs. */
export const seed = process.env["REPRISE_LAWS_SEED"] ?? "1"

/** Milliseconds that a law may take; a law that fails needs time to find its smallest log. */
export const timeout = Math.max(120_000, runs * 100)
