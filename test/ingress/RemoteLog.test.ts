import { assert, describe, it } from "@effect/vitest"
import * as Ingress from "@reprise/ingress/Ingress"
import * as RemoteLog from "@reprise/ingress/RemoteLog"
import { Arbitrary, Effect, Option, Schema, Stream } from "effect"
import { type Answer, client, json, serve } from "./scripted.ts"

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

  it.effect("what is no event with an entry says so", () =>
    Effect.gen(function* () {
      const event = Stream.succeed([{ payload: 7 }])
      assert.include((yield* Effect.flip(read(RemoteLog.ofEvents(event)))).message, 'found {"payload":7}')
    })
  )
})

describe("ofLoglines", () => {
  /** The texts of an answer in these pieces, whose buffer is used again for each; undefined: it is no log. */
  const texts = Effect.fnUntraced(function* (...pieces: ReadonlyArray<string | Uint8Array>) {
    const buffer = Buffer.alloc(1 << 16)
    const chunks = Stream.fromIterable(pieces).pipe(
      Stream.rechunk(1),
      Stream.map((piece) => {
        const bytes = Buffer.from(piece)
        buffer.fill(0x22).set(bytes)
        return buffer.subarray(0, bytes.length)
      })
    )
    const all = yield* Effect.option(read(RemoteLog.ofLoglines(chunks)))
    return Option.getOrUndefined(all)?.map((text) => text.slice(2))
  })

  it.effect("entries are cut out as they are, whatever stands beside them", () =>
    Effect.gen(function* () {
      const one = String.raw`{"n":1.0,"s":"\"]}{[\\","loglines":[{"x":1}]}`
      for (const answer of [
        `{"loglines":[${one}]}`,
        ` {"a":"loglines","b":[{"c":1}],"loglines" : [ ${one} ] , "more":{"loglines":[{"z":1}]}}\n`,
        String.raw`{"logl\u0069nes":[${one}]}`
      ])
        assert.deepStrictEqual(yield* texts(answer), [one])
      assert.deepStrictEqual(yield* texts('{"loglines":[]}'), [])
      assert.deepStrictEqual(yield* texts('{"loglines":[{}\n,{"é":"ü"}]}'), ["{}", '{"é":"ü"}'])
      assert.deepStrictEqual(yield* texts('{"loglines":[{\n"a":1\n}]}'), ['{ "a":1 }'])
    })
  )

  it.effect("what is no such answer, or not all of it, is none", () =>
    Effect.gen(function* () {
      const whole = '{"loglines":[{"a":1},{"b":2}],"c":{}}'
      for (let end = 0; end < whole.length; end++)
        assert.isUndefined(yield* texts(whole.slice(0, end)), whole.slice(0, end))
      for (const answer of [
        "",
        "<html></html>",
        "null",
        "[]",
        "{}",
        '{"data":[{}]}',
        '{"loglines":{}}',
        '{"loglines":"[{}]"}',
        '{"loglines":[1]}',
        '{"loglines":["x"]}',
        '{"loglines":[[]]}',
        '{"loglines":[{x}]}',
        '{"loglines":[{}]}x',
        '{"loglines":[{}]}{}',
        '{"loglines":[{}]}}',
        'x{"loglines":[{}]}',
        '[{"loglines":[{}]}]'
      ])
        assert.isUndefined(yield* texts(answer), answer)
    })
  )

  const Entry = Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Int, Schema.Array(Schema.String)]))

  it.effect.prop(
    "any entries come back, however the answer is cut",
    { entries: Schema.Array(Entry), cuts: Arbitrary.array(Arbitrary.schema(Schema.Int), { maxLength: 6 }) },
    ({ cuts, entries }) =>
      Effect.gen(function* () {
        const all = entries.map((entry) => JSON.stringify(entry))
        const bytes = Buffer.from(`{"more":1,"loglines":[${all.join(",")}]}`)
        const places = [0, ...cuts.map((cut) => Math.abs(cut) % bytes.length), bytes.length].toSorted((a, b) => a - b)
        assert.deepStrictEqual(yield* texts(...places.slice(1).map((end, i) => bytes.subarray(places[i]!, end))), all)
      })
  )
})

describe("ofIngress", () => {
  const page = (text: string, seq: number): Answer => ({
    headers: { "x-last-seq": String(seq) },
    body: `${text}\n{"c":"c","end":true}\n`
  })
  const info = { head: null, seq: 1, bytes: 1, updatedAt: 1 }
  const told = Effect.fnUntraced(function* (profile: "compat" | "native", answer: (url: string) => Answer) {
    const { url } = yield* serve((asked) => answer(asked.url))
    const log = yield* Effect.provideService(RemoteLog.ofIngress("s1", profile), Ingress.Ingress, yield* client([url]))
    return { replica: log.replica, lines: yield* read(log) }
  })

  it.live("every stream with all its lines, in the native profile", () =>
    Effect.gen(function* () {
      const found = yield* told("native", (url) =>
        url.endsWith("/streams")
          ? json(
              {
                epoch: 1,
                streams: [
                  { stream: "", ...info },
                  { stream: "a", ...info }
                ]
              },
              200,
              { "x-backend-id": "b" }
            )
          : page(url.includes("stream=a") ? '{"k":"~1","b":"eA=="}' : '{"k":"u1","e":{"uuid":"u1"}}', 1)
      )
      assert.deepStrictEqual(found, {
        replica: { profile: "native", backend: "b" },
        lines: [': {"uuid":"u1"}', "a: eA=="]
      })
    })
  )

  it.live("the entries of the main stream, in the compat profile", () =>
    Effect.gen(function* () {
      const found = yield* told("compat", () => ({ body: '{"loglines":[{"uuid":"u1"}]}' }))
      assert.deepStrictEqual(found, { replica: { profile: "compat" }, lines: [': {"uuid":"u1"}'] })
    })
  )

  it.live("a session that is not there is empty, and nothing else is", () =>
    Effect.gen(function* () {
      for (const profile of ["compat", "native"] as const) {
        assert.deepStrictEqual((yield* told(profile, () => ({ status: 404 }))).lines, [])
        for (const status of [401, 500, 403, 204]) yield* Effect.flip(told(profile, () => ({ status })))
      }
    })
  )
})
