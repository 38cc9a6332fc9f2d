import { assert, describe, it } from "@effect/vitest"
import * as StreamLine from "@reprise/ingress/StreamLine"
import { Arbitrary, Result, Schema } from "effect"

const bytes = (text: string) => new TextEncoder().encode(text)
const message = (result: Result.Result<unknown, string>) =>
  Result.isFailure(result) ? result.failure : assert.fail("ok")
const Bytes = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))), {
    maxLength: 40
  }),
  (all) => Uint8Array.from(all.filter((byte) => byte !== 10))
)

describe("StreamLine", () => {
  const entry = String.raw`{"uuid":"u1","n":1.0,"big":12345678901234567890,"s":"\/é\u00e9","uuid2":"x", "a":1 ,"a":2}`

  it("an entry goes over the wire as it was written", () => {
    const line = StreamLine.ofBytes(bytes(entry), "k:1")
    assert.strictEqual(StreamLine.encode(line), `{"k":"k:1","e":${entry}}`)
    assert.strictEqual(line.uuid, "u1")
    assert.deepStrictEqual(Result.getOrThrow(StreamLine.decode(StreamLine.encode(line))), line)
    assert.deepStrictEqual(StreamLine.bytesOf(line), bytes(entry))
  })

  it("any other line goes as base64", () => {
    const all = [
      "",
      "x",
      '{"a":1}{"b":2}',
      '{"torn',
      ' {"a":1}',
      '{"a":1}\r',
      "[1]",
      "\u0000{}",
      '{"k":"\u0000"}',
      "null"
    ]
    for (const text of all) {
      const line = StreamLine.ofBytes(bytes(text), "k")
      assert.isFalse(StreamLine.isEntry(line.text), text)
      assert.match(StreamLine.encode(line), /^\{"k":"k","b":"[A-Za-z0-9+/=]*"\}$/)
      assert.deepStrictEqual(
        StreamLine.bytesOf(Result.getOrThrow(StreamLine.decode(StreamLine.encode(line)))),
        bytes(text)
      )
    }
  })

  it.prop("any bytes and any key come back", { all: Bytes, key: Schema.String }, ({ all, key }) => {
    for (const whole of [
      all,
      bytes(`{"x":${JSON.stringify(String.fromCharCode(...all))}}`),
      Uint8Array.of(0x7b, ...all, 0x7d)
    ]) {
      if (!StreamLine.isKey(key)) continue
      const line = StreamLine.ofBytes(whole, key)
      const back = Result.getOrThrow(StreamLine.decode(StreamLine.encode(line)))
      assert.deepStrictEqual([back.key, back.hash, [...StreamLine.bytesOf(back)]], [key, line.hash, [...whole]])
    }
  })

  it("hashes tell texts apart", () => {
    const of = (text: string) => StreamLine.ofBytes(bytes(text), "k").hash
    assert.strictEqual(of('{"a":1}'), of('{"a":1}'))
    assert.notStrictEqual(of('{"a":1}'), of('{"a":1 }'))
  })

  it("its kind is that of its entry", () => {
    const kind = (value: object) => StreamLine.ofBytes(bytes(JSON.stringify(value)), "k").kind
    const boundary = { type: "system", subtype: "compact_boundary", compactMetadata: {} }
    const preservedSegment = { headUuid: "a", anchorUuid: "b", tailUuid: "c" }
    assert.strictEqual(kind({ type: "tag", tag: "x" }), "metadata")
    assert.strictEqual(kind({ type: "user" }), "other")
    assert.strictEqual(kind({ type: "file-history-snapshot" }), "other")
    assert.strictEqual(kind(boundary), "boundary")
    assert.strictEqual(kind({ ...boundary, compactMetadata: { preservedSegment } }), "other")
  })

  it("an entry alone has its uuid for a key", () => {
    assert.strictEqual(Result.getOrThrow(StreamLine.ofEntry('{"uuid":"u1"}')).key, "u1")
    assert.match(message(StreamLine.ofEntry('{"a":1}')), /expected an entry with a uuid/)
    assert.match(message(StreamLine.ofEntry('{"uuid":"a b"}')), /expected an entry with a uuid/)
    assert.match(message(StreamLine.ofEntry('{"uuid":"*"}')), /expected an entry with a uuid/)
    assert.match(message(StreamLine.ofEntry('{"uuid":\n"a"}')), /line feed/)
    for (const text of ["", "1", "[]", "null", '{"a":', '"x"'])
      assert.match(message(StreamLine.ofEntry(text)), /a JSON object/)
  })

  it("a batch line of another form is refused, with what was expected", () => {
    const bad = [
      ["", /expected \{"k":"<key>","e":<entry>\}.*found nothing/],
      ['{"e":{},"k":"a"}', /without blanks/],
      ['{"k": "a","e":{}}', /without blanks/],
      ['{"k":"a","e":{}', /a JSON object/],
      ['{"k":"a","e":{}}}', /a JSON object/],
      ['{"k":"a","e":1}', /a JSON object/],
      ['{"k":"","e":{}}', /expected/],
      ['{"k":"\\u0007","e":{}}', /a key of 1 to 256/],
      ['{"k":"\\ud800","e":{}}', /a key of 1 to 256/],
      ['{"k":"a","b":"A"}', /base64/],
      ['{"k":"a","b":"QQ"}', /base64/],
      ['{"k":"a","b":QQ==}', /base64/],
      ['{"k":"a","x":{}}', /expected/]
    ] as const
    for (const [text, expected] of bad) assert.match(message(StreamLine.decode(text)), expected, text)
  })

  it("a refusal shows no more than the beginning of what was found", () => {
    const secret = `{"k":"a","e":"${"x".repeat(500)}SECRET"}`
    assert.notInclude(message(StreamLine.decode(secret)), "SECRET")
  })

  it("the checkpoint that ends a page is told from a line", () => {
    const text = StreamLine.encodeCheckpoint({ cursor: "abc_-1", end: true })
    assert.deepStrictEqual(Result.getOrThrow(StreamLine.decodeAnswer(text)), { cursor: "abc_-1", end: true })
    const line = StreamLine.ofBytes(bytes('{"c":"x","end":true}'), "k")
    assert.deepStrictEqual(Result.getOrThrow(StreamLine.decodeAnswer(StreamLine.encode(line))), line)
    assert.isTrue(Result.isFailure(StreamLine.decodeAnswer('{"c":"abc"}')))
  })
})
