/**
 * EntryLogSuite: what every `EntryLog` must do, as tests that run in any test runner.
 *
 *   for (const { name, run } of EntryLogSuite.tests(layer)) it.effect(name, () => run)
 *
 * Each test builds the layer anew and expects an empty log below it. A test that fails dies with an `AssertionError`.
 */
import * as Lane from "@reprise/domain/Lane"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as assert from "node:assert/strict"
import * as EntryLog from "../EntryLog.ts"

/**
 * One test of the suite.
 *
 * @category models
 * @since 0.1.0
 */
export interface Test<E> {
  readonly name: string
  readonly run: Effect.Effect<void, E | EntryLog.EntryLogError>
}

/**
 * The suite for a layer.
 *
 * @category testing
 * @since 0.1.0
 */
export const tests = <E>(layer: Layer.Layer<EntryLog.EntryLog, E>): ReadonlyArray<Test<E>> =>
  Object.entries(promises).map(([name, promise]) => ({ name, run: Effect.provide(promise, layer) }))

const first = "00000000-0000-4000-8000-000000000001"
const second = "00000000-0000-4000-8000-000000000002"
const log = EntryLog.session("-work-a", first)
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const append = (id: EntryLog.LogId, text: string) => EntryLog.EntryLog.use((port) => port.append(id, bytes(text)))

const readAll = (id: EntryLog.LogId, window = 65536) =>
  Effect.scoped(
    Effect.gen(function* () {
      const reader = yield* (yield* EntryLog.EntryLog).reader(id)
      const parts: Array<Buffer> = []
      for (let offset = 0; ;) {
        const into = new Uint8Array(window)
        const count = yield* reader.read(offset, into)
        if (count === 0) return Buffer.concat(parts).toString()
        parts.push(Buffer.from(into.subarray(0, count)))
        offset += count
      }
    })
  )

const reads = (id: EntryLog.LogId, expected: string) =>
  Effect.map(readAll(id), (found) => assert.equal(found, expected))

