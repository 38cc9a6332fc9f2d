/**
 * Promises about deletion: it is for the whole session, and for ever.
 */
import * as Effect from "effect/Effect"
import * as assert from "node:assert/strict"
import { IngressStore } from "../../IngressStore.ts"
import type { StreamAddress } from "../../StreamAddress.ts"
import type { Promises } from "../IngressStoreSuite.ts"
import { append, compat, fails, holds, native, newStream } from "./lines.ts"

const remove = ({ session, tenant }: StreamAddress) => IngressStore.use((store) => store.remove(tenant, session))

/** The promises, by their names. */
export const removing: Promises = {
  "a deleted session is neither read nor listed, nor are its agents": Effect.gen(function* () {
    const stream = newStream()
    const agent = { ...stream, sub: "a1" }
    const { head, read, sessions, streams } = yield* IngressStore
    yield* append(stream, native("a"))
    yield* append(agent, native("a"))
    yield* remove(stream)
    for (const one of [stream, agent]) {
      yield* fails(read(one, { after: 0, lines: 1, bytes: 1 }), "Deleted")
      yield* fails(head(one), "Deleted")
    }
    yield* fails(streams(stream.tenant, stream.session), "Deleted")
    assert.deepEqual(yield* sessions(stream.tenant, { limit: 10 }), [])
  }),

  "it takes no lines and no claims, not even of streams that it never had": Effect.gen(function* () {
    const stream = newStream()
    const { claim } = yield* IngressStore
    yield* append(stream, native("a"))
    yield* remove(stream)
    for (const attempt of [native("a"), native("b", "a"), native("b"), compat("b", "*")]) {
      yield* fails(append(stream, attempt), "Deleted")
      yield* fails(append({ ...stream, sub: "a9" }, attempt), "Deleted")
    }
    yield* fails(claim(stream.tenant, stream.session, "w"), "Deleted")
  }),

  "only what is there is deleted, and once": Effect.gen(function* () {
    const stream = newStream()
    yield* fails(remove(stream), "NotFound")
    yield* append(stream, native("a"))
    yield* remove(stream)
    yield* fails(remove(stream), "NotFound")
  }),

  "other sessions stay as they are": Effect.gen(function* () {
    const stream = newStream()
    const others = [
      { ...stream, session: "s2" },
      { ...newStream(), session: stream.session }
    ]
    for (const one of [stream, ...others]) yield* append(one, native("a"))
    yield* remove(stream)
    for (const one of others) {
      yield* append(one, native("b", "a"))
      yield* holds(one, "a b")
    }
  })
}
