import { assert, describe, it } from "@effect/vitest"
import * as AppendChain from "@reprise/ingress/AppendChain"
import { Arbitrary, Schema } from "effect"

type Attempt = AppendChain.Attempt

/** A line of a message is its own key; other lines are written `.1`, `.2` and have no uuid. `a'` is `a` with other bytes. */
const line = (name: string): AppendChain.Line => {
  const key = name.replaceAll("'", "")
  return { key, hash: `#${name}`, ...(key.startsWith(".") ? undefined : { uuid: key }) }
}
const lines = (names: string) =>
  names
    .split(" ")
    .filter((name) => name !== "")
    .map(line)

/** The model: a stream is a list of lines and an epoch. */
interface Stream {
  readonly lines: ReadonlyArray<AppendChain.Line>
  readonly epoch: number
}
const empty: Stream = { lines: [], epoch: 0 }
const stream = (names: string, epoch = 0): Stream => ({ lines: lines(names), epoch })
const names = (stream: Stream) => stream.lines.map(({ hash }) => hash.slice(1)).join(" ")

const headOf = (stream: Stream, attempt: Attempt): AppendChain.Head => {
  const asked = new Set(attempt.lines.map(({ key }) => key))
  return {
    ...AppendChain.advance({ uuid: undefined, seq: 0 }, stream.lines),
    epoch: stream.epoch,
    known: new Map(stream.lines.flatMap(({ hash, key }, i) => (asked.has(key) ? [[key, { seq: i + 1, hash }]] : [])))
  }
}
const judge = (stream: Stream, attempt: Attempt) => AppendChain.judge(headOf(stream, attempt), attempt)
/** Another writer claims the stream. */
const claim = ({ epoch, lines }: Stream): Stream => ({ lines, epoch: epoch + 1 })
const append = (stream: Stream, attempt: Attempt): Stream => {
  const verdict = judge(stream, attempt)
  return "lines" in verdict ? { ...stream, lines: [...stream.lines, ...verdict.lines] } : stream
}

const keysOf = (lines: ReadonlyArray<AppendChain.Line>) => lines.map(({ key }) => key).join(" ")
const show = (verdict: AppendChain.Verdict): string => {
  switch (verdict._tag) {
    case "Accepted":
      return `Accepted ${keysOf(verdict.lines)}`
    case "PrefixKnown":
      return `PrefixKnown ${verdict.known} ${keysOf(verdict.lines)}`
    case "HeadMoved":
      return `HeadMoved ${verdict.uuid} ${verdict.seq}${verdict.known === undefined ? "" : ` known ${verdict.known.join("-")}`}`
    case "StaleEpoch":
      return `StaleEpoch ${verdict.epoch}`
    default:
      return `${verdict._tag} ${verdict.keys.join(" ")}`
  }
}
const compat = (name: string, lastUuid?: string) => AppendChain.compat(line(name), lastUuid)
const native = (names: string, lastUuid?: string, epoch = 0) => AppendChain.native(lines(names), { lastUuid, epoch })

