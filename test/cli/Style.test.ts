import * as Style from "@reprise/cli/Style"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stdio } from "effect"
import * as ConfigProvider from "effect/ConfigProvider"
import { TerminalCapabilities } from "effect/cli"
import { terminal } from "./running.ts"

describe("clean", () => {
  it("takes out what would speak to the terminal", () => {
    assert.strictEqual(Style.clean("a\u001b[31mb\u001b[0m\u0007c"), "ab c")
    assert.strictEqual(Style.clean("\u202eabc\u2066d\u200f"), "abcd")
    assert.strictEqual(Style.clean("\u001b]8;;http://x\u0007link\u001b]8;;\u0007"), "link")
  })

  it("makes one line of many", () => {
    assert.strictEqual(Style.clean("  a\r\n\tb\n\n c\u0000d "), "a b c d")
  })

  it.prop(
    "gives well-formed text without control characters, and is done after once",
    { text: Schema.String },
    ({ text }) => {
      const cleaned = Style.clean(text)
      return cleaned.isWellFormed() && !/\p{Cc}/u.test(cleaned) && Style.clean(cleaned) === cleaned
    }
  )
})

describe("lines", () => {
  it("keeps lines and indents, and takes out what would speak to the terminal", () => {
    assert.deepStrictEqual(Style.lines("a  b \r\n\tc\u001b[2Jd\u2028\u202ee\u0000"), ["a  b", "  cd", "e"])
  })
})

describe("width", () => {
  for (const [text, columns] of [
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 1],
    ["日本", 4],
    ["ｆ", 2],
    ["👩‍👩‍👧", 2],
    ["→ …", 3],
    ["", 0]
  ] as const) {
    it(`of ${JSON.stringify(text)} is ${columns}`, () => assert.strictEqual(Style.width(text), columns))
  }
})

describe("cut", () => {
  it("leaves what fits as it is", () => {
    assert.strictEqual(Style.cut("abcd", 4), "abcd")
    assert.strictEqual(Style.cut("日本", 4), "日本")
  })

  it("ends what does not fit in …", () => {
    assert.strictEqual(Style.cut("abcde", 4), "abc…")
    assert.strictEqual(Style.cut("日本語", 5), "日本…")
    assert.strictEqual(Style.cut("日本語", 4), "日…")
    assert.strictEqual(Style.cut("ab cd", 4), "ab…")
  })

  it.prop(
    "never takes more columns than there are",
    { text: Schema.String, columns: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })) },
    ({ columns, text }) => Style.width(Style.cut(Style.clean(text), columns)) <= columns
  )
})

describe("cutStart", () => {
  it("leaves what fits as it is, and keeps the end of what does not", () => {
    assert.strictEqual(Style.cutStart("a/b/c", 5), "a/b/c")
    assert.strictEqual(Style.cutStart("a/b/c.jsonl", 8), "…c.jsonl")
    assert.strictEqual(Style.cutStart("日本語", 5), "…本語")
    assert.strictEqual(Style.cutStart("abc", 1), "…")
  })

  it.prop(
    "never takes more columns than there are",
    { text: Schema.String, columns: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 })) },
    ({ columns, text }) => Style.width(Style.cutStart(Style.clean(text), columns)) <= columns
  )
})

describe("fill", () => {
  it("fills up to so many columns", () => {
    assert.strictEqual(Style.fill("ab", 4), "ab  ")
    assert.strictEqual(Style.fill("日", 4), "日  ")
    assert.strictEqual(Style.fill("abcde", 4), "abcde")
  })
})

describe("current", () => {
  const current = (env: { readonly [name: string]: string }, isTerminal: boolean, columns: number) =>
    Style.current.pipe(
      Effect.provide([TerminalCapabilities.layer, terminal(columns)]),
      Effect.provide(Stdio.layerTest({ stdoutIsTerminal: Effect.succeed(isTerminal) })),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
    )

  it.effect("paints on a terminal, as wide as it is", () =>
    Effect.gen(function* () {
      const style = yield* current({}, true, 61)
      assert.strictEqual(style.columns, 61)
      assert.strictEqual(style.paint("loss", "x"), "\u001b[31mx\u001b[39m")
    })
  )

  it.effect("does not paint where there is no terminal, or where nobody wants colours", () =>
    Effect.gen(function* () {
      const piped = yield* current({}, false, 0)
      assert.strictEqual(piped.columns, 100)
      assert.strictEqual(piped.paint("loss", "x"), "x")
      const asked = yield* current({ NO_COLOR: "1" }, true, 80)
      assert.strictEqual(asked.paint("title", "x"), "x")
    })
  )

  it("a painted text is the text", () => {
    for (const tone of ["title", "faint", "user", "assistant", "loss", "repair"] as const) {
      assert.strictEqual(Style.clean(Style.colored().paint(tone, "x")), "x")
      assert.strictEqual(Style.plain().paint(tone, "x"), "x")
    }
  })
})

describe("JSON for programs", () => {
  it("has no character that steers a terminal, and keeps the value", () => {
    const value = { a: "\u009b2J\u202e\u2028\u061c", b: ["\u001b[2J", "é→"] }
    const line = Style.json(value)
    for (const char of ["\u009b", "\u202e", "\u2028", "\u061c", "\u001b"]) assert.notInclude(line, char)
    assert.deepStrictEqual(JSON.parse(line), value)
    assert.include(line, "é→")
  })
})
