/** The protocol as it is in use: its client, written out, against our server, on good days and on bad ones. */
import { assert, layer } from "@effect/vitest"
import * as IngressStore from "@reprise/ingress/IngressStore"
import * as FaultProxy from "@reprise/ingress/testing/FaultProxy"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import * as Seed from "./seedClient.ts"
import { serve, Served } from "./serving.ts"

const { Fault } = FaultProxy
const chain = (count: number) => {
  const uuids = Array.from({ length: count }, () => randomUUID())
  return uuids.map((uuid, i) => ({
    type: "user",
    uuid,
    parentUuid: uuids[i - 1] ?? null,
    message: { role: "user", content: `message ${i}` }
  }))
}

/** A session of a new tenant, by way of a network with these faults. */
const session = (faultOf: (request: number) => FaultProxy.Fault = () => Fault.None()) =>
  Effect.gen(function* () {
    const { token, url } = yield* Served
    const proxy = yield* FaultProxy.make({ upstream: () => url, faultOf })
    const options = { token: token(randomUUID()), faster: 500 }
    const at = `${proxy.url}${new URL(url).pathname}/session/${randomUUID()}`
    const direct = at.replace(proxy.url, new URL(url).origin)
    return {
      proxy,
      append: (entry: { readonly uuid: string }) => Effect.promise(() => Seed.appendSessionLog(entry, at, options)),
      logs: Effect.promise(() => Seed.getSessionLogs(direct, options)),
      put: (entry: { readonly uuid: string }, lastUuid: string) =>
        Effect.promise(() =>
          fetch(direct, {
            method: "PUT",
            headers: { authorization: `Bearer ${options.token}`, "last-uuid": lastUuid },
            body: JSON.stringify(entry)
          })
        ),
      options,
      at
    }
  })

layer(serve(IngressStore.layerMemory), { excludeTestServices: true })("the client in use", (it) => {
  it.effect("appends a chain, and reads it back", () =>
    Effect.gen(function* () {
      const { append, logs } = yield* session()
      assert.deepStrictEqual(yield* logs, [])
      const entries = chain(5)
      for (const entry of entries) assert.isTrue(yield* append(entry))
      assert.deepStrictEqual(yield* logs, entries)
    })
  )

  it.effect("appends all at once in the order in which it was asked", () =>
    Effect.gen(function* () {
      const { append, logs } = yield* session()
      const entries = chain(12)
      assert.isTrue((yield* Effect.forEach(entries, append, { concurrency: "unbounded" })).every(Boolean))
      assert.deepStrictEqual(yield* logs, entries)
    })
  )

  it.effect("forgets its head with its process, adopts the server's, and goes on", () =>
    Effect.gen(function* () {
      const { append, logs } = yield* session()
      const entries = chain(4)
      for (const entry of entries.slice(0, 2)) yield* append(entry)
      Seed.forget()
      assert.isTrue(yield* append(entries[1]!), "an entry of its own that is there already")
      for (const entry of entries.slice(2)) assert.isTrue(yield* append(entry))
      assert.deepStrictEqual(yield* logs, entries)
    })
  )

  it.effect("adopts what somebody else appended meanwhile", () =>
    Effect.gen(function* () {
      const { append, logs, put } = yield* session()
      const entries = chain(3)
      yield* append(entries[0]!)
      assert.strictEqual((yield* put(entries[1]!, entries[0]!.uuid)).status, 201)
      assert.isTrue(yield* append(entries[2]!))
      assert.deepStrictEqual(yield* logs, entries)
    })
  )

  it.effect("has each entry stored once, in order, whatever the network does", () =>
    Effect.gen(function* () {
      for (const seed of [1, 2, 3]) {
        const { append, logs, proxy } = yield* session(FaultProxy.seeded(seed, 60))
        const entries = chain(25)
        for (const entry of entries) assert.isTrue(yield* append(entry))
        assert.deepStrictEqual(yield* logs, entries)
        const { None: _, ...faults } = proxy.counts()
        for (const [fault, count] of Object.entries(faults)) assert.isAbove(count, 0, fault)
      }
    })
  )

  it.effect("gives up at once without a token that counts, and after ten tries without a network", () =>
    Effect.gen(function* () {
      const { at, proxy } = yield* session(() => Fault.DropBefore())
      const [entry] = chain(1)
      const tryIt = (token: string) => Effect.promise(() => Seed.appendSessionLog(entry!, at, { token, faster: 5_000 }))
      assert.isFalse(yield* tryIt("t~admin"))
      assert.strictEqual(proxy.counts().DropBefore, 10)
      const direct = yield* session()
      assert.isFalse(
        yield* Effect.promise(() => Seed.appendSessionLog(entry!, direct.at, { token: "nobody", faster: 1 }))
      )
    })
  )
})
