/**
 * Promises about appending: the verdicts of the rule, and lines that are kept as they are.
 */
import * as Effect from "effect/Effect"
import * as assert from "node:assert/strict"
import * as AppendChain from "../../AppendChain.ts"
import { IngressStore } from "../../IngressStore.ts"
import * as StreamLine from "../../StreamLine.ts"
import type { Promises } from "../IngressStoreSuite.ts"
import { append, compat, fails, holds, isUnknown, line, native, newStream, readAll } from "./lines.ts"

/** The promises, by their names. */
export const appending: Promises = {
  "a first line makes the stream, and is its head": Effect.gen(function* () {
    const stream = newStream()
    const answer = yield* append(stream, compat("a"))
    assert.deepEqual(answer, { uuid: "a", seq: 1, epoch: 0, duplicate: false, mismatched: [] })
    yield* holds(stream, "a")
  }),

  "lines go behind the head, one by one and in batches": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, compat("a"))
    yield* append(stream, compat("b", "a"))
    const answer = yield* append(stream, native("c .1 d", "b"))
    assert.deepEqual([answer.uuid, answer.seq], ["d", 5])
    yield* holds(stream, "a b c .1 d")
  }),

  "the head is the last line with an id": Effect.gen(function* () {
    const stream = newStream()
    assert.equal((yield* append(stream, native("a .1 .2"))).uuid, "a")
    yield* append(stream, native("b", "a"))
    yield* holds(stream, "a .1 .2 b")
  }),

  "a stream whose lines have no id has no head to name": Effect.gen(function* () {
    const stream = newStream()
    assert.equal((yield* append(stream, native(".1"))).uuid, undefined)
    assert.equal((yield* append(stream, native(".2 ~3"))).seq, 3)
    yield* holds(stream, ".1 .2 ~3")
  }),

  "`*` is the end, wherever that is": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, compat("a", "*"))
    yield* append(stream, native("b c", "*"))
    yield* holds(stream, "a b c")
  }),

  "another head is told, and nothing is stored": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a b .1"))
    const error = yield* fails(append(stream, compat("c", "a")), "HeadMismatch")
    assert.deepEqual([error.lastUuid, error.seq, error.known], ["b", 3, undefined])
    yield* fails(append(stream, compat("c")), "HeadMismatch")
    yield* fails(append(stream, compat("c", "x")), "HeadMismatch")
    yield* holds(stream, "a b .1")
  }),

  "an id in an empty stream is a mismatch without a head, and makes no stream": Effect.gen(function* () {
    const stream = newStream()
    const error = yield* fails(append(stream, native("b", "a")), "HeadMismatch")
    assert.deepEqual([error.lastUuid, error.seq], [undefined, 0])
    yield* isUnknown(stream)
  }),

  "the same line again is a success, wherever it stands": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a b c"))
    for (const attempt of [compat("c", "b"), compat("a"), native("c a", "x"), native("b", "*")]) {
      const answer = yield* append(stream, attempt)
      assert.deepEqual(answer, { uuid: "c", seq: 3, epoch: 0, duplicate: true, mismatched: [] })
    }
    yield* holds(stream, "a b c")
  }),

  "equal copies in one batch are one line": Effect.gen(function* () {
    const stream = newStream()
    assert.equal((yield* append(stream, native("a b a .1 .1"))).seq, 3)
    yield* holds(stream, "a b .1")
  }),

  "of a batch whose beginning the stream ends with, the rest is appended": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a b c"))
    const answer = yield* append(stream, native("b c d .1", "a"))
    assert.deepEqual([answer.uuid, answer.seq, answer.duplicate], ["d", 5, false])
    yield* holds(stream, "a b c d .1")
  }),

  "known lines elsewhere in a batch are a mismatch, with their places": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a b c"))
    const inside = yield* fails(append(stream, native("a d", "c")), "HeadMismatch")
    assert.deepEqual([inside.lastUuid, inside.seq, inside.known], ["c", 3, [1, 1]])
    const behind = yield* fails(append(stream, native("d c b", "c")), "HeadMismatch")
    assert.deepEqual(behind.known, [2, 3])
    yield* holds(stream, "a b c")
  }),

  "before `*`, known lines are passed over": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a b c"))
    assert.equal((yield* append(stream, native("d b e", "*"))).seq, 5)
    yield* holds(stream, "a b c d e")
  }),

  "a key with other bytes stores nothing, not even the lines beside it": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a b"))
    const error = yield* fails(append(stream, native("c b' d", "b")), "KeyReused")
    assert.deepEqual(error.keys, ["b"])
    yield* fails(append(stream, native("c c'", "b")), "KeyReused")
    yield* fails(append(stream, native("c a'", "*")), "KeyReused")
    yield* holds(stream, "a b")
  }),

  "in the compat profile it is a success that names the key": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a b"))
    const answer = yield* append(stream, compat("a'", "b"))
    assert.deepEqual([answer.duplicate, answer.mismatched, answer.seq], [true, ["a"], 2])
    yield* holds(stream, "a b")
  }),

  "an empty batch is there already, and makes no stream": Effect.gen(function* () {
    const stream = newStream()
    const answer = yield* append(stream, native(""))
    assert.deepEqual([answer.duplicate, answer.seq], [true, 0])
    yield* isUnknown(stream)
  }),

  "the same key is another line in another stream, session or tenant": Effect.gen(function* () {
    const stream = newStream()
    const others = [{ ...stream, sub: "a1" }, { ...stream, session: "s2" }, newStream()]
    for (const one of [stream, ...others]) yield* append(one, native("a"))
    yield* append(others[0]!, native("b", "a"))
    yield* holds(others[0]!, "a b")
    for (const one of [stream, ...others.slice(1)]) yield* holds(one, "a")
  }),

  "a text is kept to the last character": Effect.gen(function* () {
    const stream = newStream()
    const texts = [
      String.raw`{"type":"user","uuid":"u1","n":1.0,"big":12345678901234567890,"e":1E5,"s":"\/é\u00e9😀\ud83d\ude00"}`,
      String.raw`{"uuid":"u2", "a" : 1 ,"a":2,"nul":"\u0000","lone":"\ud800","quote":"\"'","slash":"\\","percent":"%$1"}`,
      `{"uuid":"u3","line":"\u2028\u2029\u0085\ufeff","tab":"\\t","zero":"​"}`,
      `{"uuid":"u4","__proto__":{"x":1},"constructor":null}`,
      `{}`
    ]
    const all = texts.map((text, i) => StreamLine.ofEntry(text, `k${i}`))
    const batch = all.flatMap((one) => (one._tag === "Success" ? [one.success] : []))
    assert.equal(batch.length, texts.length)
    yield* append(stream, AppendChain.native(batch))
    assert.deepEqual(
      (yield* readAll(stream)).map(({ text }) => text),
      texts
    )
  }),

  "a line that is no entry is kept to the last byte": Effect.gen(function* () {
    const stream = newStream()
    const every = Uint8Array.from({ length: 256 }, (_, i) => i).filter((byte) => byte !== 10)
    const kept = [every, new Uint8Array(0), new TextEncoder().encode('{"a":1}{"b":2}'), Uint8Array.of(0x7b, 0xff, 0x7d)]
    const batch = kept.map((bytes, i) => StreamLine.ofBytes(bytes, `o:${i}`))
    yield* append(stream, AppendChain.native(batch))
    assert.deepEqual(
      (yield* readAll(stream)).map((one) => [...StreamLine.bytesOf(one)]),
      kept.map((bytes) => [...bytes])
    )
  }),

  "a line of megabytes is kept": Effect.gen(function* () {
    const stream = newStream()
    const text = `{"uuid":"big","text":"${"0123456789abcdef".repeat(1 << 17)}"}`
    const big = StreamLine.ofEntry(text)
    assert.ok(big._tag === "Success")
    yield* append(stream, AppendChain.native([big.success]))
    yield* append(stream, native("b", "big"))
    const [first] = yield* readAll(stream)
    assert.equal(first?.text.length, text.length)
    assert.ok(first?.text === text)
  }),

  "a batch of thousands of lines is one": Effect.gen(function* () {
    const stream = newStream()
    const names = Array.from({ length: 2000 }, (_, i) => `n${i}`).join(" ")
    assert.equal((yield* append(stream, native(names))).seq, 2000)
    yield* holds(stream, names)
  }),

  "keys of any characters are told apart": Effect.gen(function* () {
    const stream = newStream()
    const names = ["o:0", "o:00", "O:0", "ö", "o\u0308", "' or 1=1 --", "%", "_", "a,b", "{a}", '"', "\\", "NULL", "😀"]
    const batch = names.map((key) => ({ ...line(".x"), key }))
    yield* append(stream, AppendChain.native(batch))
    assert.deepEqual(
      (yield* readAll(stream)).map(({ key }) => key),
      names
    )
    assert.equal((yield* append(stream, AppendChain.native(batch))).duplicate, true)
  }),

  "the head says where it ends, how many bytes it has and when it grew": Effect.gen(function* () {
    const stream = newStream()
    const store = yield* IngressStore
    yield* append(stream, native("a ~1"))
    const head = yield* store.head(stream)
    const bytes = line("a").text.length + line("~1").text.length
    assert.deepEqual([head.uuid, head.seq, head.epoch, head.bytes], ["a", 2, 0, bytes])
    assert.ok(head.updatedAt > 1_000_000_000_000 && Number.isSafeInteger(head.updatedAt))
    assert.ok(store.backendId.length > 0)
    yield* store.probe
  })
}
