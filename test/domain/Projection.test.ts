import { assert, describe, it } from "@effect/vitest"
import * as Entry from "@reprise/domain/Entry"
import type { Located } from "@reprise/domain/Line"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Projection from "@reprise/domain/Projection"
import { pipe, Schema } from "effect"

const Numbers = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: -20, maximum: 20 })))

const sum: Projection.Projection<number, number> = Projection.make({
  initial: () => 0,
  evolve: (total, n: number) => total + n,
  extract: (total) => total
})
/** Its state is one list that grows. */
const list: Projection.Projection<number, ReadonlyArray<number>> = Projection.make({
  initial: () => [] as Array<number>,
  evolve: (all, n: number) => {
    all.push(n)
    return all
  },
  extract: (all) => [...all]
})
const last: Projection.Projection<number, number | undefined> = Projection.map(list, (all) => all.at(-1))
/** What it extracts is worked out there: the numbers in order of size. */
const sorted: Projection.Projection<number, ReadonlyArray<number>> = Projection.map(list, (all) =>
  all.toSorted((a, b) => a - b)
)

const all = { sum, list, last, sorted }
const isEven = (n: number) => n % 2 === 0
const double = (n: number) => n * 2
const text = (answer: unknown) => JSON.stringify(answer)

describe("running", () => {
  it.prop("fold runs over all entries, in order", [Numbers], ([ns]) => {
    assert.deepStrictEqual(Projection.fold(list, ns), ns)
    assert.strictEqual(
      Projection.fold(sum, ns),
      ns.reduce((a, b) => a + b, 0)
    )
  })

  it.prop("scan gives the answer of every prefix, so its last one is that of fold", [Numbers], ([ns]) => {
    const answers = [...Projection.scan(list, ns)]
    assert.deepStrictEqual(
      answers,
      [...ns.keys(), ns.length].map((end) => Projection.fold(list, ns.slice(0, end)))
    )
    assert.deepStrictEqual(answers.at(-1), Projection.fold(list, ns))
  })

  it("scan is made on demand, and each iteration is a run of its own", () => {
    let seen = 0
    const answers = Projection.scan(sum, {
      *[Symbol.iterator]() {
        for (const n of [1, 2, 3]) {
          seen++
          yield n
        }
      }
    })
    for (const answer of answers) if (answer === 1) break
    assert.strictEqual(seen, 1)
    assert.deepStrictEqual([...answers], [0, 1, 3, 6])
    assert.deepStrictEqual([...answers], [0, 1, 3, 6])
  })

  it.prop("each run has a fresh state", [Numbers, Numbers], ([some, more]) => {
    for (const one of Object.values(all)) {
      const [a, b] = [Projection.run<number, unknown>(one), Projection.run<number, unknown>(one)]
      for (const n of some) a.evolve(n)
      for (const n of more) b.evolve(n)
      assert.deepStrictEqual(a.extract(), Projection.fold<number, unknown>(one, some))
      assert.deepStrictEqual(b.extract(), Projection.fold<number, unknown>(one, more))
    }
  })

  it.prop("extract leaves the state alone: asking after every entry changes no answer", [Numbers], ([ns]) => {
    for (const one of Object.values({
      ...all,
      all: Projection.struct(all),
      groups: Projection.groupBy(list, isEven)
    })) {
      const run = Projection.run<number, unknown>(one)
      const early = run.extract()
      const before = text(early)
      for (const n of ns) {
        run.evolve(n)
        assert.deepStrictEqual(run.extract(), run.extract())
      }
      assert.deepStrictEqual(run.extract(), Projection.fold<number, unknown>(one, ns))
      assert.strictEqual(text(early), before)
    }
  })
})

describe("map", () => {
  it.prop("fuses: one map after another is one map of both", [Numbers], ([ns]) => {
    const twice = pipe(
      list,
      Projection.map((xs) => xs.length),
      Projection.map(double)
    )
    const once = Projection.map(list, (xs) => double(xs.length))
    assert.strictEqual(Projection.fold(twice, ns), Projection.fold(once, ns))
  })

  it.prop("with identity is nothing, and works on extract alone", [Numbers], ([ns]) => {
    assert.deepStrictEqual(
      Projection.fold(
        Projection.map(list, (xs) => xs),
        ns
      ),
      ns
    )
    let calls = 0
    Projection.fold(
      Projection.map(sum, (n) => {
        calls++
        return n
      }),
      ns
    )
    assert.strictEqual(calls, 1)
  })
})

describe("mapInput and filter", () => {
  it.prop("folding over changed entries is folding the changed log", [Numbers], ([ns]) => {
    assert.deepStrictEqual(Projection.fold(Projection.mapInput(list, double), ns), ns.map(double))
    const both = pipe(
      list,
      Projection.mapInput((n: number) => n + 1),
      Projection.mapInput(double)
    )
    assert.deepStrictEqual(
      Projection.fold(both, ns),
      ns.map((n) => double(n) + 1)
    )
  })

  it.prop("folding over some entries is folding the log that holds no others", [Numbers], ([ns]) => {
    assert.deepStrictEqual(Projection.fold(Projection.filter(list, isEven), ns), ns.filter(isEven))
    const both = pipe(
      list,
      Projection.filter(isEven),
      Projection.filter((n) => n > 0)
    )
    assert.deepStrictEqual(
      Projection.fold(both, ns),
      ns.filter((n) => isEven(n) && n > 0)
    )
  })

  it.prop("both keep the answer to map", [Numbers], ([ns]) => {
    const inside = pipe(sum, Projection.map(double), Projection.filter(isEven))
    const outside = pipe(sum, Projection.filter(isEven), Projection.map(double))
    assert.strictEqual(Projection.fold(inside, ns), Projection.fold(outside, ns))
  })
})

