import { assert, describe, it } from "@effect/vitest"
import * as Verbatim from "@reprise/domain/Verbatim"
import { Arbitrary, Effect, Schema } from "effect"

const encode = (text: string) => new TextEncoder().encode(text)
const edited = (text: string | Uint8Array, edit: Verbatim.Edit): string => {
  const made = Verbatim.edit(typeof text === "string" ? encode(text) : text, edit)
  assert.isDefined(made)
  return new TextDecoder("latin1").decode(Verbatim.bytesOf(made))
}
const primed = (text: string): string => `${text}'`

describe("Verbatim", () => {
  it("changes what is named and leaves every other byte", () => {
    const line =
      String.raw` {"uuid" : "a", "n":1.0,"big":9007199254740993,"s":"\/\u00e9\ud800","uuid":"a" ,"x":{"uuid":"a"}}` +
      "\r"
    assert.strictEqual(
      edited(line, { shape: { uuid: primed } }),
      String.raw`{"uuid" : "a'", "n":1.0,"big":9007199254740993,"s":"\/\u00e9\ud800","uuid":"a'" ,"x":{"uuid":"a"}}`
    )
  })

  it("goes into objects and lists by their shape, and passes what has another one", () => {
    const shape = { ids: primed, meta: { deep: { id: primed }, list: { id: primed } } }
    assert.strictEqual(
      edited('{"ids":["a",["b"],1,"c"],"meta":{"deep":{"id":"d","no":"d"},"list":[{"id":"e"},"f",{}]},"t":[{}]}', {
        shape
      }),
      '{"ids":["a\'",["b"],1,"c\'"],"meta":{"deep":{"id":"d\'","no":"d"},"list":[{"id":"e\'"},"f",{}]},"t":[{}]}'
    )
    const other = '{"ids":null,"meta":[1,{"deep":"id"}],"deep":{"id":"d"}}'
    assert.strictEqual(edited(other, { shape }), other)
  })

  it("sets values, every occurrence of them, and adds keys at the end", () => {
    const edit = { shape: {}, set: { p: null, q: { r: 1 } }, defaults: { d: "e", f: "g" } }
    assert.strictEqual(edited('{"p":{"a":[1]},"d":1,"p":"x"}', edit), '{"p":null,"d":1,"p":null,"f":"g","q":{"r":1}}')
    assert.strictEqual(edited("{}", edit), '{"d":"e","f":"g","p":null,"q":{"r":1}}')
    assert.strictEqual(edited("{ }", { shape: {}, set: { a: 1 } }), '{ "a":1}')
  })

  it("knows a key by what it spells, also one that objects have by birth", () => {
    const line = String.raw`{"\u0075uid":"a","__proto__":"b","constructor":"c","te\"xt":"uuid","e":"\\"}`
    assert.strictEqual(
      edited(line, { shape: { uuid: primed } }),
      String.raw`{"\u0075uid":"a'","__proto__":"b","constructor":"c","te\"xt":"uuid","e":"\\"}`
    )
  })

  it("keeps bytes that are no UTF-8, and nesting of any depth", () => {
    const bytes = new Uint8Array([...encode('{"a":"'), 0xff, 0xe2, ...encode('","uuid":"u"}')])
    assert.strictEqual(edited(bytes, { shape: { uuid: primed } }), '{"a":"\u00ff\u00e2","uuid":"u\'"}')
    const deep = `{"d":${"[".repeat(200_000)}${"]".repeat(200_000)},"uuid":"u"}`
    assert.strictEqual(edited(deep, { shape: { uuid: primed } }), deep.replace('"u"', '"u\'"'))
    assert.isUndefined(Verbatim.edit(encode("[1]"), { shape: {} }))
  })

  it("writes in its place among other bytes, and takes no more room than it says", () => {
    const made = Verbatim.edit(encode('{"uuid":"a","n":1}'), { shape: { uuid: () => "é…😀" }, set: { b: "\ud800" } })!
    const target = new Uint8Array(made.most + 3).fill(46)
    const end = made.into(target, 2)
    assert.isAtMost(end, made.most + 2)
    assert.strictEqual(new TextDecoder().decode(target.subarray(0, end)), '..{"uuid":"é…😀","n":1,"b":"\\ud800"}')
    assert.isTrue(target.subarray(end).every((byte) => byte === 46))
  })

  it.effect("without changes gives any object back, byte for byte", () =>
    Effect.gen(function* () {
      const objects = Arbitrary.schema(Schema.Record(Schema.String, Schema.Json))
      const result = yield* Arbitrary.checkEffect(
        objects,
        (value) => {
          const text = JSON.stringify(value)
          const made = Verbatim.edit(encode(`${text} `), { shape: { uuid: (id) => id } })
          return made !== undefined && new TextDecoder().decode(Verbatim.bytesOf(made)) === text
        },
        { runs: 200, seed: "1" }
      )
      assert.strictEqual(result._tag, "Passed", Arbitrary.formatCheckFailure(result))
    })
  )
})
