/**
 * Quantity: flags that are an amount: `--older-than 30d`, `--max-size 2GB`, `--limit 20`.
 */
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"

const milliseconds: Record<string, number> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }
const bytes: Record<string, number> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 }

/**
 * An amount in one of the units; nothing where the text is none.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (text: string, units: Readonly<Record<string, number>>): number | undefined => {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(text.trim()) ?? []
  const known = Object.keys(units).find((name) => name.toLowerCase() === unit?.toLowerCase())
  const amount = known === undefined ? NaN : Number(digits) * units[known]!
  return Number.isFinite(amount) ? amount : undefined
}

const make = (units: Readonly<Record<string, number>>, example: string) => (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(example),
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parse(text, units)),
      () => `a number with a unit (${Object.keys(units).join(", ")}), such as ${example}`
    ),
    Flag.optional,
    Flag.withDescription(description)
  )

/**
 * A length of time, in milliseconds: hours, days or weeks.
 *
 * @category flags
 * @since 0.1.0
 */
export const age = make(milliseconds, "30d")

/**
 * A size, in bytes.
 *
 * @category flags
 * @since 0.1.0
 */
export const size = make(bytes, "2GB")

/**
 * How many: a whole number from 0 on.
 *
 * @category flags
 * @since 0.1.0
 */
export const count = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("N"),
    Flag.filterMap(
      (text) => (/^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none()),
      () => "a whole number from 0 on"
    ),
    Flag.optional,
    Flag.withDescription(description)
  )