describe("the status table (INGRESS §3)", () => {
  const table: ReadonlyArray<readonly [row: string, stream: Stream, attempt: Attempt, verdict: string]> = [
    ["201: behind the head, compat", stream("a b"), compat("c", "b"), "Accepted c"],
    ["201: behind the head, native", stream("a b"), native("c .1 d", "b"), "Accepted c .1 d"],
    ["201: nothing known, and the stream is empty", empty, compat("a"), "Accepted a"],
    ["201: nothing known, and the stream is empty, native", empty, native("a b"), "Accepted a b"],
    ["201: the head is the last line with an id", stream("a .1 .2"), native("b", "a"), "Accepted b"],
    ["201: a stream without ids has no head to name", stream(".1"), native(".2 a"), "Accepted .2 a"],
    ["201: `*` is the end, wherever that is", stream("a b"), compat("c", "*"), "Accepted c"],
    ["201: `*` on an empty stream", empty, native("a", "*"), "Accepted a"],
    ["201: the epoch that was claimed last", stream("a", 3), native("b", "a", 3), "Accepted b"],
    ["201: equal copies in one batch are one line", stream("a"), native("b c b", "a"), "Accepted b c"],
    ["200: it is the head", stream("a b"), compat("b", "a"), "Duplicate "],
    ["200: it is somewhere else", stream("a b c"), compat("a"), "Duplicate "],
    ["200: every line is there, in any order and place", stream("a b c d"), native("d a", "x"), "Duplicate "],
    ["200: a retry after another writer claimed the stream", stream("a b", 4), native("b", "a", 3), "Duplicate "],
    ["200: a compat retry after the stream was claimed", stream("a b", 1), compat("b", "a"), "Duplicate "],
    ["200 with x-entry-mismatch: other bytes, compat", stream("a b"), compat("b'", "a"), "Duplicate b"],
    ["409: the head is another", stream("a b c"), compat("d", "b"), "HeadMoved c 3"],
    ["409: the head is another, native", stream("a b .1"), native("d e", "a"), "HeadMoved b 3"],
    ["409: nothing known, and the stream is not empty", stream("a"), compat("b"), "HeadMoved a 1"],
    ["409: an id that the stream does not hold", stream("a"), compat("b", "x"), "HeadMoved a 1"],
    ["409: an id, and the stream is empty: it was restored", empty, native("c", "b"), "HeadMoved undefined 0"],
    ["409: known lines that are no prefix", stream("a b"), native("c b", "a"), "HeadMoved b 2 known 2-2"],
    ["409: a known prefix that is not the tail", stream("a b c"), native("b d", "a"), "HeadMoved c 3 known 2-2"],
    ["409: a known prefix in another order", stream("a b c"), native("c b d", "a"), "HeadMoved c 3 known 2-3"],
    ["409: a known prefix with a hole", stream("a b c"), native("a c d"), "HeadMoved c 3 known 1-3"],
    ["201: a known prefix that is the tail", stream("a b c"), native("b c d e", "a"), "PrefixKnown 2 d e"],
    ["201: the whole stream is the prefix", stream("a .1"), native("a .1 b"), "PrefixKnown 2 b"],
    ["201: a known prefix before `*`", stream("a b c"), native("b d", "*"), "PrefixKnown 1 d"],
    ["201: known lines among others before `*`", stream("a b c"), native("d b e", "*"), "Accepted d e"],
    ["403: no epoch, and the stream was claimed", stream("a", 1), compat("b", "a"), "StaleEpoch 1"],
    ["403: no epoch, `*`", stream("a", 1), compat("b", "*"), "StaleEpoch 1"],
    ["403: an earlier epoch", stream("a", 4), native("b", "a", 3), "StaleEpoch 4"],
    ["403: an earlier epoch, and a part is known", stream("a b", 4), native("b c", "a", 3), "StaleEpoch 4"],
    ["403: an earlier epoch, and the head is another", stream("a b", 4), native("c", "a", 3), "StaleEpoch 4"],
    ["403: an earlier epoch, and other bytes", stream("a b", 4), native("b'", "a", 3), "StaleEpoch 4"],
    ["403: an epoch that this store never gave", stream("a", 4), native("b", "a", 5), "StaleEpoch 4"],
    ["403: an epoch, and the stream was never claimed", stream("a"), native("b", "a", 5), "StaleEpoch 0"],
    ["422: other bytes", stream("a b"), native("b'", "a"), "KeyReused b"],
    ["422: other bytes among new lines", stream("a b"), native("c b' a'", "b"), "KeyReused b a"],
    ["422: other bytes before `*`", stream("a b"), native("b' c", "*"), "KeyReused b"],
    ["422: other bytes within one batch", stream("a"), native("b c b'", "a"), "KeyReused b"],
    ["an empty batch is there already", stream("a"), native("", "x"), "Duplicate "]
  ]
  for (const [row, stream, attempt, verdict] of table)
    it(row, () => assert.strictEqual(show(judge(stream, attempt)), verdict))

  it("a store hears which lines to append, as they were offered", () => {
    const offered = [{ ...line("b"), entry: "verbatim" }]
    const attempt = AppendChain.native(offered, { lastUuid: "a" })
    const verdict = AppendChain.judge(headOf(stream("a"), attempt), attempt)
    if (verdict._tag !== "Accepted") assert.fail(verdict._tag)
    assert.strictEqual(verdict.lines[0], offered[0])
    assert.deepStrictEqual(AppendChain.advance({ uuid: "a", seq: 1 }, verdict.lines), { uuid: "b", seq: 2 })
    assert.deepStrictEqual(AppendChain.advance({ uuid: "a", seq: 1 }, lines(".1 .2")), { uuid: "a", seq: 3 })
  })
})

