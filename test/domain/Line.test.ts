import { assert, describe, it } from "@effect/vitest"
import * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import * as Line from "@reprise/domain/Line"
import { Schema } from "effect"

const encode = (text: string) => new TextEncoder().encode(text)
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
/** One byte per character: the way to write bytes that are no UTF-8. */
const raw = (latin1: string) => Uint8Array.from(latin1, (c) => c.charCodeAt(0))
const position = (bytes: Uint8Array) => ({ line: 3, byteStart: 100, byteEnd: 100 + bytes.length })
const decode = (line: string | Uint8Array): ReadonlyArray<Line.Located> => {
  const bytes = typeof line === "string" ? encode(line) : line
  return Line.decode(bytes, position(bytes))
}
const bytesOf = (entry: Entry.Entry) => (entry instanceof Entry.Malformed ? text(entry.bytes) : assert.fail("an entry"))
/** A line as it was read: `torn`, `not-json`, … for what is no entry, else the entry's text. */
const show = (line: string | Uint8Array) =>
  decode(line).map(({ entry }) => (entry instanceof Entry.Malformed ? entry.reason : Line.encode(entry)))
const findings = (line: string | Uint8Array) => decode(line).flatMap(({ damage }) => damage.map(({ kind }) => kind))

const prompt = `{"parentUuid":null,"type":"user","uuid":"u1","message":{"role":"user","content":"{\\"a\\": é😀"}}`
const reply = `{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"content":[{"type":"text","text":"}{"}]}}`
const title = `{"type":"custom-title","customTitle":"T","sessionId":"s1"}`
const odd = `{"type":"future-thing","sessionId":"s1","deep":{"type":"user","uuid":"n1","message":{"content":"n"}}}`
/** It holds whole messages with ids of their own. */
const progress =
  `{"type":"progress","uuid":"p1","parentUuid":"a1","sessionId":"s1","data":{"type":"agent_progress",` +
  `"message":{"type":"user","message":{"content":"n"},"uuid":"n1","timestamp":"t"},` +
  `"normalizedMessages":[{"type":"assistant","message":{"content":[]},"uuid":"n2"},{"type":"attachment","uuid":"n3"}]}}`
/** Its strings end in braces, so that a brace before a quote is no object. */
const edit =
  `{"parentUuid":"a1","type":"user","uuid":"r1","message":{"content":[{"type":"tool_result","tool_use_id":"A"}]},` +
  `"toolUseResult":{"structuredPatch":[{"lines":["+ if (x) {","-  y(){","+ }"," {\\"type\\":1"]}]}}`
const samples = [prompt, reply, title, odd, progress, edit]

describe("decoding", () => {
  const Byte = Schema.Union([
    Schema.Literals([...'{}[],:"\\/ \t\r\0x'].map((c) => c.charCodeAt(0))),
    Schema.Int.check(
      Schema.isBetween({ minimum: 0, maximum: 255 }),
      Schema.makeFilter((byte) => byte !== 0x0a)
    )
  ])
  const Piece = Schema.Union([
    Schema.Literals(["\xef\xbb\xbf", "\0\0", '"type"', '{"type":', "//", "\xc3", '{"a":1}', ...samples]),
    Schema.Array(Byte)
  ])
  const AnyLine = Schema.Array(Piece)
  const lineOf = (pieces: typeof AnyLine.Type) =>
    raw(pieces.map((piece) => (typeof piece === "string" ? piece : String.fromCharCode(...piece))).join(""))

  it.prop("is total over any bytes: at least one entry, pieces in order, inside the line", [AnyLine], ([pieces]) => {
    const line = lineOf(pieces)
    const all = decode(line)
    assert.isAbove(all.length, 0)
    let before = 100
    for (const { at, damage, entry } of all) {
      assert.strictEqual(at.line, 3)
      assert.isTrue(before <= at.byteStart && at.byteStart <= at.byteEnd && at.byteEnd <= 100 + line.length)
      before = at.byteEnd
      if (entry instanceof Entry.Malformed) {
        assert.deepStrictEqual(entry.bytes, line.slice(at.byteStart - 100, at.byteEnd - 100))
      }
      for (const f of damage) assert.isTrue(f.line === 3 && f.byteStart! >= 100 && f.byteEnd! <= 100 + line.length)
    }
  })

  it.prop(
    "what stands between the pieces is blank, NUL or a mark, and NULs and marks are reported",
    [AnyLine],
    ([pieces]) => {
      const line = lineOf(pieces)
      const all = decode(line)
      const rest = Array.from(line)
      for (const { at } of all) rest.fill(-1, at.byteStart - 100, at.byteEnd - 100)
      for (const f of all.flatMap(({ damage }) => damage)) {
        if (f.kind === "nul-bytes" || f.kind === "bom") rest.fill(-1, f.byteStart! - 100, f.byteEnd! - 100)
      }
      assert.deepStrictEqual(
        rest.filter((byte) => ![-1, 0x20, 0x09, 0x0d].includes(byte)),
        []
      )
    }
  )

  it.prop("one junk line costs that line and moves the others down by one", [AnyLine, Schema.Int], ([pieces, n]) => {
    const at = Math.abs(n) % (samples.length + 1)
    const read = (lines: ReadonlyArray<Uint8Array>) =>
      Line.decodeAll(Buffer.concat(lines.flatMap((l) => [l, raw("\n")])))
    const lines = samples.map(encode)
    const clean = read(lines).map(({ entry }) => entry)
    const junk = read(lines.toSpliced(at, 0, lineOf(pieces)))
    assert.deepStrictEqual(
      junk.filter((l) => l.at.line !== at + 1).map(({ entry }) => entry),
      clean
    )
  })

  it("a whole log gives every line in order, with or without a last LF", () => {
    const log = `${samples.join("\n")}\n\n${title}`
    assert.deepStrictEqual(
      Line.decodeAll(encode(log)).map(({ at }) => at.line),
      [1, 2, 3, 4, 5, 6, 7, 8]
    )
    assert.strictEqual(Line.decodeAll(new Uint8Array(0)).length, 0)
  })
})

