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
