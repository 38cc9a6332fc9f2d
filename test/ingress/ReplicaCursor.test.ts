import { assert, describe, it } from "@effect/vitest"
import * as ReplicaCursor from "@reprise/ingress/ReplicaCursor"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"

const log = "0123456789\n".repeat(20)
const at = Effect.fnUntraced(function* (content = log) {
  const file = path.join(yield* Temporary.directory, "log.jsonl")
  fs.writeFileSync(file, content)
  return file
})
const cursor = Effect.fnUntraced(function* (file: string, byte: number) {
  const identity = yield* ReplicaCursor.identify(file, byte)
  assert.isDefined(identity)
  return { ...ReplicaCursor.start, ...identity, line: 3 }
})

describe("ReplicaCursor", () => {
  it.effect("is written beside its log, for its owner alone, and read again", () =>
    Effect.gen(function* () {
      const file = yield* at()
      assert.isUndefined(yield* ReplicaCursor.read(file))
      const written: ReplicaCursor.ReplicaCursor = {
        ...(yield* cursor(file, 110)),
        head: "u1",
        seq: 9,
        received: [[110, 132]],
        backend: "b",
        writer: { id: "w", epoch: 4, host: os.hostname() }
      }
      yield* ReplicaCursor.write(file, written)
      assert.deepStrictEqual(yield* ReplicaCursor.read(file), written)
      assert.strictEqual(fs.statSync(`${file}.ingress`).mode & 0o777, 0o600)
    })
  )

  it.effect("that is torn, of another version or nonsense is none", () =>
    Effect.gen(function* () {
      const file = yield* at()
      const written = JSON.stringify(ReplicaCursor.start)
      for (const text of [
        "",
        written.slice(0, 40),
        "[]",
        written.replace("1", "2"),
        written.replace('"byte":0', '"byte":-1')
      ]) {
        fs.writeFileSync(ReplicaCursor.fileOf(file), text)
        assert.isUndefined(yield* ReplicaCursor.read(file), text)
      }
    })
  )

  it.effect("holds while the log grows, and no more when it is cut, written over, replaced or gone", () =>
    Effect.gen(function* () {
      const file = yield* at()
      const made = yield* cursor(file, 110)
      const holds = ReplicaCursor.holds(file, made)
      assert.isTrue(yield* holds)
      fs.appendFileSync(file, "more\n")
      assert.isTrue(yield* holds)
      fs.writeFileSync(file, `${log.slice(0, 106)}x${log.slice(107)}`)
      assert.isFalse(yield* holds)
      fs.writeFileSync(file, log.slice(0, 109))
      assert.isFalse(yield* holds)
      fs.writeFileSync(file, log)
      assert.isTrue(yield* holds)
      fs.copyFileSync(file, `${file}.copy`)
      fs.renameSync(`${file}.copy`, file)
      assert.isFalse(yield* holds)
      fs.rmSync(file)
      assert.isFalse(yield* holds)
      assert.isTrue(yield* ReplicaCursor.holds(file, ReplicaCursor.start))
    })
  )

  it.effect("holds a claim where it was made, and in no copy", () =>
    Effect.gen(function* () {
      const file = yield* at()
      const writer = { id: "w", epoch: 4, host: os.hostname() }
      const made = { ...(yield* cursor(file, 110)), writer }
      assert.isTrue(yield* ReplicaCursor.isOurs(file, made))
      assert.isFalse(yield* ReplicaCursor.isOurs(file, { ...made, writer: { ...writer, host: "another" } }))
      const { writer: _, ...unclaimed } = made
      assert.isFalse(yield* ReplicaCursor.isOurs(file, unclaimed))
      fs.copyFileSync(file, `${file}.copy`)
      assert.isFalse(yield* ReplicaCursor.isOurs(`${file}.copy`, made))
      assert.isTrue(yield* ReplicaCursor.isOurs(`${file}.none`, { ...ReplicaCursor.start, writer }))
    })
  )
})
