import { assert, describe, it } from "@effect/vitest"
import * as Merge from "@reprise/ingress/Merge"
import { Arbitrary, Schema } from "effect"

/**
 * A letter is a message of that id, said one second after the one before it in the alphabet; `a'` has other bytes. What
 * begins with a dot is a line without id: `.1` `.2`.
 */
const line = (name: string): Merge.Line => {
  const uuid = name.replaceAll("'", "")
  if (name.startsWith(".")) return { hash: name }
  return { uuid, hash: name, said: `2026-01-01T00:00:${String(uuid.charCodeAt(0) - 60)}Z` }
}
const lines = (names: string) =>
  names
    .split(" ")
    .filter((name) => name !== "")
    .map(line)
const names = (all: ReadonlyArray<Merge.Line>) => all.map(({ hash }) => hash).join(" ")

/** What is appended, and the sum. */
const merge = (local: ReadonlyArray<Merge.Line>, remote: ReadonlyArray<Merge.Line>, prefer?: Merge.Side) => {
  const { append, ...merged } = Merge.plan(local, remote, prefer)
  return { ...merged, append: append.map((place) => remote[place]!) }
}

const shown = (local: string, remote: string, prefer?: Merge.Side): string => {
  const { append, conflicts, leaf, outcome, own } = merge(lines(local), lines(remote), prefer)
  return [
    outcome,
    append.length > 0 && `+ ${names(append)}`,
    own.length > 0 && `own ${names(own)}`,
    conflicts > 0 && `conflicts ${conflicts}`,
    leaf && `leaf ${leaf._tag === "Local" ? "local" : leaf.uuid}`
  ]
    .filter(Boolean)
    .join(" · ")
}

describe("the table (INGRESS §6)", () => {
  const table: ReadonlyArray<readonly [what: string, local: string, remote: string, shown: string]> = [
    ["an empty remote changes nothing", "a b", "", "remote-empty · own a b"],
    ["an empty remote and no log", "", "", "remote-empty"],
    ["fresh", "", "a .1 b", "fresh · + a .1 b"],
    ["the same", "a .1 b", "a .1 b", "same"],
    ["the same in another order", "a b c", "a c b", "same"],
    ["local ahead", "a b .1 c", "a b", "local-ahead · own .1 c"],
    ["fast-forward", "a .1", "a .1 b .2", "fast-forward · + b .2"],
    ["fast-forward beside metadata of the log alone", "a .1 b", "a b c", "fast-forward · + c · own .1"],
    ["metadata of both", "a .1", "a .2", "fast-forward · + .2 · own .1"],
    ["diverged", "a b x", "a b y z", "diverged · + y z · own x · leaf local"],
    ["nothing in common", "a", "b", "diverged · + b · own a · leaf local"],
    ["the same id with other bytes", "a b", "a b' c", "fast-forward · + c · conflicts 1"],
    ["the same id twice there, with other bytes", "a", "a b b'", "fast-forward · + b · conflicts 1"],
    ["the same id twice here: the first stands", "a a' b", "a", "local-ahead · own b"],
    ["a copy of a shared id is nothing of its own", "a b a'", "a b", "same"],
    ["lines without id are counted: two here, three there", ".1 a .1", "a .1 .1 .1", "fast-forward · + .1"],
    ["lines without id are counted: three here, two there", ".1 a .1 .1", "a .1 .1", "local-ahead · own .1"],
    ["missing in the middle: the remote goes on from c", "a c", "a b c", "fast-forward · + b · leaf c"],
    ["missing in the middle, and metadata behind", "a c", "a b c .1", "fast-forward · + b .1 · leaf c"]
  ]
  for (const [what, local, remote, expected] of table)
    it(what, () => assert.strictEqual(shown(local, remote), expected))

  it("the caller may prefer a side", () => {
    assert.strictEqual(shown("a x", "a y", "local"), "diverged · + y · own x · leaf local")
    assert.strictEqual(shown("a x", "a y", "remote"), "diverged · + y · own x")
    assert.strictEqual(shown("a x", "a y", "newest"), "diverged · + y · own x")
    assert.strictEqual(shown("a y", "a x", "newest"), "diverged · + x · own y · leaf local")
    assert.strictEqual(shown("a c x", "a b c", "remote"), "diverged · + b · own x · leaf c")
    assert.strictEqual(shown("a", "a b", "local"), "fast-forward · + b · leaf local")
    assert.strictEqual(shown("a b", "a", "local"), "local-ahead · own b")
  })
})