describe("struct", () => {
  it.prop("gives what each member gives alone", [Numbers], ([ns]) => {
    const answers: Record<string, unknown> = Projection.fold(Projection.struct(all), ns)
    assert.deepStrictEqual(Object.keys(answers), Object.keys(all))
    for (const [name, one] of Object.entries(all)) {
      assert.deepStrictEqual(answers[name], Projection.fold<number, unknown>(one, ns))
    }
  })

  it.prop("is indifferent to the order of its members", [Numbers], ([ns]) => {
    const { last, list, sorted, sum } = Projection.fold(Projection.struct(all), ns)
    const other = Projection.struct({ sorted: all.sorted, last: all.last, sum: all.sum, list: all.list })
    assert.deepStrictEqual(Projection.fold(other, ns), { sorted, last, sum, list })
  })

  it("passes the log once, however many are composed", () => {
    let passes = 0
    const log = {
      *[Symbol.iterator]() {
        passes++
        yield* [1, 2, 3]
      }
    }
    const nested = Projection.struct({ a: Projection.struct(all), b: Projection.groupBy(sum, isEven), c: list })
    assert.deepStrictEqual(Projection.fold(nested, log).a.list, [1, 2, 3])
    assert.strictEqual(passes, 1)
  })

  it("asks of an entry what all its members ask", () => {
    const named = Projection.mapInput(list, (e: { readonly name: string }) => e.name.length)
    const aged = Projection.mapInput(list, (e: { readonly age: number }) => e.age)
    const both = Projection.struct({ named, aged })
    assert.deepStrictEqual(Projection.fold(both, [{ name: "ada", age: 36 }]), { named: [3], aged: [36] })
    assert.deepStrictEqual(Projection.fold(Projection.struct({}), [1]), {})
  })
})

describe("groupBy", () => {
  const rest = (n: number) => (n % 3 === 0 ? undefined : Math.abs(n % 3))

  it.prop("gives each key what its entries alone give, in the order of first sight", [Numbers], ([ns]) => {
    const groups = Projection.fold(Projection.groupBy(list, rest), ns)
    assert.deepStrictEqual([...groups.keys()], [...new Set(ns.map(rest).filter((k) => k !== undefined))])
    for (const [key, group] of groups)
      assert.deepStrictEqual(
        group,
        ns.filter((n) => rest(n) === key)
      )
  })

  it.prop("keeps an answer that was given, whatever comes after", [Numbers, Numbers], ([some, more]) => {
    const run = Projection.run(Projection.groupBy(list, rest))
    for (const n of some) run.evolve(n)
    const groups = run.extract()
    for (const n of more) run.evolve(n)
    assert.deepStrictEqual(groups, Projection.fold(Projection.groupBy(list, rest), some))
  })
})

describe("over entries", () => {
  const counts = Projection.match(() => ({ prompts: 0, others: 0, junk: 0 }), {
    user: (n, entry) => ({ ...n, prompts: n.prompts + (entry.uuid === "" ? 0 : 1) }),
    unknown: (n) => ({ ...n, others: n.others + 1 }),
    malformed: (n, entry) => ({ ...n, junk: n.junk + entry.bytes.length })
  })

  it("match evolves by the kind; kinds without a function leave the state alone", () => {
    const log = Notation.entries("u1-a1-u2-q1-s1 ? !a1")
    assert.deepStrictEqual(Projection.fold(counts, log), { prompts: 2, others: 1, junk: 11 })
    const odd: ReadonlyArray<Entry.Entry> = [{ type: "constructor" }, { type: "toString" }, { type: "match" }]
    assert.strictEqual(Projection.fold(counts, odd).others, 3)
  })

  it("entries lifts a projection over entries to one over located entries", () => {
    const log: ReadonlyArray<Located> = Notation.log("u1-a1-u2 ?")
    assert.deepStrictEqual(
      Projection.fold(Projection.entries(counts), log),
      Projection.fold(
        counts,
        log.map(({ entry }) => entry)
      )
    )
  })
})

describe("a struct asks its members about the kinds that they hear", () => {
  const users = Projection.match(() => 0, { user: (n) => n + 1 })
  const tags = Projection.match<string>(() => "", { tag: (_, { tag = "" }) => tag, unknown: (text) => `${text}?` })
  const all: Projection.Projection<Entry.Entry, number> = Projection.make({
    initial: () => 0,
    evolve: (n: number) => n + 1,
    extract: (n) => n
  })
  const log: ReadonlyArray<Entry.Entry> = [
    { type: "user", uuid: "u1", message: { content: "" } },
    { type: "tag", tag: "x" },
    { type: "future" },
    { type: "mode", mode: "plan" },
    new Entry.Malformed(new Uint8Array(), "blank")
  ]

  it("and gives what each of them gives alone, however they are nested, mapped and filtered", () => {
    const inner = Projection.struct({ users, tags })
    const both = Projection.struct({
      all,
      inner,
      twice: Projection.map(users, (n) => n * 2),
      none: Projection.filter(users, () => false)
    })
    const alone = { users: Projection.fold(users, log), tags: Projection.fold(tags, log) }
    assert.deepStrictEqual(alone, { users: 1, tags: "x?" })
    assert.deepStrictEqual(Projection.fold(both, log), { all: 5, inner: alone, twice: 2, none: 0 })
    assert.deepStrictEqual(Projection.fold(inner, log), alone)
    assert.deepStrictEqual([...(inner.hears ?? [])], ["user", "tag", "unknown"])
    assert.isUndefined(both.hears)
  })
})
