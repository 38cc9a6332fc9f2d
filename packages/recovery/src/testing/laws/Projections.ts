/**
 * Projections: what is promised about folds: recovery's own, and any other that is given.
 */
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Recovery from "../../Recovery.ts"
import * as Law from "../Law.ts"

type Of<S> = Projection.Projection<Line.Located, S>

/** How often each kind of entry stands in the log; the kinds in the order of first sight. */
const counts: Of<string> = Projection.map(
  Projection.groupBy(
    Projection.make({ initial: () => 0, evolve: (count: number) => count + 1, extract: (count) => count }),
    ({ entry }: Line.Located) => Entry.kindOf(entry)
  ),
  (kinds) => JSON.stringify([...kinds])
)

/**
 * The laws of a projection; `show` makes answers comparable.
 *
 * @category laws
 * @since 0.1.0
 */
export const of = <S>(name: string, projection: Of<S>, show: (answer: S) => string): ReadonlyArray<Law.Law> => {
  const whole = (log: ReadonlyArray<Line.Located>): string => show(Projection.fold(projection, log))
  const middle = (given: Law.OfLog, log: ReadonlyArray<Line.Located>): number => Law.choose(given, 0, log.length + 1)

  const resumes = Law.log(`${name}: what was folded up to a cut, and then the tail, is the full fold`, (given) => {
    const log = Law.read(given.bytes)
    const cut = middle(given, log)
    const run = Projection.run(projection)
    for (const one of log.slice(0, cut)) run.evolve(one)
    const then = show(run.extract())
    for (const one of log.slice(cut)) run.evolve(one)
    return Law.all(
      () => Law.same(`the first ${cut}`, whole(log.slice(0, cut)), then),
      () => Law.same("all", whole(log), show(run.extract())),
      () => Law.same("asked again", whole(log), show(run.extract()))
    )
  })

  const scans = Law.log(`${name}: the state after n entries is the fold of the first n`, (given) => {
    const log = Law.read(given.bytes)
    const cut = middle(given, log)
    let n = 0
    for (const answer of Projection.scan(projection, log)) {
      if (n++ === cut) return Law.same(`the first ${cut}`, whole(log.slice(0, cut)), show(answer))
    }
    return `the scan ends after ${n} of ${log.length + 1} answers`
  })

  const fuses = Law.log(`${name}: map fuses`, ({ bytes }) => {
    const log = Law.read(bytes)
    const f = (answer: S): string => show(answer)
    const g = (text: string): number => text.length
    const twice = Projection.map(Projection.map(projection, f), g)
    return Law.same(
      "mapped",
      String(
        Projection.fold(
          Projection.map(projection, (answer) => g(f(answer))),
          log
        )
      ),
      String(Projection.fold(twice, log))
    )
  })

  const composes = Law.log(`${name}: a struct is one pass, and the order of its members is irrelevant`, ({ bytes }) => {
    const log = Law.read(bytes)
    let passes = 0
    const counted = Projection.mapInput(counts, (located: Line.Located) => {
      passes++
      return located
    })
    const one = Projection.fold(Projection.struct({ counted, projection }), log)
    const other = Projection.fold(Projection.struct({ projection, counted: counts }), log)
    return Law.all(
      () => Law.same("passes", String(log.length), String(passes)),
      () => Law.same("alone", whole(log), show(one.projection)),
      () => Law.same("in the other order", show(one.projection), show(other.projection)),
      () => Law.same("the other member", Projection.fold(counts, log), one.counted)
    )
  })

  const goesOn = Law.log(`${name}: a bad entry never stalls it`, (given) => {
    const log = Law.read(given.bytes)
    const at = middle(given, log)
    const run = Projection.run(projection)
    const bad: Line.Located = {
      entry: new Entry.Malformed(given.bytes, "not-json"),
      at: { line: 0, byteStart: 0, byteEnd: 0 },
      damage: []
    }
    for (const one of log.toSpliced(at, 0, bad)) run.evolve(one)
    return typeof show(run.extract()) === "string" ? true : "no answer"
  })

  return [resumes, scans, fuses, composes, goesOn]
}

const stateAt = Law.log("stateAt(n) is the fold of the first n entries", (given, reader) => {
  const log = Law.read(given.bytes)
  const n = Law.choose(given, 0, log.length + 1)
  return Law.same(`the first ${n}`, Law.shown(reader(log.slice(0, n))), Law.shown(Recovery.stateAt(log, n)))
})

/**
 * The laws of recovery's projection and of a small one.
 *
 * @category laws
 * @since 0.1.0
 */
export const laws: ReadonlyArray<Law.Law> = [
  ...of("recovery", Recovery.projection, (state) =>
    [Law.shown(state), state.branches.length, state.metadata.title, ...state.findings.map(({ kind }) => kind)].join()
  ),
  ...of("counts", counts, (text) => text),
  stateAt
]
