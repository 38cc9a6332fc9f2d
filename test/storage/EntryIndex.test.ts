/** The law of the index: it answers as reading the whole log does, on any log. */
import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Damage from "@reprise/domain/testing/Damage"
import * as Written from "@reprise/domain/testing/History"
import * as Wild from "@reprise/domain/testing/Wild"
import * as EntryIndex from "@reprise/storage/EntryIndex"
import * as EntryLog from "@reprise/storage/EntryLog"
import { Arbitrary, Effect } from "effect"
import { logOf, type Work } from "./doors.ts"

const work = (): Work => ({ reads: 0, bytes: 0, lines: 0 })

const indexOf = Effect.fnUntraced(function* (bytes: Uint8Array, counted: Work = work()) {
  const { log, port } = yield* logOf(bytes, counted)
  return yield* Effect.provideService(EntryIndex.read(log), EntryLog.EntryLog, port)
})

const encoder = new TextEncoder()
const ofText = (text: string) => indexOf(encoder.encode(text))

/** Every id finds what a full read finds first, every line what stands on it, and no other id finds anything. */
const holds = (bytes: Uint8Array) =>
  Effect.gen(function* () {
    const index = yield* indexOf(bytes)
    const all = Line.decodeAll(bytes)
    const first = new Map<string, Line.Located>()
    for (const located of all) {
      const { uuid } = located.entry as { readonly uuid?: unknown }
      if (typeof uuid === "string" && uuid !== "" && !first.has(uuid)) first.set(uuid, located)
    }
    for (const [uuid, located] of first) assert.deepStrictEqual(yield* index.get(uuid), located)
    for (const id of ["", "no id", "b0000000-0000-4000-8000-ffffffffffff"]) {
      if (!first.has(id)) assert.isUndefined(yield* index.get(id))
    }
    const lines: Array<Line.Located> = []
    for (let line = 1; line <= index.lines; line++) lines.push(...(yield* index.line(line)))
    assert.deepStrictEqual(lines, [...all])
  }).pipe(Effect.scoped, Effect.provide(EntryLog.layerMemory))

const damaged = Arbitrary.map(
  Arbitrary.all({ history: Written.arbitrary(), damage: Arbitrary.array(Damage.arbitrary, { maxLength: 4 }) }),
  ({ damage, history }) => Damage.inflictAll(history.bytes, damage).bytes
)

describe("the index answers as the whole log does", () => {
  it.effect.prop("on what a session writes, damaged", { bytes: damaged }, ({ bytes }) => holds(bytes))

  it.effect.prop("on what others write", { bytes: Wild.log() }, ({ bytes }) => holds(bytes))

  it.effect("where keys and values look like ids", () =>
    holds(
      encoder.encode(
        [
          `{"type":"user","uuid":"a","message":{"role":"user","content":"\\"uuid\\":\\"b\\""}}`,
          `{"type":"user","toolUseResult":{"uuid":"b"},"uuid":"c","message":{"role":"user","content":"x"}}`,
          `{"type":"user","uuid":"b","message":{"role":"user","content":"the first b"}}`,
          `{"type":"user","uuid":"b","message":{"role":"user","content":"the second b"}}`,
          `{ "type" : "user", "uuid" : "d", "message" : {"role" : "user", "content" : "spaced"} }`,
          `{"type": "user", "uuid": "e", "message": {"role": "user", "content": "spaced behind"}}`,
          `{"type":"user","uuid":"é\\n\\"f","message":{"role":"user","content":"escaped"}}`,
          `{"type":"user","uuid":"ü😀","message":{"role":"user","content":"wide"}}`,
          `{"type":"user","uuid":7,"message":{"role":"user","content":"no text"}}`,
          `{"type":"user","uuid":"g","message":{"role":"user","content":"1"}}{"type":"user","uuid":"h","message":{"role":"user","content":"2"}}`,
          `{"type":"user","uuid":"i","message":{"role":"us{"type":"user","uuid":"j","message":{"role":"user","content":"behind a torn one"}}`,
          `\0\0{"type":"user","uuid":"k","message":{"role":"user","content":"nul"}}`,
          `{"type":"user","uuid":"a","uuid":"l","message":{"role":"user","content":"twice"}}`,
          ``,
          `{"type":"user","uuid":"m`
        ].join("\n")
      )
    )
  )
})

describe("an index", () => {
  it.effect("holds no entry: each is read when it is asked for, and nothing else with it", () =>
    Effect.gen(function* () {
      const line = (uuid: string) => `{"type":"user","uuid":"${uuid}","message":{"content":"${uuid.repeat(1000)}"}}\n`
      const bytes = encoder.encode(["a", "b", "c"].map(line).join(""))
      const counted = work()
      const index = yield* indexOf(bytes, counted)
      assert.strictEqual(counted.bytes, bytes.length)
      yield* index.get("b")
      assert.strictEqual(counted.bytes, bytes.length + line("b").length - 1)
      yield* index.get("z")
      assert.strictEqual(counted.bytes, bytes.length + line("b").length - 1)
    }).pipe(Effect.scoped, Effect.provide(EntryLog.layerMemory))
  )

  it.effect("of an empty log has nothing, and no line is out of its range", () =>
    Effect.gen(function* () {
      const empty = yield* ofText("")
      assert.strictEqual(empty.lines, 0)
      assert.deepStrictEqual(yield* empty.line(1), [])
      const index = yield* ofText(`{"type":"x"}\n`)
      assert.strictEqual(index.lines, 1)
      for (const line of [0, -1, 2, 1.5, Number.NaN]) assert.deepStrictEqual(yield* index.line(line), [])
    }).pipe(Effect.scoped, Effect.provide(EntryLog.layerMemory))
  )

  it.effect("of a log that does not exist says so", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(EntryIndex.read(EntryLog.session("-w", "s")))
      assert.strictEqual(error.reason, "NotFound")
    }).pipe(Effect.scoped, Effect.provide(EntryLog.layerMemory))
  )

  it.effect("answers from what it read, however the log grows", () =>
    Effect.gen(function* () {
      const log = EntryLog.session("-w", "s")
      const port = yield* EntryLog.EntryLog
      yield* port.append(log, encoder.encode(`{"type":"user","uuid":"a","message":{"content":"1"}}\n`))
      const index = yield* EntryIndex.read(log)
      yield* port.append(log, encoder.encode(`{"type":"user","uuid":"b","message":{"content":"2"}}\n`))
      assert.isDefined(yield* index.get("a"))
      assert.isUndefined(yield* index.get("b"))
    }).pipe(Effect.scoped, Effect.provide(EntryLog.layerMemory))
  )
})