describe("any attempts", () => {
  const Name = Schema.Literals(["a", "b", "c", "d", ".1", ".2", "a'", "b'"])
  const Last = Schema.Literals(["", "*", "a", "b", "c", "d"])
  const Epoch = Schema.Literals([0, 0, 1, 2])
  const AnyAttempt: Arbitrary.Arbitrary<Attempt> = Arbitrary.map(
    Arbitrary.all({
      isCompat: Arbitrary.schema(Schema.Boolean),
      names: Arbitrary.array(Arbitrary.schema(Name), { maxLength: 4 }),
      last: Arbitrary.schema(Last),
      epoch: Arbitrary.schema(Epoch)
    }),
    ({ epoch, isCompat, last, names }) =>
      isCompat ? compat(names[0] ?? "a", last || undefined) : native(names.join(" "), last || undefined, epoch)
  )
  /** `claim` raises the epoch; a number offers an earlier attempt again. */
  type Step = "claim" | number | Attempt
  const Step: Arbitrary.Arbitrary<Step> = Arbitrary.map(
    Arbitrary.all([Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))), AnyAttempt]),
    ([n, attempt]): Step => (n === 0 ? "claim" : n < 4 ? n : attempt)
  )
  const Steps = Arbitrary.array(Step, { maxLength: 30 })

  /** Runs the steps; `visit` sees every attempt with the stream before and after it. */
  const run = (
    steps: ReadonlyArray<Step>,
    visit: (attempt: Attempt, before: Stream, after: Stream) => void = () => {}
  ): Stream => {
    const made: Array<Attempt> = []
    let now = empty
    for (const step of steps) {
      if (step === "claim") now = claim(now)
      const attempt = typeof step === "number" ? made.at(-step) : step === "claim" ? undefined : step
      if (attempt === undefined) continue
      made.push(attempt)
      const before = now
      now = append(now, attempt)
      visit(attempt, before, now)
    }
    return now
  }

  it.prop("a stream only grows at its end, and holds each key once", [Steps], ([steps]) => {
    const end = run(steps, (_, before, after) => {
      assert.deepStrictEqual(after.lines.slice(0, before.lines.length), before.lines)
    })
    assert.strictEqual(new Set(end.lines.map(({ key }) => key)).size, end.lines.length)
  })

  it.prop(
    "what was accepted is there, and a retry at any time is a duplicate that changes nothing",
    [Steps],
    ([steps]) => {
      const accepted: Array<Attempt> = []
      run(steps, (attempt, before, after) => {
        if (after !== before) accepted.push(attempt)
        for (const earlier of accepted) {
          assert.strictEqual(judge(after, earlier)._tag, "Duplicate")
          assert.strictEqual(append(after, earlier), after)
        }
      })
    }
  )

  it.prop("a stale epoch never appends", [Steps], ([steps]) => {
    run(steps, (attempt, before, after) => {
      if (attempt.epoch !== before.epoch) {
        assert.strictEqual(after, before)
        assert.include(["StaleEpoch", "Duplicate"], judge(before, attempt)._tag)
      }
    })
  })

  it.prop(
    "without `*` a line is only put behind the head that was named, or behind its own prefix",
    [Steps],
    ([steps]) => {
      run(steps, (attempt, before, after) => {
        const verdict = judge(before, attempt)
        if (attempt.lastUuid === "*" || before === after) return
        if (verdict._tag === "PrefixKnown") {
          const tail = after.lines.slice(before.lines.length - verdict.known)
          assert.deepStrictEqual(
            tail.map(({ key }) => key),
            [...new Set(attempt.lines.map(({ key }) => key))]
          )
        } else assert.strictEqual(headOf(before, attempt).uuid, attempt.lastUuid)
      })
    }
  )

  it.prop("`*` is refused by epoch and bytes alone", [Steps], ([steps]) => {
    run(steps, (attempt, before, after) => {
      const tag = judge(before, attempt)._tag
      if (attempt.lastUuid !== "*" || tag === "StaleEpoch" || tag === "KeyReused") return
      for (const { key } of attempt.lines) assert.isTrue(after.lines.some((line) => line.key === key))
    })
  })

  const Swarm = Arbitrary.array(
    Arbitrary.all([
      Arbitrary.schema(Schema.Literals(["a", "b", "c", "d", "e", "f"])),
      Arbitrary.schema(Schema.Literals(["", "a", "b", "c", "d", "e"]))
    ]),
    { maxLength: 40 }
  )

  it.prop(
    "accepted entries form one chain, whoever sends them, in whatever order and however often",
    [Swarm],
    ([swarm]) => {
      let now = empty
      const claims: Array<string> = []
      for (const [name, last] of swarm) {
        const after = append(now, compat(name, last || undefined))
        if (after !== now) claims.push(last)
        now = after
      }
      assert.deepStrictEqual(claims, ["", ...now.lines.map(({ key }) => key)].slice(0, claims.length))
    }
  )
})

