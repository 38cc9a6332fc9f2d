/**
 * The law of the three doors: `suffix` gives the conversation, the model messages and the interruption of the whole log,
 * `metadata` also its metadata and snapshots; on every log that was written forward (see `Suffix`).
 */
import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Written from "@reprise/domain/testing/History"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { drawn } from "../recovery/drawn.ts"
import { compacted } from "./compacted.ts"
import { beside, bytesOf, seen, through } from "./doors.ts"
import { begin, lineOf, Said } from "./said.ts"

const options = { arbitrary: { runs: Number(process.env["RUNS"] ?? 300), seed: process.env["SEED"] ?? "doors" } }

/** How many bytes a read gives at most. */
const most = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 40, maximum: 2000 })))

/** Checks the law; gives the door that answered when the suffix was asked for. */
const holds = Effect.fnUntraced(function* (bytes: Uint8Array, scan: { readonly window?: number }, isDrawn: boolean) {
  const full = yield* through(bytes, "full")
  const suffix = yield* through(bytes, "suffix", scan)
  if (isDrawn && !isForward(bytes, suffix.state.extent.byteStart)) return "not forward"
  const metadata = yield* through(bytes, "metadata", scan)
  assert.deepStrictEqual(seen(suffix.state), seen(full.state))
  assert.deepStrictEqual(seen(metadata.state), seen(full.state))
  assert.deepStrictEqual(beside(metadata.state), beside(full.state))
  return suffix.history
})

/** No line before `start` names a message that stands behind it, so none is written there for the first time again. */
const isForward = (bytes: Uint8Array, start: number): boolean => {
  if (start === 0) return true
  const before = new TextDecoder().decode(bytes.subarray(0, start))
  return Line.decodeAll(bytes.subarray(start)).every(({ entry }) => {
    const { uuid } = entry as { readonly uuid?: unknown }
    return typeof uuid !== "string" || !before.includes(JSON.stringify(uuid))
  })
}

const law = (bytes: Uint8Array, scan: { readonly window?: number } = {}, isDrawn = false) =>
  Effect.provide(holds(bytes, scan, isDrawn), EntryLog.layerMemory)

describe("every door gives what the whole log gives", () => {
  it.effect.prop(
    "on logs with compactions, some of which lead before their boundary",
    { words: compacted },
    ({ words }) => law(Notation.bytes(words.join(" ")), {}, true),
    options
  )

  it.effect("and most of those with a boundary need no more than the suffix", () =>
    Effect.gen(function* () {
      const logs = yield* Arbitrary.sampleEffect(compacted, { count: 100, seed: "doors" })
      const doors = yield* Effect.forEach(logs, (words) => law(Notation.bytes(words.join(" ")), {}, true))
      assert.isAbove(doors.filter((door) => door === "suffix").length, 17)
      assert.isBelow(doors.filter((door) => door === "not forward").length, 7)
    })
  )

  it.effect.prop("on any log", { words: drawn }, ({ words }) => law(Notation.bytes(words.join(" ")), {}, true), options)

  it.effect.prop(
    "on what a session writes",
    { history: Written.arbitrary() },
    ({ history }) => law(history.bytes),
    options
  )

  it.effect.prop(
    "whatever messages say, in whatever order of time they were written, and however the log is cut into chunks",
    { said: Arbitrary.array(Arbitrary.schema(Said), { maxLength: 12 }), behind: Arbitrary.schema(Said), most },
    ({ behind, most, said }) =>
      Effect.gen(function* () {
        const before = said.map((one) => lineOf(one, "u1"))
        const begun = behind.id < 80 ? [begin] : []
        const bytes = bytesOf(...begun, ...before, { picture: "a1^u1 B1-S1" }, lineOf(behind, "S1"), {
          picture: "u5^S1-a5"
        })
        const [full, metadata] = [yield* through(bytes, "full"), yield* through(bytes, "metadata", { most })]
        assert.strictEqual(metadata.history, "metadata")
        assert.deepStrictEqual(beside(metadata.state), beside(full.state))
      }).pipe(Effect.provide(EntryLog.layerMemory)),
    options
  )

  it.effect("behind a boundary with which a compaction broke off", () =>
    Effect.gen(function* () {
      const timestamp = "2026-01-01T00:00:05.000Z"
      const entry = (type: string, uuid: string, parentUuid: string | null, more: object) =>
        Object.assign({ parentUuid, isSidechain: false, type, uuid, timestamp, sessionId: "s" }, more)
      const boundary = (uuid: string, logicalParentUuid: string, compactMetadata: object = {}) =>
        entry("system", uuid, null, { subtype: "compact_boundary", logicalParentUuid, compactMetadata })
      const user = (uuid: string, parentUuid: string, content: unknown, more: object = {}) =>
        entry("user", uuid, parentUuid, { message: { role: "user", content }, ...more })
      const summary = user("b", "a", "All that was.", { isCompactSummary: true })
      const kept = { preservedSegment: { headUuid: "b", tailUuid: "b", anchorUuid: "d" } }
      const result = user("c", "b", [{ type: "tool_result", tool_use_id: "t", content: "done" }])
      // What it keeps hangs on it by its time alone.
      yield* law(bytesOf(boundary("a", "x"), summary, boundary("d", "b", kept)))
      // What is read for metadata holds an earlier one.
      yield* law(bytesOf(boundary("a", "x"), summary, result, boundary("d", "c")))
    })
  )

  it.effect("at every window edge", () =>
    Effect.gen(function* () {
      const bytes = Notation.bytes("u0-a0-u1-a1(A)-rA-a2 B1{a1..a2>S1}-S1-u3-N1{u3}-a4 B2{rA,a2>S2}-S2-t1-u5")
      // Every window up to a line's length, and then by a step that meets every place in a line.
      for (let window = 1; window <= bytes.length; window += window < 300 ? 1 : 13) {
        assert.strictEqual(yield* law(bytes, { window }), "suffix")
      }
    })
  )

  it.effect(
    "at every cut of a log",
    () =>
      Effect.gen(function* () {
        const bytes = Notation.bytes("u1-a1(A)-rA-a2 B1{rA,a2>S1}-S1-u3-a4 !a4 B2-S2-u5-a6")
        const isLineEnd = (cut: number) => bytes.subarray(Math.max(0, cut - 3), cut + 2).includes(0x0a)
        // Around each end of a line, and with a step that meets every place in one.
        for (let cut = 0; cut <= bytes.length; cut++) {
          if (cut % 7 === 0 || isLineEnd(cut)) yield* law(bytes.subarray(0, cut))
        }
      }),
    120_000
  )
})

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Collections of logs that lie beside the repository, where they do. */
for (const name of ["cases", "corpus"]) {
  const folder = path.join(root, "..", "shared", name)
  const files = fs.existsSync(folder)
    ? fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".jsonl"))
    : []
  if (files.length === 0) console.log(`skipped: no logs in ../shared/${name}`)
  describe.skipIf(files.length === 0)(`on ../shared/${name}`, () => {
    it.effect(
      `every door gives what the whole log gives, on ${files.length} files`,
      () =>
        Effect.gen(function* () {
          for (const file of files) {
            const bytes = new Uint8Array(fs.readFileSync(path.join(folder, file)))
            yield* law(bytes)
          }
        }),
      120_000
    )
  })
}
