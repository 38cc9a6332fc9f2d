/**
 * Promises about claims: who claimed a session last writes it, and nobody else.
 */
import * as Effect from "effect/Effect"
import * as assert from "node:assert/strict"
import { IngressStore } from "../../IngressStore.ts"
import type { StreamAddress } from "../../StreamAddress.ts"
import type { Promises } from "../IngressStoreSuite.ts"
import { append, compat, fails, holds, native, newStream } from "./lines.ts"

const claim = ({ session, tenant }: StreamAddress, writer = "w1") =>
  IngressStore.use((store) => store.claim(tenant, session, writer))

/** The promises, by their names. */
export const claiming: Promises = {
  "a claim raises the epoch and tells where the main stream ends": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a .1"))
    const first = yield* claim(stream)
    assert.deepEqual([first.epoch, first.uuid, first.seq], [1, "a", 2])
    assert.equal((yield* claim(stream, "w2")).epoch, 2)
    assert.equal((yield* claim(stream, "w2")).epoch, 3)
  }),

  "a session may be claimed before it has a line": Effect.gen(function* () {
    const stream = newStream()
    const head = yield* claim(stream)
    assert.deepEqual([head.epoch, head.uuid, head.seq], [1, undefined, 0])
    yield* holds(stream, "")
    yield* append(stream, native("a", undefined, 1))
    yield* holds(stream, "a")
  }),

  "a claimed session takes lines of that epoch alone": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a"))
    yield* claim(stream)
    for (const attempt of [compat("b", "a"), compat("b", "*"), native("b", "a"), native("b", "a", 2)]) {
      assert.equal((yield* fails(append(stream, attempt), "StaleEpoch")).epoch, 1)
    }
    assert.equal((yield* append(stream, native("b", "a", 1))).epoch, 1)
    yield* holds(stream, "a b")
  }),

  "an epoch that nobody claimed is refused": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a"))
    assert.equal((yield* fails(append(stream, native("b", "a", 1)), "StaleEpoch")).epoch, 0)
  }),

  "a fenced writer hears that, whatever else is wrong": Effect.gen(function* () {
    const stream = newStream()
    yield* append(stream, native("a b"))
    yield* claim(stream)
    yield* claim(stream, "w2")
    for (const attempt of [native("c", "x", 1), native("b c", "a", 1), native("a'", "b", 1), native("c", "*", 1)])
      assert.equal((yield* fails(append(stream, attempt), "StaleEpoch")).epoch, 2)
    yield* holds(stream, "a b")
  }),

  "what it sent before is still a success": Effect.gen(function* () {
    const stream = newStream()
    yield* claim(stream)
    yield* append(stream, native("a b", undefined, 1))
    yield* claim(stream, "w2")
    const answer = yield* append(stream, native("a b", undefined, 1))
    assert.deepEqual([answer.duplicate, answer.epoch], [true, 2])
    assert.equal((yield* append(stream, compat("b", "a"))).duplicate, true)
  }),

  "a claim fences off from the streams of agents": Effect.gen(function* () {
    const stream = newStream()
    const agent = { ...stream, sub: "x/a1" }
    yield* append(stream, native("a"))
    yield* append(agent, native("a"))
    yield* claim(stream)
    assert.equal((yield* fails(append(agent, native("b", "a")), "StaleEpoch")).epoch, 1)
    yield* append(agent, native("b", "a", 1))
    yield* holds(agent, "a b")
  }),

  "also from those that come later": Effect.gen(function* () {
    const stream = newStream()
    const agent = { ...stream, sub: "a1" }
    yield* claim(stream)
    yield* claim(stream, "w2")
    assert.equal((yield* fails(append(agent, native("a", undefined, 1)), "StaleEpoch")).epoch, 2)
    yield* fails(append(agent, native("a")), "StaleEpoch")
    assert.equal((yield* append(agent, native("a", undefined, 2))).seq, 1)
  }),

  "one session's claim is none of another": Effect.gen(function* () {
    const stream = newStream()
    const other = { ...stream, session: "s2" }
    yield* claim(stream)
    yield* append(other, native("a"))
    yield* append({ ...stream, tenant: `${stream.tenant}-2` }, native("a"))
    yield* holds(other, "a")
  }),

  "claims at the same time have epochs of their own": Effect.gen(function* () {
    const stream = newStream()
    const heads = yield* Effect.forEach(
      Array.from({ length: 12 }, (_, i) => `w${i}`),
      (writer) => claim(stream, writer),
      { concurrency: "unbounded" }
    )
    assert.deepEqual(
      heads.map(({ epoch }) => epoch).toSorted((a, b) => a - b),
      heads.map((_, i) => i + 1)
    )
  }),

  "nothing of an earlier epoch stands behind a claim": Effect.gen(function* () {
    const stream = newStream()
    const store = yield* IngressStore
    yield* claim(stream)
    const write = Effect.forEach(
      Array.from({ length: 40 }, (_, i) => `n${i}`),
      (name) => Effect.ignore(append(stream, native(name, "*", 1))),
      { concurrency: 4 }
    )
    const [, head] = yield* Effect.all([write, Effect.delay(claim(stream, "w2"), "2 millis")], { concurrency: 2 })
    assert.equal((yield* store.head(stream)).seq, head.seq)
  })
}
