import { assert, describe, it } from "@effect/vitest"
import * as Evidence from "@reprise/domain/Evidence"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"

const judged = (text: string) => Projection.fold(Evidence.projection, Line.decodeAll(Buffer.from(text)))

describe("a transcript", () => {
  it("is what holds an entry of a kind that transcripts have, or nothing else", () => {
    const known = '{"type":"tag","tag":"x"}\n'
    assert.deepStrictEqual(judged(`${known}\n{"type":"new"}\n`), { entries: 3, known: 1, foreign: 1 })
    assert.isTrue(Evidence.isTranscript(judged(`{"type":"new"}\n# notes\n${known}`)))
    assert.isFalse(Evidence.isTranscript(judged('{"type":"new"}\n')))
    assert.isFalse(Evidence.isTranscript(judged('{\n  "name": "x"\n}\n')))
  })

  it("may be empty, torn in its first line, or NUL throughout: that is damage", () => {
    for (const left of ["", '{"type":"us', "\0\0\0", "\n"]) assert.isTrue(Evidence.isTranscript(judged(left)))
  })
})