describe("one writer over a bad network", () => {
  const file = lines("a .1 .2 b c .3 d e f .4 g h i .5 j")
  /** How far before the cursor the batch starts, how long it is, and whether the answer is lost. */
  const Send = Schema.Struct({
    back: Schema.Literals([0, 0, 0, 1, 2, 5]),
    count: Schema.Literals([1, 2, 3, 7]),
    isLost: Schema.Boolean,
    again: Schema.Literals([0, 1, 2, 3])
  })

  it.prop(
    "the stream is a prefix of the file, and the writer is never told otherwise",
    [Schema.Array(Send)],
    ([sends]) => {
      let now = empty
      let cursor = 0
      const sent: Array<Attempt> = []
      const deliver = (attempt: Attempt) => {
        const { _tag } = judge(now, attempt)
        now = append(now, attempt)
        assert.strictEqual(names(now), keysOf(file.slice(0, now.lines.length)))
        assert.include(["Accepted", "PrefixKnown", "Duplicate"], _tag)
      }
      for (const { again, back, count, isLost } of sends) {
        const start = Math.max(0, cursor - back)
        const batch = file.slice(start, start + count)
        const { uuid: lastUuid } = AppendChain.advance({ uuid: undefined, seq: 0 }, file.slice(0, start))
        sent.push(AppendChain.native(batch, { lastUuid }))
        deliver(sent.at(-1)!)
        if (!isLost) cursor = Math.max(cursor, start + batch.length)
        // The network delivers an earlier request once more.
        if (again > 0 && sent.length >= again) deliver(sent.at(-again)!)
      }
      assert.isTrue(now.lines.length >= cursor)
    }
  )

  it("a writer that is fenced off appends nothing more, and the one that claimed goes on", () => {
    const taken = claim(append(empty, native("a b")))
    assert.strictEqual(show(judge(taken, native("c", "b"))), "StaleEpoch 1")
    const claimed = claim(append(taken, native("x", "b", 1)))
    assert.strictEqual(names(append(append(claimed, native("y", "x", 1)), native("c", "x", 2))), "a b x c")
  })
})
