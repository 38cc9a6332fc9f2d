/**
 * Random logs with compactions: what follows a boundary hangs, as a rule, on what stands behind it.
 *
 *   "u0 a1^u0 a2@m(A)^a1 rA3(A)^a2 B4{a2..rA3>S5} S5^B4 u6^S5 … N9{u6} !u6"
 *
 * Every word is an entry of its own, in the notation of `domain/testing/Notation`; most logs end behind a boundary that
 * counts. Some links, snips, records and last prompts lead before the boundary, to nothing, or across branches.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

const Step = Schema.Struct({ kind: upTo(99), up: upTo(99), first: upTo(29), second: upTo(29) })

/** The words of a log, in file order. */
export type Compacted = ReadonlyArray<string>

const kinds = [..."uuuuuuaaaaaaaaaaarrrrrrrttssmlwpqNN!BBBBBB"]

const draw = (steps: ReadonlyArray<typeof Step.Type>): Compacted => {
  const words: Array<string> = []
  const names: Array<string> = []
  /** Where the current stretch begins, and what its boundary keeps. */
  let stretch = 0
  let kept: ReadonlyArray<string> = []
  const add = (name: string, parent: string | undefined, more = ""): void => {
    words.push(`${name}${parent === undefined ? "" : `^${parent}`}${more}`)
    names.push(name)
  }
  const pick = (list: ReadonlyArray<string>, choice: number): string | undefined =>
    list[choice % Math.max(list.length, 1)]
  steps.forEach((step, i) => {
    const letter = kinds[step.kind % kinds.length]!
    const own = names.slice(stretch)
    const up =
      step.up < 70
        ? names.at(-1)
        : step.up < 85
          ? pick(own, step.first)
          : step.up < 90
            ? (pick(kept, step.first) ?? names.at(-1))
            : step.up < 93
              ? pick(names, step.first)
              : step.up < 94
                ? "x99"
                : names.at(-1)
    const call = "ABCD"[step.first % 4]!
    switch (letter) {
      case "!":
        words.push(`!${pick(step.up < 80 ? own : names, step.second) ?? "x98"}`)
        break
      case "N":
        add(
          `N${i}`,
          up,
          `{${[pick(own, step.first), step.up > 92 ? pick(names, step.second) : undefined].filter(Boolean).join()}}`
        )
        break
      case "a":
        add(
          `a${i}`,
          up,
          `@k${step.up % 2 === 0 ? i : Math.floor(i / 3)}${step.second % 2 === 0 ? `(${call}${stretch})` : ""}`
        )
        break
      case "r":
        add(`r${i}`, up, `(${call}${step.up > 95 ? 0 : stretch})`)
        break
      case "B": {
        const summary = `S${i}`
        const choice = names.slice(-1 - (step.first % 4))
        kept = step.second < 10 ? [] : choice
        const list = step.up > 96 ? [...kept, "x97"] : kept
        const record = step.second < 20 ? list.join() : `${kept[0]}..${kept.at(-1)}`
        stretch = names.length
        add(`B${i}`, undefined, kept.length === 0 ? "" : `{${record}>${summary}}`)
        if (step.up > 2) add(summary, `B${i}`)
        break
      }
      default:
        add(`${letter}${i}`, up)
    }
  })
  return words
}

/** Up to 40 steps. */
export const compacted: Arbitrary.Arbitrary<Compacted> = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Step), { minLength: 4, maxLength: 40 }),
  draw
)
