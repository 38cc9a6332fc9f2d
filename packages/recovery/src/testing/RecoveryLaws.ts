/**
 * RecoveryLaws: the promises of this library, as a kit to run over its own generators and over logs of yours.
 *
 *   const breaches = RecoveryLaws.check(bytes)                     every law over any log
 *   RecoveryLaws.ofProjection("mine", projection, JSON.stringify)  the laws of a projection of yours
 */
import * as Recovery from "../Recovery.ts"
import type * as Law from "./Law.ts"
import * as Chain from "./laws/Chain.ts"
import * as Forks from "./laws/Forks.ts"
import * as ModelView from "./laws/ModelView.ts"
import * as Projections from "./laws/Projections.ts"
import * as Reading from "./laws/Reading.ts"
import * as Reducers from "./laws/Reducers.ts"
import * as Rewinds from "./laws/Rewinds.ts"

/**
 * All laws, by what they are about.
 *
 * @category laws
 * @since 0.1.0
 */
export const groups = {
  reading: Reading.laws,
  chain: Chain.laws,
  reducers: Reducers.laws,
  modelView: ModelView.laws,
  forks: Forks.laws,
  rewinds: Rewinds.laws,
  projection: Projections.laws
} as const

/**
 * All laws.
 *
 * @category laws
 * @since 0.1.0
 */
export const all: ReadonlyArray<Law.Law> = Object.values(groups).flat()

/**
 * The laws of a projection; `show` makes its answers comparable.
 *
 * @category laws
 * @since 0.1.0
 */
export const ofProjection = Projections.of

/**
 * A law that a log breaks, and how.
 *
 * @category models
 * @since 0.1.0
 */
export interface Breach {
  readonly law: string
  readonly verdict: string
}

/**
 * The laws over any log that this one breaks; `seed` picks the places where laws cut, copy and append.
 *
 * @category running
 * @since 0.1.0
 */
export const check = (
  bytes: Uint8Array,
  options: { readonly seed?: number; readonly reader?: Law.Reader; readonly laws?: ReadonlyArray<Law.Law> } = {}
): ReadonlyArray<Breach> => {
  const dice = diceOf(options.seed ?? 0)
  return (options.laws ?? all).flatMap((law) => {
    const verdict = law.over === "log" ? law.holds({ bytes, dice }, options.reader ?? Recovery.fold) : true
    return verdict === true ? [] : [{ law: law.name, verdict }]
  })
}

/** Numbers without a pattern that matters here, the same for the same seed. */
const diceOf = (seed: number): ReadonlyArray<number> => {
  const dice: Array<number> = []
  for (let i = 0, at = seed + 1; i < 4; i++) {
    at = (Math.imul(at, 1_664_525) + 1_013_904_223) >>> 0
    dice.push(at >>> 8)
  }
  return dice
}
