import { assert, describe, it } from "@effect/vitest"
import * as Lane from "@reprise/domain/Lane"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as EntryLogSuite from "@reprise/storage/testing/EntryLogSuite"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import { Effect, Layer } from "effect"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

describe("layerMemory", () => {
  for (const { name, run } of EntryLogSuite.tests(EntryLog.layerMemory)) it.effect(name, () => run)
})

describe("FaultyEntryLog without faults", () => {
  const layer = FaultyEntryLog.layer.pipe(Layer.provide(EntryLog.layerMemory))
  for (const { name, run } of EntryLogSuite.tests(layer)) it.effect(name, () => run)
})

describe("FaultyEntryLog", () => {
  it.effect("a planned fault writes a part, says how many whole lines that were, and happens once", () =>
    Effect.gen(function* () {
      const log = EntryLog.session("-a", "s")
      const port = yield* EntryLog.EntryLog
      const faults = yield* FaultyEntryLog.Faults
      yield* faults.plan({ reason: "NoSpace", after: 4 })
      const lines = new TextEncoder().encode("{}\n{}\n")
      const error = yield* Effect.flip(port.append(log, lines))
      assert.strictEqual(error.written, 3)
      assert.deepStrictEqual(yield* port.append(log, lines.subarray(3)), { start: 5, end: 8 })
      assert.strictEqual(yield* faults.appends, 2)
    }).pipe(Effect.provide(FaultyEntryLog.layer.pipe(Layer.provide(EntryLog.layerMemory))))
  )
})

describe("placeOf", () => {
  it.effect("is the file of a log, as errors of the writer name it", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const log = EntryLog.session("-a", "s")
      const file = path.join(directory, "-a", "s.jsonl")
      const failing = Effect.gen(function* () {
        const port = yield* EntryLog.EntryLog
        assert.strictEqual(EntryLog.placeOf(port, log), file)
        const append = () => Effect.die(new Error("no longer there"))
        const broken = SessionWriter.layerWith({ retry: { onClose: 1 } }).pipe(
          Layer.provide(Layer.succeed(EntryLog.EntryLog, { ...port, append, blocking: undefined }))
        )
        const writing = Effect.gen(function* () {
          yield* SessionWriter.append(log, { type: "n" } as never)
          return yield* Effect.flip(SessionWriter.SessionWriter.use(({ close }) => close))
        })
        return yield* Effect.provide(writing, broken)
      })
      const { logs } = yield* Effect.provide(failing, FileEntryLog.layerWith({ projects: directory }))
      assert.strictEqual(logs[0]!.path, file)
      assert.strictEqual(logs[0]!.cause?.message, `append failed at ${file}: no longer there.`)
    }).pipe(Effect.scoped)
  )

  it.effect("is the key of a log that is no file", () =>
    Effect.gen(function* () {
      const port = yield* EntryLog.EntryLog
      assert.strictEqual(EntryLog.placeOf(port, EntryLog.session("-a", "s")), "/-a/s.jsonl")
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )
})

describe("wholeLines", () => {
  const lines = new TextEncoder().encode("ab\ncd\n")
  it("counts the bytes of whole lines; one that lacks its LF only is whole", () =>
    assert.deepStrictEqual(
      [0, 1, 2, 3, 4, 5, 6].map((written) => EntryLog.wholeLines(lines, written)),
      [0, 0, 3, 3, 3, 6, 6]
    ))
})

describe("addresses", () => {
  const id = "00000000-0000-4000-8000-000000000001"

  it("are equal for equal logs, however they are spelled", () => {
    const session = EntryLog.session("/projects/-a", id)
    assert.strictEqual(EntryLog.keyOf(EntryLog.at(`/projects/-a/${id}.jsonl`)), EntryLog.keyOf(session))
    assert.strictEqual(EntryLog.pathOf("/projects", EntryLog.session("-a", id)), EntryLog.pathOf("/", session))
    const sidechain = EntryLog.withLane(session, Lane.sidechain("a1", ["x"]))
    assert.deepStrictEqual(EntryLog.at(EntryLog.pathOf("/", sidechain)), sidechain)
  })

  it("name any file", () => {
    const file = EntryLog.at("/tmp/log.jsonl.bak")
    assert.strictEqual(EntryLog.pathOf("/projects", file), "/tmp/log.jsonl.bak")
    assert.strictEqual(
      EntryLog.pathOf("/projects", EntryLog.withLane(file, Lane.sidechain("a1"))),
      "/tmp/log.jsonl/subagents/agent-a1.jsonl"
    )
  })
})

describe("EntryLogError", () => {
  it("says what failed, where, why and what to do", () => {
    const cause = Object.assign(new Error("x"), { code: "ENOSPC" })
    const error = new EntryLog.EntryLogError({
      operation: "append",
      path: "/a.jsonl",
      reason: "NoSpace",
      written: 7,
      cause
    })
    assert.strictEqual(
      error.message,
      "append failed (ENOSPC) after 7 bytes of whole lines at /a.jsonl: there is no space left. Free some and try again."
    )
  })
})
