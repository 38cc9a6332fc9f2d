import { assert, describe, it } from "@effect/vitest"
import * as RemoteLog from "@reprise/ingress/RemoteLog"
import { Effect, Stream } from "effect"

const read = <E>({ lines }: RemoteLog.RemoteLog<E>) =>
  Effect.map(Stream.runCollect(lines), (all) => all.map(({ line, stream }) => `${stream}: ${line.text}`))

describe("RemoteLog", () => {
  it.effect("events name the agent of their entry, whatever else they say", () =>
    Effect.gen(function* () {
      const pages = Stream.fromIterable([
        [{ payload: { type: "user", uuid: "u1" } }],
        [],
        [
          { agent_id: "../x", is_compaction: true, event_id: 7, payload: { type: "mode", n: 1 } },
          { agent_id: null, payload: { type: "tag" } }
        ]
      ])
      assert.deepStrictEqual(yield* read(RemoteLog.ofEvents(pages)), [
        ': {"type":"user","uuid":"u1"}',
        '../x: {"type":"mode","n":1}',
        ': {"type":"tag"}'
      ])
    })
  )

  it.effect("an entry keeps its bytes, on one line", () =>
    Effect.gen(function* () {
      const entry = String.raw`{"type":"user","n":1.0,"s":"\/\n"}`
      assert.deepStrictEqual(yield* read(RemoteLog.ofEntries(Stream.succeed(entry))), [`: ${entry}`])
      assert.deepStrictEqual(yield* read(RemoteLog.ofEntries(Stream.succeed('{\n"a":1\n}'))), [': { "a":1 }'])
    })
  )

  it.effect("what is no entry says so", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(RemoteLog.ofEntries(Stream.succeed("<html>"))))
      assert.include(error.message, "found <html>")
      const event = Stream.succeed([{ payload: 7 }])
      assert.include((yield* Effect.flip(read(RemoteLog.ofEvents(event)))).message, 'found {"payload":7}')
    })
  )
})
