import * as Output from "@reprise/cli/Output"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Sink, Stdio, Stream } from "effect"
import * as PlatformError from "effect/PlatformError"
import { TestClock } from "effect/testing"
import { terminal } from "./running.ts"

const failing = (code: string) =>
  PlatformError.systemError({ module: "Stdio", method: "stdout", _tag: "Unknown", cause: { code } })

describe("print", () => {
  const printed = (stdout: Stdio.Stdio["stdout"], texts: Stream.Stream<string> = Stream.make("a", "b")) =>
    Effect.exit(Output.print(texts)).pipe(Effect.provide(Stdio.layerTest({ stdout })))

  it.effect("prints texts as they come", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      yield* printed(() => Sink.forEach((text) => Effect.sync(() => seen.push(String(text)))))
      assert.deepStrictEqual(seen, ["a", "b"])
    })
  )

  it.effect("a reader that left is no error, and nothing more is made for it", () =>
    Effect.gen(function* () {
      let made = 0
      const texts = Stream.map(Stream.rechunk(Stream.range(1, 1000), 1), (n) => `${(made = n)}`)
      const exit = yield* printed(() => Sink.forEach(() => Effect.fail(failing("EPIPE"))), texts)
      assert.strictEqual(exit._tag, "Success")
      assert.isBelow(made, 1000)
    })
  )

  it.effect("another failure is one", () =>
    Effect.gen(function* () {
      const exit = yield* printed(() => Sink.forEach(() => Effect.fail(failing("EIO"))))
      assert.strictEqual(exit._tag, "Failure")
    })
  )
})

describe("progress", () => {
  const shown = (isTerminal: boolean, quiet: boolean, columns = 20) =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const stderr = () => Sink.forEach((text: string | Uint8Array) => Effect.sync(() => seen.push(String(text))))
      const stdio = Stdio.layerTest({ stderr, stderrIsTerminal: Effect.succeed(isTerminal) })
      yield* Effect.gen(function* () {
        const say = yield* Output.progress({ quiet })
        yield* say("1 of 3  a")
        yield* say("2 of 3  too soon")
        yield* TestClock.adjust("100 millis")
        yield* say("3 of 3  \u001b[2Ja-very-long-name.jsonl")
      }).pipe(Effect.scoped, Effect.provide(Layer.merge(stdio, terminal(columns))))
      return seen
    })

  it.effect("stands on one line of the terminal, not too often, and is gone afterwards", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* shown(true, false), [
        "\r\u001b[K1 of 3 a",
        "\r\u001b[K3 of 3 a-very-long…",
        "\r\u001b[K"
      ])
    })
  )

  it.effect("is not shown where there is no terminal, or to whom it would be in the way", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* shown(false, false), [])
      assert.deepStrictEqual(yield* shown(true, true), [])
    })
  )
})

describe("watching", () => {
  it("a bar shows how much is done", () => {
    assert.strictEqual(Output.bar({ done: 0, total: 40 }, "0 of 40"), `[${"·".repeat(20)}] 0 % · 0 of 40`)
    assert.strictEqual(Output.bar({ done: 30, total: 40 }, "x"), `[${"#".repeat(15)}·····] 75 % · x`)
    for (const done of [40, 50])
      assert.strictEqual(Output.bar({ done, total: 40 }, "x"), `[${"#".repeat(20)}] 100 % · x`)
    assert.include(Output.bar({ done: 0, total: 0 }, "x"), "100 %")
  })

  it.effect("what takes less than a second shows none", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const stderr = () => Sink.forEach((text: string | Uint8Array) => Effect.sync(() => seen.push(String(text))))
      const stdio = Stdio.layerTest({ stderr, stderrIsTerminal: Effect.succeed(true) })
      const work = Effect.scoped(
        Effect.gen(function* () {
          const watch = yield* Output.watching(({ done }) => `${done} files`)
          yield* watch({ done: 1, total: 4 })
          yield* TestClock.adjust("900 millis")
          yield* watch({ done: 2, total: 4 })
          assert.deepStrictEqual(seen, [])
          yield* TestClock.adjust("200 millis")
          yield* watch({ done: 3, total: 4 })
        })
      )
      yield* Effect.provide(work, Layer.merge(stdio, terminal(60)))
      assert.deepStrictEqual(seen, [`\r\u001b[K[${"#".repeat(15)}·····] 75 % · 3 files`, "\r\u001b[K"])
    })
  )
})