describe("a line with more than an entry", () => {
  const Glue = Schema.Literals(["", " ", "\t\r ", "\0", "\0\0\0", "\ufeff", "\0 \0"])
  const Some = Schema.Array(Schema.Tuple([Schema.Literals(samples), Glue])).check(
    Schema.isMinLength(2),
    Schema.isMaxLength(5)
  )

  it.prop("two to five whole objects are all read", { some: Some }, ({ some }) => {
    const line = some.flat().join("")
    assert.deepStrictEqual(
      show(line),
      some.map(([object]) => object)
    )
    const glued: unknown = Finding.make("glued-lines", { count: some.length }, position(encode(line)))
    assert.deepInclude(decode(line)[0]?.damage as ReadonlyArray<unknown>, glued)
  })

  it("cut anywhere, a line is no entry, and gives none of what it holds", () => {
    for (const sample of samples) {
      const bytes = encode(sample)
      for (let end = 1; end < bytes.length; end++) {
        const [only, ...more] = decode(bytes.slice(0, end))
        assert.isTrue(only?.entry instanceof Entry.Malformed && only.entry.reason === "torn", text(bytes.slice(0, end)))
        assert.strictEqual(more.length, 0)
      }
    }
  })

  it("cut anywhere, also inside a character, a torn line costs none of those that were glued to it", () => {
    for (const sample of samples) {
      const bytes = encode(sample)
      for (const next of [prompt, reply, title, progress, edit, reply + title]) {
        for (let end = 1; end < bytes.length; end++) {
          const torn = bytes.slice(0, end)
          const [first, ...rest] = decode(Buffer.concat([torn, encode(next)]))
          assert.strictEqual(rest.map(({ entry }) => Line.encode(entry)).join(""), next, text(torn))
          assert.strictEqual(bytesOf(first!.entry), text(torn).trimEnd())
        }
      }
    }
  })

  it("a line whose start is lost costs none of those that follow", () => {
    for (const sample of samples) {
      const bytes = encode(sample)
      for (let start = 1; start < bytes.length; start++) {
        const read = decode(Buffer.concat([bytes.slice(start), encode(reply)]))
        assert.strictEqual(Line.encode(read.at(-1)!.entry), reply, text(bytes.slice(start)))
      }
    }
  })

  it("whole, torn, whole: both whole ones are read", () => {
    assert.deepStrictEqual(show(`${prompt}{"type":"us${reply}`), [prompt, "torn", reply])
    assert.deepStrictEqual(show(`{"type":"us\0\0\0${reply}`), ["torn", reply])
    assert.include(findings(`{"type":"us\0\0\0${reply}`), "nul-bytes")
  })

  it("invalid UTF-8 is reported, and costs the character only", () => {
    const line = raw('{"type":"tag","tag":"a\xffb"}')
    assert.deepStrictEqual(show(line), ['{"type":"tag","tag":"a\ufffdb"}'])
    assert.deepStrictEqual(findings(line), ["invalid-utf8"])
    assert.deepStrictEqual(findings('{"type":"tag","tag":"\ufffd"}'), [])
  })
})