const promises: { readonly [name: string]: Effect.Effect<void, EntryLog.EntryLogError, EntryLog.EntryLog> } = {
  "what was appended is read back, at its offsets": Effect.gen(function* () {
    assert.deepEqual(yield* append(log, '{"a":1}\n'), { start: 0, end: 8 })
    assert.deepEqual(yield* append(log, '{"b":"é"}\n{}\n'), { start: 8, end: 22 })
    yield* reads(log, '{"a":1}\n{"b":"é"}\n{}\n')
  }),

  "any window of any size reads the same bytes": Effect.gen(function* () {
    yield* append(log, '{"a":"0123456789"}\n{"b":"é"}\n')
    const whole = yield* readAll(log)
    for (const window of [1, 2, 3, 7, 4096]) assert.equal(yield* readAll(log, window), whole)
    const tail = new Uint8Array(11)
    const reader = yield* (yield* EntryLog.EntryLog).reader(log)
    assert.equal(yield* reader.read(19, tail), 11)
    assert.equal(Buffer.from(tail).toString(), '{"b":"é"}\n')
    assert.equal(yield* reader.read(30, tail), 0)
  }).pipe(Effect.scoped),

  "a log that nothing was appended to is not found": Effect.gen(function* () {
    const port = yield* EntryLog.EntryLog
    const reasonOf = <A>(read: Effect.Effect<A, EntryLog.EntryLogError>) =>
      Effect.match(read, { onFailure: ({ reason }) => reason, onSuccess: () => "found" })
    assert.equal(yield* reasonOf(port.stat(log)), "NotFound")
    assert.equal(yield* reasonOf(Effect.scoped(port.reader(log))), "NotFound")
  }),

  "a log that is open for reading grows, and stays the same": Effect.gen(function* () {
    yield* append(log, "{}\n")
    const reader = yield* (yield* EntryLog.EntryLog).reader(log)
    yield* append(log, "{}\n{}\n")
    assert.equal(yield* reader.read(3, new Uint8Array(9)), 6)
    assert.equal(yield* reader.isReplaced, false)
  }).pipe(Effect.scoped),

  "who listens to a log is told that it changed, or hears nothing": Effect.gen(function* () {
    const port = yield* EntryLog.EntryLog
    yield* append(log, "{}\n")
    const heard = yield* Effect.forkChild(Stream.runHead(port.changes(log)))
    yield* Effect.yieldNow
    yield* append(log, "{}\n")
    yield* Fiber.interrupt(heard)
    yield* append(log, "{}\n")
    yield* reads(log, "{}\n{}\n{}\n")
  }),

  "stat tells size and time": Effect.gen(function* () {
    yield* append(log, "{}\n{}\n")
    const { mtime, size } = yield* (yield* EntryLog.EntryLog).stat(log)
    assert.equal(size, 6)
    assert.ok(Number.isFinite(mtime))
  }),

  "both ends are read at once, and no byte twice": Effect.gen(function* () {
    yield* append(log, '{"a":"0123456789"}\n{"b":"é"}\n')
    const port = yield* EntryLog.EntryLog
    const { mtime, size } = yield* port.stat(log)
    const whole = yield* readAll(log)
    for (const half of [1, 2, 7, 15, 16, 30, 64]) {
      const into = new Uint8Array(2 * half)
      const ends = yield* port.ends(log, into)
      const head = Math.min(size, half)
      const tail = Math.min(size - head, half)
      assert.deepEqual(ends, { size, mtime, head, tail })
      const text = (from: number, count: number) => Buffer.from(into.subarray(from, from + count)).toString("latin1")
      const expected = Buffer.from(whole).toString("latin1")
      assert.equal(text(0, head), expected.slice(0, head))
      assert.equal(text(half, tail), expected.slice(size - tail))
    }
    const missing = yield* Effect.result(port.ends(EntryLog.session("-work-a", second), new Uint8Array(8)))
    assert.ok(Result.isFailure(missing) && missing.failure.reason === "NotFound")
  }),

  "a torn tail costs its line: the next append starts with LF": Effect.gen(function* () {
    yield* append(log, '{"a":1}\n{"torn')
    assert.deepEqual(yield* append(log, '{"b":2}\n'), { start: 15, end: 23 })
    yield* append(log, '{"c":3}\n')
    yield* reads(log, '{"a":1}\n{"torn\n{"b":2}\n{"c":3}\n')
  }),

  "a torn tail is healed after release as well": Effect.gen(function* () {
    yield* append(log, '{"torn')
    yield* (yield* EntryLog.EntryLog).release(log)
    yield* append(log, "{}\n")
    yield* reads(log, '{"torn\n{}\n')
  }),

  "release changes no byte and ends nothing": Effect.gen(function* () {
    const port = yield* EntryLog.EntryLog
    yield* append(log, "{}\n")
    yield* port.release(log)
    yield* port.release(log)
    yield* append(log, "{}\n")
    yield* reads(log, "{}\n{}\n")
  }),

  "the caller's buffer may be used again": Effect.gen(function* () {
    const port = yield* EntryLog.EntryLog
    const buffer = bytes("{}\n")
    yield* port.append(log, buffer)
    buffer.fill(0x20)
    yield* reads(log, "{}\n")
  }),

  "sync returns after an append, and may be repeated": Effect.gen(function* () {
    const port = yield* EntryLog.EntryLog
    yield* append(log, "{}\n")
    yield* port.sync(log)
    yield* port.sync(log)
    yield* reads(log, "{}\n")
  }),

  "rewrite puts the same bytes where they were, and is NotFound where they cannot be": Effect.gen(function* () {
    const port = yield* EntryLog.EntryLog
    yield* append(log, '{"a":1}\n')
    const { start } = yield* append(log, '{"b":2}\n')
    yield* port.rewrite(log, start, bytes('{"b":2}\n'))
    yield* append(log, '{"c":3}\n')
    yield* reads(log, '{"a":1}\n{"b":2}\n{"c":3}\n')
    const beyond = port.rewrite(log, 20, bytes("{}\n{}\n"))
    const reason = yield* Effect.match(beyond, { onFailure: ({ reason }) => reason, onSuccess: () => "written" })
    assert.equal(reason, "NotFound")
  }),

  "rewrite adds a last LF that an append did not get in, and spares what another put in its place": Effect.gen(
    function* () {
      const port = yield* EntryLog.EntryLog
      const { start } = yield* append(log, '{"a":1}')
      yield* port.rewrite(log, start, bytes('{"a":1}\n'))
      assert.deepEqual(yield* append(log, "{}\n"), { start: 8, end: 11 })
      yield* port.rewrite(log, 8, bytes("{}\n"))
      yield* reads(log, '{"a":1}\n{}\n')
      yield* port.rewrite(log, 0, bytes('{"a":1}\n{\n'))
      yield* reads(log, '{"a":1}\n{}\n')
    }
  ),

  "what is behind the expected end is foreign, until it was appended to": Effect.gen(function* () {
    const port = yield* EntryLog.EntryLog
    yield* append(log, '{"a":1}\n')
    assert.equal(yield* port.foreign(log), undefined)
    yield* port.expect(log, 3)
    assert.deepEqual(yield* port.foreign(log), { ours: 3, size: 8 })
    assert.deepEqual(yield* append(log, "{}\n"), { start: 8, end: 11, foreign: { ours: 3, size: 8 } })
    assert.deepEqual(yield* append(log, "{}\n"), { start: 11, end: 14 })
    yield* port.expect(log, 3)
    yield* port.release(log)
    assert.equal(yield* port.foreign(log), undefined)
  }),

  "what blocks does the same": Effect.gen(function* () {
    const { blocking } = yield* EntryLog.EntryLog
    if (blocking === undefined) return
    assert.deepEqual(Result.getOrThrow(blocking.append(log, bytes('{"to'))), { start: 0, end: 4 })
    assert.deepEqual(Result.getOrThrow(blocking.append(log, bytes("{}\n"))), { start: 5, end: 8 })
    Result.getOrThrow(blocking.sync(log))
    Result.getOrThrow(blocking.rewrite(log, 5, bytes("{}\n")))
    yield* reads(log, '{"to\n{}\n')
  }),

  "a reader sees what is appended after it was opened": Effect.gen(function* () {
    yield* append(log, "{}\n")
    const reader = yield* (yield* EntryLog.EntryLog).reader(log)
    assert.equal(reader.size, 3)
    yield* append(log, '{"b":2}\n')
    const into = new Uint8Array(64)
    const count = yield* reader.read(3, into)
    assert.equal(Buffer.from(into.subarray(0, count)).toString(), '{"b":2}\n')
  }).pipe(Effect.scoped),

  "a line of three megabytes is one line": Effect.gen(function* () {
    const line = `{"a":"${"x".repeat(3 << 20)}"}\n`
    yield* append(log, line)
    yield* append(log, "{}\n")
    yield* reads(log, `${line}{}\n`)
  }),

  "sessions, lanes and projects are apart, and are listed": Effect.gen(function* () {
    const port = yield* EntryLog.EntryLog
    const agent = EntryLog.session("-work-a", first, Lane.sidechain("a1b2c3"))
    const nested = EntryLog.session("-work-a", first, Lane.sidechain("a9", ["workflows", "wf_1"]))
    const other = EntryLog.session("-work-a", second)
    const unlisted = EntryLog.session("-work-a", "notes")
    const logs = [log, agent, nested, other, unlisted, EntryLog.session("-work-b", first)]
    for (const [i, id] of logs.entries()) yield* append(id, `{"n":${i}}\n`)
    for (const [i, id] of logs.entries()) yield* reads(id, `{"n":${i}}\n`)
    const keys = (ids: ReadonlyArray<EntryLog.LogId>) => ids.map(EntryLog.keyOf).toSorted()
    assert.deepEqual((yield* port.projects).toSorted(), ["-work-a", "-work-b"])
    assert.deepEqual(keys(yield* port.sessions("-work-a")), keys([log, other]))
    assert.deepEqual(yield* port.sessions("-work-none"), [])
    const listed = (yield* port.listing("-work-a")).logs
    assert.deepEqual(keys(listed.map(({ log }) => log)), keys([log, other]))
    for (const { archived, log, mtime, size } of listed) {
      const stat = yield* port.stat(log)
      assert.deepEqual({ archived, mtime, size }, { archived: false, mtime: stat.mtime, size: stat.size })
    }
    assert.deepEqual(yield* port.listing("-work-none"), { logs: [], passed: [] })
    assert.deepEqual(keys(yield* port.sidechains(log)), keys([agent, nested]))
    assert.deepEqual(yield* port.sidechains(other), [])
  }),

  "every spelling of a directory has the same project": Effect.gen(function* () {
    const port = yield* EntryLog.EntryLog
    const project = yield* port.project("/no-such-place/my.app_v2")
    assert.equal(project, "-no-such-place-my-app-v2")
    for (const spelling of ["/no-such-place/my.app_v2/", "/no-such-place/./x/../my.app_v2"]) {
      assert.equal(yield* port.project(spelling), project)
    }
  })
}
