/**
 * Random pictures: up to 30 entries of every kind, most of them hanging on the one before, the others on anything.
 *
 *   "u0:1 a1@k1(A,B)^u0:2 r2(A)^a1:? B3{u0..a1>S9}:3 x9-… N7{u0,x4}^B3:8 a1-u0 !a1 p8^u0"
 *
 * Each entry is a word of its own with its own time, so that words can be added and moved without changing others. Of
 * links each id stands once; a message may be written again below another one.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

const Step = Schema.Struct({
  kind: upTo(99),
  /** Whom it hangs on: the entry before, nothing, an id in no line, itself, or any entry, also a later one. */
  up: upTo(59),
  time: upTo(9),
  /** Whose sidechain, if any. */
  side: upTo(19),
  /** Choices of ids: for kept and removed messages, replies, calls. */
  first: upTo(29),
  second: upTo(29)
})

const kinds = [..."uuuuuuuaaaaaaaaaaarrrrrrrrrtttssmmlwwpppqBBSSNcc!?"]
const calls = ["A", "B", "C", "D"]

/** The words of a picture, in file order. */
export type Drawn = ReadonlyArray<string>

const draw = (steps: ReadonlyArray<typeof Step.Type>): Drawn => {
  const letters = steps.map(({ kind }) => kinds[kind % kinds.length]!)
  const isEntry = letters.map((letter) => !"c!?".includes(letter))
  const name = (i: number): string => (isEntry[i] === true ? `${letters[i]}${i}` : `x${i}`)
  let clock = 1
  return steps.map((step, i) => {
    const letter = letters[i]!
    const any = (choice: number) => name(choice % steps.length)
    if (letter === "?") return "?"
    if (letter === "!") return `!${any(step.first)}`
    if (step.time > 3) clock += step.time - 3
    const time = step.time === 0 ? "?" : step.time === 1 ? Math.max(0, clock - 4) : clock
    if (letter === "c") {
      const earlier = letters
        .slice(0, i)
        .flatMap((_, j) => (isEntry[j] === true && !"pq".includes(letters[j]!) ? [name(j)] : []))
      const [below, again] = [earlier[step.first % earlier.length], earlier[step.second % earlier.length]]
      return below === undefined || again === undefined ? "?" : `${below}-${again}:${time}`
    }
    const side = step.side === 0 ? "~abc" : step.side === 1 ? "~def" : ""
    const up =
      step.up < 36
        ? i === 0
          ? ""
          : name(i - 1)
        : step.up === 36
          ? ""
          : step.up === 37
            ? "x99"
            : step.up === 38
              ? name(i)
              : any(step.up)
    return `${name(i)}${up === "" ? "" : `^${up}`}${more(letter, step, any)}:${time}${side}`
  })
}

const more = (letter: string, step: typeof Step.Type, any: (choice: number) => string): string => {
  const one = calls[step.first % 4]!
  const two = calls[step.second % 4]!
  if (letter === "r") return step.second % 5 === 0 && one !== two ? `(${one},${two})` : `(${one})`
  if (letter === "a")
    return `@k${step.up % 4}${step.second % 3 === 0 ? "" : step.time === 5 && one !== two ? `(${one},${two})` : `(${one})`}`
  const anchor = any(step.up + step.time)
  const [a, b] = [any(step.first), any(step.second)]
  if (letter === "N") return `{${a},${b}}`
  if (letter !== "B" || step.time < 3) return ""
  return step.time < 6 ? `{${a}..${b}>${anchor}}` : `{${a},${b}>${anchor}}`
}

/** Up to 30 entries, in whatever state. */
export const drawn: Arbitrary.Arbitrary<Drawn> = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Step), { maxLength: 30 }),
  draw
)

/** A number to choose by. */
export const choice: Arbitrary.Arbitrary<number> = Arbitrary.schema(upTo(10_000))