describe("damage of one line (FORMAT §2)", () => {
  const table: ReadonlyArray<readonly [what: string, line: string, read: ReadonlyArray<string>, findings: string]> = [
    ["nothing", "", ["blank"], "blank-line"],
    ["blanks", " \t ", ["blank"], "blank-line"],
    ["a lone CR", "\r", ["blank"], "carriage-return,blank-line"],
    ["CR LF", `${title}\r`, [title], "carriage-return"],
    ["blanks around", `\t ${title}  `, [title], ""],
    ["a byte order mark", `\ufeff${title}`, [title], "bom"],
    ["a NUL run before", `\0\0${title}`, [title], "nul-bytes"],
    ["a NUL run behind", `${title}\0\0`, [title], "nul-bytes"],
    ["a NUL run alone", "\0\0\0", ["blank"], "nul-bytes"],
    ["a mark alone", "\ufeff", ["blank"], "bom"],
    ["a comment", "// exported by hand", ["not-json"], "malformed-line"],
    ["an entry in a comment", `// ${title}`, ["not-json"], "malformed-line"],
    ["an array", "[1,2]", ["not-object"], "malformed-line"],
    ["an array of entries", `[${prompt}, ${reply} ,${title}]`, ["not-object"], "malformed-line"],
    ["an array of entries behind a mark", `\ufeff[${prompt},${title}]`, ["not-object"], "bom,malformed-line"],
    ["a number", "17", ["not-object"], "malformed-line"],
    ["a string", `"${"type"}"`, ["not-object"], "malformed-line"],
    ["null", "null", ["not-object"], "malformed-line"],
    ["an object without type", '{"a":{"type":"user"}}', ["no-type"], "malformed-line"],
    ["a type that is no string", '{"type":["user"]}', ["no-type"], "malformed-line"],
    ["an inherited type", '{"__proto__":{"type":"user"}}', ["no-type"], "malformed-line"],
    ["a repeated key", '{"type":"tag","tag":"a","tag":"b"}', ['{"type":"tag","tag":"b"}'], ""],
    ["another type", '{"type":"someday","x":[]}', ['{"type":"someday","x":[]}'], ""],
    ["the type of every object", '{"type":"constructor"}', ['{"type":"constructor"}'], ""],
    ["an unterminated string", '{"type":"user","uuid":"', ["torn"], "torn-line"],
    ["a value that was cut out", '{"type":"user","uuid":}', ["not-json"], "malformed-line"],
    ["the first line of pretty-printed JSON", "{", ["torn"], "torn-line"],
    ["a key of pretty-printed JSON", '  "type": "user",', ["not-json"], "malformed-line"],
    ["an entry with a comma behind", `  ${title},`, [title, "not-json"], "glued-lines,malformed-line"],
    ["a member that holds an entry", `  "data": ${title},`, ["not-json"], "malformed-line"],
    ["the last line of pretty-printed JSON", "}", ["not-json"], "malformed-line"]
  ]
  for (const [what, line, read, damage] of table) {
    it(what, () => {
      assert.deepStrictEqual(show(line), [...read])
      assert.strictEqual(findings(line).join(), damage)
    })
  }

  it("malformed bytes are kept when the buffer is used again, be it an array of bytes or a Node Buffer", () => {
    for (const line of ["// x", " ", '{"type":"us', `{"type":"us${title}`]) {
      for (const buffer of [encode(line), Buffer.from(line)]) {
        const kept = decode(buffer)
        buffer.fill(0xee)
        assert.deepStrictEqual(kept, decode(line))
      }
    }
  })

  it("ill-formed parts are named, with the id where there is one", () => {
    const [located] = decode('{"type":"user","uuid":"u1","isMeta":"yes","message":{"content":7}}')
    assert.deepInclude(located?.damage[0], { kind: "ill-formed", uuid: "u1", keys: ["message.content", "isMeta"] })
    assert.notProperty(decode('{"type":"system"}')[0]?.damage[0], "uuid")
  })
})
