import { assert, describe, it } from "@effect/vitest"
import * as Replicas from "@reprise/ingress/Replicas"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { home, text } from "./hydrated.ts"
import * as Remote from "./remote.ts"

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`

const world = Effect.gen(function* () {
  const { layer, project } = yield* home
  const remote = yield* Remote.make
  const replicas = yield* Effect.provide(Replicas.make({ interval: "20 millis" }), [layer, remote.layer])
  const fileOf = (sessionId: string) => path.join(project, `${sessionId}.jsonl`)
  const write = (n: number, picture: string) => {
    fs.mkdirSync(project, { recursive: true })
    fs.writeFileSync(fileOf(id(n)), text(picture))
  }
  return { ...replicas, replicas, remote, fileOf, write }
})

describe("Replicas", () => {
  it.live("of many sessions, each begun once, are drained together", () =>
    Effect.gen(function* () {
      const { drain, fileOf, of, remote, write } = yield* world
      for (const n of [1, 2, 3]) {
        write(n, `u${n}-a${n}`)
        assert.strictEqual(yield* of(fileOf(id(n))), yield* of(fileOf(id(n))))
      }
      const behind = yield* drain("5 seconds")
      assert.deepStrictEqual(
        behind.map(({ bytes, path }) => [path, bytes]),
        [1, 2, 3].map((n) => [fileOf(id(n)), 0])
      )
      for (const n of [1, 2, 3]) assert.strictEqual(yield* remote.text(id(n)), text(`u${n}-a${n}`))
    })
  )

  it.live("one that is stopped sends nothing more, until it is asked for again", () =>
    Effect.gen(function* () {
      const { drain, fileOf, of, remote, stop, write } = yield* world
      write(1, "u1")
      yield* of(fileOf(id(1)))
      yield* drain("5 seconds")
      yield* stop(fileOf(id(1)))
      write(1, "u1-a1")
      assert.deepStrictEqual(yield* drain("100 millis"), [])
      assert.strictEqual(yield* remote.text(id(1)), text("u1"))
      yield* of(fileOf(id(1)))
      yield* drain("5 seconds")
      assert.strictEqual(yield* remote.text(id(1)), text("u1-a1"))
      assert.strictEqual((yield* Effect.flip(of("notes.txt")))._tag, "NotReplicable")
    })
  )

  it.live("an entry that was written is sent by the name that the seed has for it", () =>
    Effect.gen(function* () {
      const { fileOf, remote, replicas, write } = yield* world
      const persistToRemote = Replicas.persistToRemote(replicas, fileOf, "5 seconds")
      write(1, "u1")
      assert.isTrue(yield* persistToRemote(id(1), { uuid: "u1" }))
      assert.strictEqual(yield* remote.text(id(1)), text("u1"))
      remote.decide(() => "lost-before")
      write(1, "u1-a1")
      assert.isFalse(yield* Replicas.persistToRemote(replicas, fileOf, "100 millis")(id(1), { uuid: "a1" }))
      assert.isFalse(yield* persistToRemote("../x", {}))
    })
  )
})
