import { assert, describe, it } from "@effect/vitest"
import * as LineKey from "@reprise/ingress/LineKey"
import * as StreamLine from "@reprise/ingress/StreamLine"
import { Arbitrary, Schema } from "effect"

const bytes = (text: string) => new TextEncoder().encode(text)

/** The lines of a log, or of its end from a number on. */
const read = (log: ReadonlyArray<string>, from = 1) => log.map((text, i) => LineKey.lineAt(from + i, bytes(text)))

const message = (uuid: string) => JSON.stringify({ type: "user", uuid })
const mode = '{"type":"mode","mode":"plan"}'

describe("LineKey", () => {
  it("an entry with an id is named by it, and nothing else is", () => {
    const [first, second, third] = read([message("a"), mode, "torn"]).map(({ key }) => key)
    assert.strictEqual(first, "a")
    assert.match(second!, /^~[\w-]{43}$/)
    assert.match(third!, /^~[\w-]{43}$/)
  })

  it("the line is the one that goes over the wire, byte for byte", () => {
    const text = String.raw`{"n":1.0, "s":"\/"}`
    const [line] = read([text])
    assert.strictEqual(StreamLine.encode(line!), `{"k":"${line!.key}","e":${text}}`)
  })

  const Text = Schema.Literals([message("a"), message("b"), mode, "torn", "", '{"uuid":"*"}', '{"uuid":7}'])
  const Log = Arbitrary.array(Arbitrary.schema(Text), { maxLength: 12 })

  it.prop("a reader that begins in the middle finds the keys of one that read all", [Log], ([log]) => {
    for (const i of log.keys()) assert.deepStrictEqual(read(log.slice(i), i + 1), read(log).slice(i))
  })

  it.prop("lines without an id have keys of their own: by number, and by bytes", [Log, Log], ([log, other]) => {
    const nameless = (lines: ReadonlyArray<StreamLine.StreamLine>) => lines.filter(({ uuid }) => uuid === undefined)
    const keys = nameless(read(log)).map(({ key }) => key)
    assert.strictEqual(new Set(keys).size, keys.length)
    for (const [i, line] of read(other).entries())
      if (line.uuid === undefined) assert.strictEqual(keys.includes(line.key), log[i] === other[i])
    for (const { key } of read(log)) assert.isTrue(StreamLine.isKey(key))
  })
})
