/**
 * Promises about reading: pages that cover a stream, what a compaction leaves, and hints that it grew.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as assert from "node:assert/strict"
import * as AppendChain from "../../AppendChain.ts"
import { IngressStore } from "../../IngressStore.ts"
import * as StreamLine from "../../StreamLine.ts"
import type { Promises } from "../IngressStoreSuite.ts"
import { append, fails, holds, keys, line, native, newStream, readAll } from "./lines.ts"

/** The promises, by their names. */
export const reading: Promises = {
  "pages of any size give the same lines": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a b .1 c ~2 d e"))
    const whole = yield* readAll(stream)
    for (const size of [1, 2, 3, 6, 7, 8]) assert.deepEqual(yield* readAll(stream, size), whole)
  }),

  "a page says whether there is more, and where": Effect.gen(function* () {
    const stream = newStream()
    const { read } = yield* IngressStore
    yield* append(stream, native("a b c d"))
    const first = yield* read(stream, { after: 0, lines: 2, bytes: 1 << 20 })
    assert.deepEqual([first.lines.length, first.next, first.end], [2, 2, false])
    const rest = yield* read(stream, { after: 2, lines: 2, bytes: 1 << 20 })
    assert.deepEqual([rest.lines.map(({ key }) => key), rest.next, rest.end], [["c", "d"], 4, true])
    const none = yield* read(stream, { after: 4, lines: 2, bytes: 1 << 20 })
    assert.deepEqual(none, { lines: [], next: 4, end: true })
  }),

  "a page holds as many bytes as it may, and always a line": Effect.gen(function* () {
    const stream = newStream()
    const { read } = yield* IngressStore
    yield* append(stream, native("a b c"))
    const size = line("a").text.length
    const pages = [1, size, size + 1, 2 * size, 3 * size].map((bytes) => read(stream, { after: 0, lines: 10, bytes }))
    assert.deepEqual(
      (yield* Effect.all(pages)).map(({ lines }) => lines.length),
      [1, 1, 1, 2, 3]
    )
  }),

  "what is read behind a place is what was appended since": Effect.gen(function* () {
    const stream = newStream()
    const { read } = yield* IngressStore
    yield* append(stream, native("a b"))
    const { next } = yield* read(stream, { after: 0, lines: 10, bytes: 1 << 20 })
    yield* append(stream, native("c", "b"))
    const since = yield* read(stream, { after: next, lines: 10, bytes: 1 << 20 })
    assert.deepEqual(
      since.lines.map(({ key, seq }) => [seq, key]),
      [[3, "c"]]
    )
  }),

  "a session that nobody wrote is not found, nor are the streams it lacks": Effect.gen(function* () {
    const stream = newStream()
    const { head, read, streams } = yield* IngressStore
    const range = { after: 0, lines: 1, bytes: 1 }
    yield* fails(read(stream, range), "NotFound")
    yield* fails(head(stream), "NotFound")
    yield* fails(streams(stream.tenant, stream.session), "NotFound")
    yield* append(stream, native("a"))
    yield* fails(read({ ...stream, sub: "a1" }, range), "NotFound")
    yield* fails(head({ ...stream, sub: "a1" }), "NotFound")
  }),

  "a session whose agents alone wrote has an empty main stream": Effect.gen(function* () {
    const stream = newStream()
    yield* append({ ...stream, sub: "a1" }, native("a"))
    yield* holds(stream, "")
    assert.equal((yield* (yield* IngressStore).head(stream)).seq, 0)
  }),

  "another tenant's session is as if it were not there": Effect.gen(function* () {
    const stream = newStream()
    const other = { ...stream, tenant: newStream().tenant }
    const { claim, head, remove, sessions, streams } = yield* IngressStore
    yield* append(stream, native("a b"))
    yield* fails(head(other), "NotFound")
    yield* fails(streams(other.tenant, other.session), "NotFound")
    yield* fails(remove(other.tenant, other.session), "NotFound")
    assert.deepEqual(yield* sessions(other.tenant, { limit: 10 }), [])
    yield* append(other, native("x"))
    yield* claim(other.tenant, other.session, "w")
    yield* append(stream, native("c", "b"))
    yield* holds(stream, "a b c")
    yield* holds(other, "x")
  }),

  "the streams of a session are told by name, the main one first": Effect.gen(function* () {
    const stream = newStream()
    const store = yield* IngressStore
    for (const sub of ["b", "", "a/z", "a", "B"]) yield* append({ ...stream, sub }, native("x y"))
    yield* store.claim(stream.tenant, stream.session, "w")
    const all = yield* store.streams(stream.tenant, stream.session)
    assert.deepEqual(
      all.map(({ sub }) => sub),
      ["", "B", "a", "a/z", "b"]
    )
    assert.deepEqual(
      all.map(({ epoch, seq, uuid }) => [epoch, seq, uuid]),
      all.map(() => [1, 2, "y"])
    )
  }),

  "from the last boundary on, with metadata of any place": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a .1 b #c d ~2 .3 e #f g"))
    assert.equal(yield* keys(stream, true), ".1 .3 #f g")
    for (const size of [1, 2, 3]) {
      const found = yield* readAll(stream, size, true)
      assert.equal(found.map(({ key }) => key).join(" "), ".1 .3 #f g")
    }
    yield* append(stream, native(".4 h", "g"))
    assert.equal(yield* keys(stream, true), ".1 .3 #f g .4 h")
  }),

  "without a boundary that is all": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a .1 ~2 b"))
    assert.equal(yield* keys(stream, true), "a .1 ~2 b")
  }),

  "a boundary that keeps messages from before it makes nothing history": Effect.gen(function* () {
    const stream = newStream()
    const preservedMessages = { anchorUuid: "a", uuids: ["a"] }
    const boundary = { type: "system", subtype: "compact_boundary", uuid: "k", compactMetadata: { preservedMessages } }
    const kept = StreamLine.ofEntry(JSON.stringify(boundary))
    assert.ok(kept._tag === "Success")
    yield* append(stream, AppendChain.native([...["a", "#b", "c"].map(line), kept.success, line("d")]))
    assert.equal(yield* keys(stream, true), "#b c k d")
  }),

  "who listens is told at once, and when the stream grew": Effect.gen(function* () {
    const stream = newStream()
    const { changes } = yield* IngressStore
    yield* append(stream, native("a"))
    const seen: Array<string> = []
    const reader = yield* changes(stream).pipe(
      Stream.mapEffect(() => keys(stream)),
      Stream.tap((found) => Effect.sync(() => void seen.push(found))),
      Stream.takeUntil((found) => found === "a b c"),
      Stream.runDrain,
      Effect.forkChild
    )
    yield* until(() => seen.length > 0)
    yield* append(stream, native("b", "a"))
    yield* until(() => seen.includes("a b"))
    yield* append(stream, native("c", "b"))
    yield* Effect.timeout(Fiber.join(reader), "10 seconds").pipe(Effect.orDie)
  }),

  "who listens to a stream that is not there yet is told when it is": Effect.gen(function* () {
    const stream = newStream("s1", "a1")
    const store = yield* IngressStore
    const found = yield* store.changes(stream).pipe(
      Stream.mapEffect(() => Effect.result(store.head(stream))),
      Stream.takeUntil((head) => head._tag === "Success"),
      Stream.runDrain,
      Effect.forkChild
    )
    yield* Effect.sleep("5 millis")
    yield* append(stream, native("a"))
    yield* Effect.timeout(Fiber.join(found), "10 seconds").pipe(Effect.orDie)
  })
}

const until = (is: () => boolean) =>
  Effect.gen(function* () {
    for (let i = 0; i < 2000 && !is(); i++) yield* Effect.sleep("5 millis")
    assert.ok(is(), "nothing was told in 10 seconds")
  })
