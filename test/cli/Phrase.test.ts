import * as Phrase from "@reprise/cli/Phrase"
import * as Style from "@reprise/cli/Style"
import * as Finding from "@reprise/domain/Finding"
import { assert, describe, it } from "@effect/vitest"

const [one, two] = ["aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"]

describe("counts", () => {
  it("have their noun", () => {
    assert.strictEqual(Phrase.times(1, "entry", "entries"), "1 entry")
    assert.strictEqual(Phrase.times(2, "entry", "entries"), "2 entries")
    assert.strictEqual(Phrase.times(0, "message"), "0 messages")
  })

  it("of a log are one sentence, without what there is none of", () => {
    const none = { messages: 0, conversation: 0, archived: 0, removed: 0, onBranches: 0, branches: 0 }
    assert.strictEqual(Phrase.sum(none), "0 messages")
    assert.strictEqual(Phrase.sum({ ...none, messages: 1, conversation: 1 }), "1 message: 1 in the conversation")
    assert.strictEqual(
      Phrase.sum({ messages: 10, conversation: 1, archived: 2, removed: 3, onBranches: 4, branches: 1 }),
      "10 messages: 1 in the conversation, 2 archived, 3 removed, 4 on 1 branch"
    )
  })
})

describe("findings", () => {
  it("are counted by what they cost, the worst first", () => {
    const blank = Finding.make("blank-line", { count: 1 })
    const torn = Finding.make("torn-line", { bytes: 3 })
    assert.strictEqual(Phrase.tally([blank, torn, blank, torn]), "2 losses, 2 notes")
    assert.strictEqual(Phrase.tally([torn]), "1 loss")
    assert.strictEqual(Phrase.tally([]), "")
  })
})

describe("an argument", () => {
  it("is quoted where a shell would not take it as it stands", () => {
    assert.deepStrictEqual(["/a/b-1.jsonl", "my log.jsonl", "it's", "$x\u001b[31m"].map(Phrase.argument), [
      "/a/b-1.jsonl",
      "'my log.jsonl'",
      "'it'\\''s'",
      "'$x'"
    ])
  })
})

describe("ids", () => {
  it("are shown by their first digits where those tell them apart", () => {
    assert.strictEqual(Phrase.shorten([one, one])(`to ${one}.`), "to aaaaaaaa.")
    assert.strictEqual(Phrase.shorten([one, two])(`to ${one}.`), `to ${one}.`)
    assert.strictEqual(Phrase.shorten([])("u1"), "u1")
  })
})

describe("rows", () => {
  it("are aligned, clean, and have no blanks at their ends", () => {
    assert.deepStrictEqual(
      Phrase.rows(Style.plain(), [
        ["a", "x\ny"],
        ["long", ""]
      ]),
      ["  a     x y", "  long"]
    )
    assert.deepStrictEqual(Phrase.rows(Style.plain(), []), [])
  })
})

describe("findings", () => {
  it("stand by severity, then by line; those without a line last", () => {
    const at = (line: number) => ({ line, byteStart: 0, byteEnd: 1 })
    const all = [
      Finding.make("bom", {}, at(1)),
      Finding.make("glued-lines", { count: 2 }),
      Finding.make("glued-lines", { count: 2 }, at(12)),
      Finding.make("torn-line", { bytes: 3 }, at(7))
    ]
    assert.deepStrictEqual(
      Phrase.findings(Style.plain(), all, (text) => text),
      [
        "  loss    line  7  3 bytes end in the middle of an entry, as after a kill during a write.",
        "  repair  line 12  2 entries read from one line.",
        "  repair           2 entries read from one line.",
        "  note    line  1  A byte order mark stands before the first entry."
      ]
    )
    assert.deepStrictEqual(Phrase.severities.map(Phrase.toneOf), ["loss", "repair", undefined])
  })

  it("may be many", () => {
    const all = Array.from({ length: 200_000 }, () => Finding.make("bom", {}))
    assert.strictEqual(Phrase.findings(Style.plain(), all, (text) => text).length, 200_000)
  })
})

describe("a list", () => {
  it("is cut where more than one member would be left out", () => {
    assert.deepStrictEqual(Phrase.first([1, 2, 3], 2), { shown: [1, 2, 3], more: 0 })
    assert.deepStrictEqual(Phrase.first([1, 2, 3, 4], 2), { shown: [1, 2], more: 2 })
    assert.deepStrictEqual(Phrase.first([1, 2, 3, 4], Infinity), { shown: [1, 2, 3, 4], more: 0 })
  })

  it("is wrapped between its words", () => {
    assert.deepStrictEqual(Phrase.wrap(["aa", "bb", "日本", "dddddddd", "e"], 5), ["aa bb", "日本", "dddddddd", "e"])
    assert.deepStrictEqual(Phrase.wrap([], 5), [])
  })
})

it("a text is one line, and not longer than a line can show", () => {
  assert.strictEqual(Phrase.oneLine("a\n b\u001b[2J"), "a b")
  assert.strictEqual(Phrase.oneLine("x".repeat(10_000)).length, 2000)
})

it("bytes are counted in kilobytes and megabytes, times to the minute", () => {
  assert.deepStrictEqual([0, 1, 1000, 999_001, 1_240_000, 12_400_000].map(Phrase.bytes), [
    "0 kB",
    "1 kB",
    "1 kB",
    "1000 kB",
    "1.2 MB",
    "12 MB"
  ])
  assert.strictEqual(Phrase.minute("2026-01-01T12:30:59.000Z"), "2026-01-01 12:30")
})