describe("any two logs", () => {
  const Name = Schema.Literals(["a", "b", "c", "d", "e", "a'", "b'", ".1", ".1", ".2", ".3"])
  const Log = Arbitrary.map(Arbitrary.array(Arbitrary.schema(Name), { maxLength: 8 }), (all) => all.map(line))
  const Prefer = Arbitrary.schema(Schema.Literals(["local", "remote", "newest"]))

  const ids = (log: ReadonlyArray<Merge.Line>) => new Set(log.flatMap(({ uuid }) => uuid ?? []))
  const copies = (log: ReadonlyArray<Merge.Line>, hash: string) =>
    log.filter((line) => line.uuid === undefined && line.hash === hash).length

  it.prop(
    "each id of either is there, the missing ones once, and each nameless line as often as in either",
    [Log, Log],
    ([local, remote]) => {
      const { append } = merge(local, remote)
      const after = [...local, ...append]
      assert.deepStrictEqual(ids(after), new Set([...ids(local), ...ids(remote)]))
      assert.strictEqual(
        new Set(append.flatMap(({ uuid }) => uuid ?? [])).size,
        append.filter((one) => one.uuid).length
      )
      for (const hash of [".1", ".2", ".3"])
        assert.strictEqual(copies(after, hash), Math.max(copies(local, hash), copies(remote, hash)))
    }
  )

  it.prop("what is appended is of the remote, in its order", [Log, Log], ([local, remote]) => {
    const { append } = Merge.plan(local, remote)
    assert.deepStrictEqual(
      append,
      append.toSorted((a, b) => a - b)
    )
  })

  it.prop("twice is once", [Log, Log, Prefer], ([local, remote, prefer]) => {
    const after = [...local, ...merge(local, remote, prefer).append]
    const again = merge(after, remote, prefer)
    assert.deepStrictEqual([again.append, again.leaf], [[], undefined])
    assert.notInclude(["fresh", "fast-forward", "diverged"], again.outcome)
  })

  it.prop("in pieces is at once: the beginning of a remote first, then all of it", [Log, Log], ([local, remote]) => {
    const half = [...local, ...merge(local, remote.slice(0, remote.length >> 1)).append]
    assert.strictEqual(
      names([...half, ...merge(half, remote).append]),
      names([...local, ...merge(local, remote).append])
    )
  })

  it.prop("both ways, both hold the same", [Log, Log], ([local, remote]) => {
    const here = [...local, ...merge(local, remote).append]
    const there = [...remote, ...merge(remote, here).append]
    assert.deepStrictEqual(ids(here), ids(there))
    assert.strictEqual(merge(here, there).append.length, 0)
    assert.strictEqual(merge(there, here).append.length, 0)
  })

  it.prop("the outcome is what the sets say, and own what the remote lacks", [Log, Log], ([local, remote]) => {
    const { append, outcome, own } = merge(local, remote)
    const isOwn = (line: Merge.Line, i: number) =>
      line.uuid === undefined
        ? copies(local.slice(0, i), line.hash) >= copies(remote, line.hash)
        : !ids(remote).has(line.uuid)
    assert.deepStrictEqual(own, local.filter(isOwn))
    const isDiverged = own.some(({ said }) => said) && append.some(({ said }) => said)
    const expected =
      remote.length === 0
        ? "remote-empty"
        : append.length > 0
          ? local.length === 0
            ? "fresh"
            : isDiverged
              ? "diverged"
              : "fast-forward"
          : own.length > 0
            ? "local-ahead"
            : "same"
    assert.strictEqual(outcome, expected)
  })

  it.prop("a line that is no message names no leaf", [Log, Log, Prefer], ([local, remote, prefer]) => {
    const { append, leaf } = merge(local, remote, prefer)
    if (!append.some(({ said }) => said !== undefined)) assert.isUndefined(leaf)
  })
})
