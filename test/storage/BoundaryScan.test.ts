import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Notation from "@reprise/domain/testing/Notation"
import * as BoundaryScan from "@reprise/storage/BoundaryScan"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as Effect from "effect/Effect"
import { bytesOf, logOf, type Work } from "./doors.ts"

/** The boundary that is found, and the id of the first entry that is to be read: `B1 from u1`. */
const scan = Effect.fnUntraced(function* (bytes: Uint8Array, options: BoundaryScan.Options = {}, work?: Work) {
  const { reader } = yield* logOf(bytes, work)
  const found = yield* BoundaryScan.last(reader, undefined, options)
  if (found === undefined) return "none"
  const [first] = Line.decodeAll(bytes.subarray(found.from))
  return `${found.boundary.uuid} from ${(first!.entry as { readonly uuid?: string }).uuid}`
})

const finds = (what: string, expected: string, bytes: Uint8Array, options?: BoundaryScan.Options) =>
  it.effect(what, () =>
    Effect.map(scan(bytes, options), (found) => assert.strictEqual(found, expected)).pipe(
      Effect.provide(EntryLog.layerMemory)
    )
  )

const drawn = (picture: string) => Notation.bytes(picture)
const quoting = (uuid: string, value: unknown) => ({
  type: "user",
  uuid,
  parentUuid: null,
  message: { role: "user", content: "x" },
  toolUseResult: value
})
const boundary = { type: "system", subtype: "compact_boundary", uuid: "B9", parentUuid: null }
const huge = "x".repeat(3_000_000)

describe("BoundaryScan.last", () => {
  finds("finds the last one", "B2 from B2", drawn("u1-a1 B1-S1-u2 B2-S2-u3-a3"))
  finds("finds none in a log without one, and in an empty one", "none", drawn("u1-a1-u2"))
  finds("finds none in nothing", "none", new Uint8Array())
  finds("reads from the first message of a list that it keeps", "B1 from u1", drawn("u0-u1-a1-u2 B1{u2,u1>S1}-S1-u3"))
  finds("reads from the head of a segment that it keeps", "B1 from a1", drawn("u0-u1-a1-u2 B1{a1..u2>S1}-S1-u3"))
  finds("reads from the boundary when what it keeps is in no line", "B1 from B1", drawn("u0-u1 B1{x1,x2>S1}-S1-u3"))
  finds("passes over one of a sidechain", "B1 from B1", drawn("u1 B1-S1-u2 B2~abc-S2~abc"))
  finds("takes one of a sidechain in a log that is one agent's", "B2 from B2", drawn("B1-S1 B2~abc-S2~abc"), {
    lane: "sidechain"
  })
  finds(
    "passes over one that a payload quotes, as text or as a value",
    "B1 from B1",
    bytesOf({ picture: "u1 B1-S1" }, quoting("u2", boundary), quoting("u3", JSON.stringify(boundary)))
  )
  finds(
    "passes over one that is torn, also at the very end",
    "B1 from B1",
    bytesOf({ picture: "u1 B1-S1" }, JSON.stringify(boundary).slice(0, -9), { picture: "u2" }).subarray(0, -1)
  )
  finds(
    "finds one behind the torn half of another line",
    "B9 from undefined",
    bytesOf({ picture: "u1 B1-S1" }, `{"type":"us${JSON.stringify(boundary)}`, { picture: "u2" })
  )
  finds(
    "finds one whatever the order and spacing of its keys, and however long its line",
    "B9 from B9",
    bytesOf(
      { picture: "u1-a1" },
      `{"uuid" : "B9", "content": "${huge}", "subtype"\t:"compact_boundary", "type": "system"}`,
      huge
    )
  )
  finds(
    "finds kept messages by their own line, not by those that name them",
    "B1 from u1",
    bytesOf({ picture: "u0-u1-a1" }, quoting("m1", { uuid: "u1" }), { picture: "B1{u1>S1}-S1^B1" })
  )

  it.effect("finds the same whatever window edge falls into the boundary, its line or an id", () =>
    Effect.gen(function* () {
      const bytes = drawn("u0-u1-a1-u2 B1{a1..u2>S1}-S1-u3")
      for (let window = 1; window <= bytes.length + 1; window++) {
        assert.strictEqual(yield* scan(bytes, { window }), "B1 from a1", `window ${window}`)
      }
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it.effect("reads as much for ten times the history", () =>
    Effect.gen(function* () {
      const workFor = Effect.fnUntraced(function* (length: number) {
        const work: Work = { reads: 0, bytes: 0, lines: 0 }
        const past = Array.from({ length }, (_, i) => quoting(`m${i}`, "x".repeat(1000)))
        yield* scan(bytesOf(...past, { picture: "u1-a1 B1{a1>S1}-S1-u3" }), { window: 4096 }, work)
        return work
      })
      assert.deepStrictEqual(yield* workFor(5000), yield* workFor(500))
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it.effect("looks at a line once, however often it quotes a boundary", () =>
    Effect.gen(function* () {
      const work: Work = { reads: 0, bytes: 0, lines: 0 }
      const bytes = bytesOf(
        { picture: "u1 B1-S1" },
        quoting(
          "u2",
          Array.from({ length: 20_000 }, () => boundary)
        )
      )
      assert.strictEqual(yield* scan(bytes, {}, work), "B1 from B1")
      assert.isBelow(work.bytes, 4 * bytes.length)
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )
})
