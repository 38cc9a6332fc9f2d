import { assert, describe, it } from "@effect/vitest"
import type { Position } from "@reprise/domain/Finding"
import * as LineSplitter from "@reprise/domain/LineSplitter"
import { Schema } from "effect"

interface Line {
  readonly text: string
  readonly at: Position
  readonly terminated: boolean
}

const encode = (text: string) => new TextEncoder().encode(text)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** What a splitter says about the chunks; lines as hexadecimal digits. */
const split = (chunks: Iterable<Uint8Array>, from?: { readonly line: number; readonly byte: number }) => {
  const lines: Array<Line> = []
  const splitter = LineSplitter.make((line, at, terminated) => lines.push({ text: hex(line), at, terminated }), from)
  for (const chunk of chunks) splitter.push(chunk)
  splitter.end()
  return lines
}

/** What it has to say: one part for each LF, and the rest if there is one. */
const model = (log: Uint8Array, from = { line: 1, byte: 0 }): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  let start = 0
  for (let end = 0; end <= log.length; end++) {
    const terminated = log[end] === 0x0a
    if (!terminated && (end < log.length || end === start)) continue
    const at = { line: from.line + lines.length, byteStart: from.byte + start, byteEnd: from.byte + end }
    lines.push({ text: hex(log.subarray(start, end)), at, terminated })
    start = end + 1
  }
  return lines
}

/** Cuts a log into chunks of these lengths, again and again. */
const cut = function* (log: Uint8Array, lengths: ReadonlyArray<number>): Iterable<Uint8Array> {
  for (let start = 0, i = 0; start < log.length; i++) {
    const length = lengths[i % lengths.length] ?? log.length
    yield log.subarray(start, start + length)
    start += length
  }
}

const Byte = Schema.Union([
  Schema.Literals([0x0a, 0x0d, 0x00, 0x41]),
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
])
const Log = Schema.Array(Byte)
const Lengths = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 })))

describe("LineSplitter", () => {
  it.prop(
    "any split of the bytes into chunks gives the same lines at the same places",
    [Log, Lengths],
    ([log, cuts]) => {
      const bytes = Uint8Array.from(log)
      assert.deepStrictEqual(split(cut(bytes, cuts)), [...model(bytes)])
    }
  )

  it.prop("the lines and their LFs are the log, byte for byte", [Log, Lengths], ([log, cuts]) => {
    const bytes = Uint8Array.from(log)
    const lines = split(cut(bytes, cuts))
    assert.strictEqual(lines.map(({ terminated, text }) => text + (terminated ? "0a" : "")).join(""), hex(bytes))
    for (const { at, text } of lines) assert.strictEqual(hex(bytes.subarray(at.byteStart, at.byteEnd)), text)
  })

  it.prop(
    "the buffer of a chunk may be used again, be it an array of bytes or a Node Buffer",
    [Log, Lengths, Schema.Boolean],
    ([log, cuts, isNode]) => {
      const bytes = Uint8Array.from(log)
      const buffer = isNode ? Buffer.alloc(8) : new Uint8Array(8)
      const chunks = function* () {
        for (const chunk of cut(bytes, cuts.length === 0 ? [3] : cuts)) {
          buffer.set(chunk)
          yield buffer.subarray(0, chunk.length)
          buffer.fill(0xee)
        }
      }
      assert.deepStrictEqual(split(chunks()), [...model(bytes)])
    }
  )

  it.prop("a splitter may start at any line and byte of the log", [Log, Lengths], ([log, cuts]) => {
    const bytes = Uint8Array.from(log)
    assert.deepStrictEqual(split(cut(bytes, cuts), { line: 40, byte: 9000 }), [
      ...model(bytes, { line: 40, byte: 9000 })
    ])
  })

  it.prop("lines that are passed by are counted all the same", [Log, Lengths], ([log, cuts]) => {
    const bytes = Uint8Array.from(log)
    const isPassed = (line: Uint8Array, start: number, end: number) => line.subarray(start, end).includes(0x41)
    const lines: Array<Line> = []
    const splitter = LineSplitter.make(
      (line, at, terminated) => lines.push({ text: hex(line), at, terminated }),
      undefined,
      isPassed
    )
    for (const chunk of cut(bytes, cuts)) splitter.push(chunk)
    splitter.end()
    const all = model(bytes)
    const seen = all.filter(({ at }) => !isPassed(bytes, at.byteStart, at.byteEnd))
    assert.deepStrictEqual(lines, seen)
    const whole = all.filter(({ terminated }) => terminated)
    const end = whole.at(-1)?.at.byteEnd
    assert.deepStrictEqual(splitter.mark(), { line: whole.length + 1, byte: end === undefined ? 0 : end + 1 })
  })

  it("nothing but LF separates lines", () => {
    const text = "a\rb\u2028c\u2029d\u0085e\ff\vg"
    assert.deepStrictEqual(split([encode(text)]), [
      { text: hex(encode(text)), at: { line: 1, byteStart: 0, byteEnd: encode(text).length }, terminated: false }
    ])
  })

  it("a last line without LF is told from one with LF; nothing comes after a last LF", () => {
    const ends = (text: string) => split([encode(text)]).map(({ terminated }) => terminated)
    assert.deepStrictEqual(ends("a\nb"), [true, false])
    assert.deepStrictEqual(ends("a\nb\n"), [true, true])
    assert.deepStrictEqual(ends("\n\n"), [true, true])
    assert.deepStrictEqual(ends(""), [])
  })

  it("empty chunks change nothing", () => {
    const empty = new Uint8Array(0)
    assert.deepStrictEqual(split([empty, encode("a"), empty, encode("\n"), empty]), split([encode("a\n")]))
  })

  it("a line may be longer than any chunk: 64 MB in pieces of 64 KB", () => {
    const chunk = new Uint8Array(1 << 16).fill(0x61)
    let length = 0
    const splitter = LineSplitter.make((line) => (length = line.length))
    for (let i = 0; i < 1024; i++) splitter.push(chunk)
    assert.strictEqual(length, 0)
    splitter.end()
    assert.strictEqual(length, 1 << 26)
  })
})
