import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"

const title = `{"type":"custom-title","customTitle":"T","sessionId":"s1"}`
const decode = (line: string): ReadonlyArray<Line.Located> => {
  const bytes = new TextEncoder().encode(line)
  return Line.decode(bytes, { line: 1, byteStart: 0, byteEnd: bytes.length })
}

describe("work", () => {
  const size = 1_000_000
  const fill = (part: string, bytes = size) => part.repeat(bytes / part.length)
  const lines: ReadonlyArray<readonly [what: string, line: string, pieces: number]> = [
    ["objects in objects, never closed", fill('{"a":', 4 * size), 1],
    ["types without end", fill('{"type"', 4 * size), 1],
    ["entries in entries, never closed", fill('{"type":"tag","tag":'), 1],
    ["objects in objects, closed and not JSON", `${fill('{"a":')}x${fill("}")}`, 1],
    ["objects in objects behind junk", `x${fill('{"a":')}1${fill("}")}`, 1],
    ["lists in lists", fill("["), 1],
    ["braces before quotes", fill('"{","'), 1],
    ["one string", `{"type":"${fill("x")}`, 1],
    ["keys without end", fill('{"\\"'), 1],
    ["entries between junk", fill('{"type":"tag"}j'), size / 7.5],
    ["a torn line before every entry", fill('{"a{"type":"tag"}'), (size / 17) * 2],
    ["braces without JSON between entries", fill('{"a":x{"type":"tag"}'), (size / 20) * 2],
    ["an entry behind many torn ones", `${fill('{"a":')}${title}`, 2],
    ["objects without JSON in objects without JSON, with entries", fill('{"a":x{"type":"tag"}') + fill("}"), NaN],
    ["marks and NULs", fill("\0\ufeff"), 1]
  ]
  for (const [what, line, pieces] of lines) {
    it(`in proportion to the length of the line: ${what}`, () => {
      const { user } = process.cpuUsage()
      const all = decode(line)
      assert.isBelow((process.cpuUsage().user - user) / 1e6, 5)
      if (!Number.isNaN(pieces)) assert.approximately(all.length, pieces, 2)
    })
  }

  it("a line may hold more braces than a map can hold keys", () => {
    const line = Buffer.alloc(2 * 2 ** 24 + 3, "{}")
    line[0] = 0x78
    assert.strictEqual(Line.decode(line, { line: 1, byteStart: 0, byteEnd: line.length }).length, 1)
  })

  it("a line may be longer than a string can be", { timeout: 120_000 }, () => {
    const line = Buffer.alloc(2 ** 29 + 100)
    line.set(Buffer.from(title), line.length - 70)
    line.write("x".repeat(10), 5)
    const all = Line.decode(line, { line: 1, byteStart: 0, byteEnd: line.length })
    assert.deepStrictEqual(
      all.map(({ at, entry }) => [entry.type, at.byteStart]),
      [
        [undefined, 5],
        ["custom-title", line.length - 70]
      ]
    )
  })

  it("a whole object may be as deep as it is long", () => {
    const [{ entry }] = decode(`{"type":"tag","deep":${"[".repeat(1e6)}${"]".repeat(1e6)}}`) as [Line.Located]
    assert.strictEqual(entry.type, "tag")
  })
})
