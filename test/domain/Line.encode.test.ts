import { assert, describe, it } from "@effect/vitest"
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import { Arbitrary, Schema } from "effect"

const decode = (line: string): ReadonlyArray<Line.Located> => {
  const bytes = new TextEncoder().encode(line)
  return Line.decode(bytes, { line: 1, byteStart: 0, byteEnd: bytes.length })
}
/** What is written back of a line, one text for each entry. */
const show = (line: string) => decode(line).map(({ entry }) => Line.encode(entry))

describe("encoding", () => {
  it("writes back what is nested deeper than the runtime's own JSON goes", () => {
    const deep = (inner: string) => `${'[{"a":'.repeat(1e5)}${inner}${"}]".repeat(1e5)}`
    for (const inner of ["1", '[null,"\\ud800",{},[],{"__proto__":0,"b":[true,-0.5]}]']) {
      const line = `{"type":"tag","deep":${deep(inner)},"tag":"é"}`
      assert.isTrue(show(line)[0] === line)
    }
  })

  const oddKeys = [
    "__proto__",
    "",
    "0",
    "17",
    "-1",
    "toJSON",
    "constructor",
    "hasOwnProperty",
    "\u2028",
    "\ud800",
    "é😀"
  ]
  const oddValues = [
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\u0000"',
    '"\u2028"',
    '"a\\/b"',
    "9007199254740993",
    "1.0",
    "1e3"
  ]
  const Key = Schema.Union([Schema.Literals(oddKeys), Schema.String.check(Schema.isMaxLength(3))])
  /** The text of an object of a known or another type, with odd keys, repeated ones too, and odd values. */
  const AnyObject = Arbitrary.map(
    Arbitrary.all({
      type: Arbitrary.schema(Schema.Literals([...Entry.kinds, "someday", "constructor", ""])),
      pairs: Arbitrary.array(
        Arbitrary.all({
          key: Arbitrary.schema(Key),
          json: Arbitrary.schema(Schema.Json),
          odd: Arbitrary.schema(Schema.Literals(["", ...oddValues]))
        })
      )
    }),
    ({ pairs, type }) => {
      const members = pairs.map(({ json, key, odd }) => `${JSON.stringify(key)}:${odd || JSON.stringify(json)}`)
      return `{${[`"type":"${type}"`, ...members].join()}}`
    }
  )

  it.prop("keeps the JSON value and the order of its keys, and is settled after one pass", [AnyObject], ([line]) => {
    const [written, ...more] = show(line)
    assert.strictEqual(more.length, 0)
    assert.strictEqual(written, JSON.stringify(JSON.parse(line)))
    assert.deepStrictEqual(show(written!), [written!])
  })

  it("keeps keys that objects have by birth, and calls none of them", () => {
    for (const key of oddKeys) {
      const line = `{"type":"tag","tag":"a",${JSON.stringify(key)}:{"x":1}}`
      const [{ entry }] = decode(line) as [Line.Located]
      assert.isTrue(Object.hasOwn(entry, key))
      assert.strictEqual(Line.encode(entry), JSON.stringify(JSON.parse(line)))
    }
  })

  it("is well-formed text on one line, whatever the strings hold", () => {
    const line = '{"type":"tag","tag":"\\ud800\\u2028\\u0000\\n"}'
    const [{ entry }] = decode(line) as [Line.Located]
    assert.strictEqual((entry as { readonly tag?: string }).tag, "\ud800\u2028\0\n")
    assert.strictEqual(Line.encode(entry), '{"type":"tag","tag":"\\ud800\u2028\\u0000\\n"}')
  })

  it("gives what is no entry as text, as far as it is text", () => {
    for (const line of ["// x", '{"type":"us', "[1]", "\0\0", ""]) {
      assert.strictEqual(
        decode(line)
          .map(({ entry }) => Line.encode(entry))
          .join(""),
        line
      )
    }
  })
})
